"""The claims and the figures: what stands there, and links between them."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.atlas.made_up import HOSTILE
from tests.default_study import DEMO
from tests.web.conftest import NARROW, Opener, Study
from tests.web.page import go, parsed_csv, saved, settle
from workflow_scripts.atlas.atlas_page import build
from workflow_scripts.core.data import tables


def test_claims_have_the_numbers_of_their_table(demo: Study, show: Opener) -> None:
    """All of the first model's, the central ones above the others, which are folded.

    Those about translators, in the same table, stand under the translator.
    """
    model = demo.atlas["models"][0]["name"]
    every = tables.read_csv(DEMO / model / "tables/claims.csv")
    translators = every["id"].str.startswith("michel-translation-")
    frame = every[~translators]
    page = show(demo, f"view=claims&model={model}")
    central, others = page.locator("table.claims").all()
    assert central.locator(".verdict").count() == frame["central"].notna().sum()
    assert others.locator(".verdict").count() == frame["central"].isna().sum()
    assert central.is_visible() and not others.is_visible()
    page.get_by_text("All other claims").click()
    assert others.is_visible()
    found = [each.inner_text() for each in central.locator(".verdict b").all()]
    assert sorted(found) == sorted(frame.dropna(subset="central")["verdict"])
    rows = parsed_csv(saved(page, page.locator(".save-csv")))
    assert [(row["id"], row["verdict"]) for row in rows] == list(
        frame[["id", "verdict"]].itertuples(index=False, name=None)
    )
    ours = [float(row["ours"]) for row in rows if row["ours"]]
    assert ours == frame["ours"].dropna().tolist()
    go(page, "view=claims&model=translation.1")
    assert page.locator("table.claims .verdict").count() == translators.sum()


def test_a_claim_leads_to_its_figure_and_its_view(hostile: Study, show: Opener) -> None:
    page = show(hostile, "view=claims&theme=dark")
    row = page.locator("table.claims tbody tr.first").first
    strip = row.get_by_role("img")
    label = strip.get_attribute("aria-label")
    assert label == "Ours: 61 (55 to 67) %; rule: above 50 %; the paper's: 58"
    left, right = (row.locator(f"svg .{name}").bounding_box() for name in ("rule", "theirs"))
    assert left["x"] < right["x"] < left["x"] + left["width"]
    row.get_by_role("link", name="Figure 1").click()
    figure = page.locator("figure").first
    expect(figure).to_be_focused()
    settle(page)
    assert figure.locator("img").evaluate("(image) => image.naturalWidth") == 60
    assert saved(page, figure.get_by_role("link", name="heads.tsv")) == HOSTILE[0]
    assert page.locator(":root").get_attribute("data-theme") == "dark"
    page.go_back()
    page.get_by_role("link", name="In the atlas").first.click()
    page.wait_for_selector('main[data-view="grid"]')
    assert page.locator(":root").get_attribute("data-theme") == "dark"


def test_a_model_without_claims_names_those_that_have_some(hostile: Study, show: Opener) -> None:
    page = show(hostile, f"view=claims&model={hostile.atlas['models'][1]['name']}")
    page.locator("main a").click()
    assert page.locator("table.claims").count() == 2


def test_all_figures_are_there_with_their_captions(demo: Study, show: Opener) -> None:
    page = show(demo, "view=figures", NARROW)
    settle(page)
    files = sorted(path.stem for path in DEMO.glob("**/figures/*.svg"))
    links = page.locator("figure a[download]").all()
    names = [link.get_attribute("download") for link in links]
    assert len(names) == len(set(names)) == len(files)
    captions = page.locator("figcaption").all_inner_texts()
    assert all(len(caption) > len("SVG ") + 40 for caption in captions)
    assert not re.search(r"\{[{%]|``", " ".join(captions))
    heights = page.locator("figure img").evaluate_all(
        "(images) => images.map((image) => image.getBoundingClientRect().height)"
    )
    assert min(heights) > 50


def test_a_study_without_claims_and_figures_has_no_view_of_them(
    hostile: Study, show: Opener, tmp_path: Path
) -> None:
    bare = {key: part for key, part in hostile.atlas.items() if key not in ("claims", "figures")}
    (tmp_path / "atlas.html").write_text(build(bare), encoding="utf-8")
    page = show(Study(tmp_path / "atlas.html", bare))
    assert not {"Claims", "Figures"} & set(page.locator("nav a").all_inner_texts())
    go(page, "view=claims")
    assert "no view “claims”" in page.locator(".notice").inner_text()
    assert page.locator('main[data-view="maps"]').count() == 1
