"""A decoder of 30 layers by 9 heads next to an encoder: roles, shared keys, its own words."""

import json

from tests.web.conftest import Opener, Study
from tests.web.page import (
    cell,
    fragment,
    go,
    inaccessible,
    parsed_csv,
    saved,
    settle,
    squeezed,
    too_wide,
)
from tests.web.views import views
from workflow_scripts.atlas.atlas_page import MEGABYTE

GRID, CARD = "view=grid&model=decoder", "view=head&model=decoder&head=15-1"


def test_every_view_of_270_heads_fits_and_can_be_used_by_all(decoder: Study, show: Opener) -> None:
    """Console errors and requests fail the test when `show` closes its pages."""
    assert decoder.path.stat().st_size < 2 * MEGABYTE
    page = show(decoder)
    shown = {name: at for name, at in views(decoder.atlas).items() if "decoder" in name}
    assert len(shown) == 5
    for name, where in (shown | {"shapes": views(decoder.atlas)["compare-shapes"]}).items():
        go(page, where)
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            settle(page)
            assert too_wide(page) == [], (name, width)
            assert squeezed(page) == [], (name, width)
        assert inaccessible(page, "main") == [], name


def test_roles_filter_the_grid(decoder: Study, show: Opener) -> None:
    page = show(decoder, GRID)
    badges = decoder.atlas["models"][1]["badges"]
    assert page.locator("[role=gridcell]").count() == 270
    assert "roles: Previous" in (cell(page, "1-2").get_attribute("aria-label") or "")
    page.locator(".roles button", has_text="Previous").click()
    settle(page)
    assert fragment(page).endswith("measure=entropy.cls&filter=@previous")
    assert "Highest heads" in page.locator(".ranked").inner_text()
    go(page, GRID)
    page.locator(".roles button", has_text="Copying").click()
    settle(page)
    assert fragment(page).endswith("filter=@copying")
    assert page.locator("[role=gridcell]:not(.faded)").count() == len(badges[3]["heads"])
    assert page.locator(".roles button[aria-pressed=true]").count() == 1
    go(page, "view=grid")
    assert page.locator(".roles").count() == 0


def test_a_card_states_roles_and_who_shares_its_keys(decoder: Study, show: Opener) -> None:
    page = show(decoder, "view=head&model=decoder&head=1-1")
    roles = page.locator(".card-roles li").all_inner_texts()
    assert len(roles) == 5 and "n = 300" in roles[0]
    links = page.locator(".card-roles p a")
    assert links.all_inner_texts() == ["1-2", "1-3"]
    links.first.click()
    assert "head=1-2" in fragment(page)


def test_the_first_token_is_dimmed_on_a_card_and_left_out_of_all_maps(
    decoder: Study, show: Opener
) -> None:
    page = show(decoder, f"{CARD}&segment={decoder.atlas['segments'][-2]['id']}")
    settle(page)
    assert page.locator(".tokens.key .dim").count() == 0
    page.get_by_label("Dim the first token").check()
    assert page.locator(".tokens.key .dim").count() == 1
    assert page.locator(".tokens.query .dim").count() == 0
    go(page, "view=maps&model=decoder")
    page.locator("#first").check()
    settle(page)
    assert "first=hidden" in fragment(page)
    page.reload()
    settle(page)
    assert page.locator("#first").is_checked()
    assert "scaled to sum to 1" in page.locator("main").inner_text()
    go(page, "view=maps&model=tiny&first=hidden")
    assert page.locator("#first").count() == 0


def test_generated_tokens_are_marked(decoder: Study, show: Opener) -> None:
    page = show(decoder, CARD)
    assert "24 tokens that the model generated" in page.locator(".maps").inner_text()
    assert page.locator(".tokens.key .generated").count() == 24
    assert page.locator(".tokens.key button").nth(24).get_attribute("class") == "generated"
    rows = parsed_csv(saved(page, page.locator(".maps .save-csv")))
    assert [row["key_generated"] for row in rows[:48]] == ["false"] * 24 + ["true"] * 24
    go(page, f"{CARD}&map=matrix")
    assert page.locator(".labels.of-keys .generated").count() == 24
    go(page, "view=maps&model=decoder")
    words = decoder.atlas["segments"][-2]["tokens"][24:]
    assert page.locator(".maps-text .generated").inner_text() == " ".join(words)
    assert json.loads(page.evaluate("JSON.stringify(window.broken ?? null)")) is None
