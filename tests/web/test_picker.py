"""The list of measures: opened, filtered by words and chosen from, with keys alone too."""

import pytest

from tests.web.conftest import NARROW, WIDE, Opener, Study
from tests.web.page import fragment, inaccessible, settle, too_wide

LIST = "#measure-list"


def listed(study: Study, *words: str) -> list[str]:
    """The titles of the first model's measures that have all words in title, paper, group or id."""
    papers = {paper["name"]: paper["title"] for paper in study.atlas["papers"]}
    return [
        measure["title"]
        for measure in study.measures()
        if all(
            word
            in " ".join(
                [measure["title"], papers[measure["paper"]], measure["group"], measure["id"]]
            ).lower()
            for word in words
        )
    ]


def test_words_filter_the_list_and_enter_chooses(demo: Study, show: Opener) -> None:
    page = show(demo, f"measure={demo.opening['id']}")
    page.locator("#measure").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(f"{LIST} [role=option]").count() == len(demo.measures())
    selected = page.locator(f"{LIST} [aria-selected=true]")
    assert selected.all_inner_texts() == [demo.opening["title"]]
    page.keyboard.type("Kovaleva SST-2 uniform")
    settle(page)
    found = listed(demo, "kovaleva", "sst-2", "uniform")
    assert 0 < len(found) < 10
    assert page.locator(f"{LIST} [role=option]").all_inner_texts() == found
    assert f"{len(found)} measure" in page.locator(".picker-list [role=status]").inner_text()
    page.keyboard.press("Enter")
    settle(page)
    chosen = next(measure for measure in demo.measures() if measure["title"] == found[0])
    assert fragment(page) == f"measure={chosen['id']}"
    assert page.locator(LIST).is_hidden()
    assert page.locator("h2").inner_text().startswith(found[0])


def test_words_find_what_another_model_has_and_switch_to_it(hostile: Study, show: Opener) -> None:
    page = show(hostile)
    page.locator("#measure").click()
    assert page.locator(f"{LIST} [data-id^=translation]").count() == 0
    page.keyboard.type("masking BLEU")
    settle(page)
    found = page.locator(f"{LIST} [role=option]")
    assert found.count() == 1  # once for several translators
    found.click()
    settle(page)
    assert {"model=translation.1", "measure=translation.head.zero.test.bleu"} <= set(
        fragment(page).split("&")
    )
    assert page.locator("#model").input_value() == "translation.1"


def test_arrows_move_and_escape_leaves_all_as_it_was(demo: Study, show: Opener) -> None:
    page = show(demo, "measure=syntax.dobj")
    field = page.locator("#measure")
    field.focus()
    page.keyboard.type("syntax.")
    ids = page.locator(f"{LIST} [role=option]").evaluate_all("all => all.map((one) => one.id)")
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("PageDown", 9)):
        page.keyboard.press(key)
        assert field.get_attribute("aria-activedescendant") == ids[place]
        assert page.locator(f"#{ids[place]}").is_visible()
    page.keyboard.press("Escape")
    assert page.locator(LIST).is_hidden()
    assert field.input_value() == "Relation dobj"
    assert fragment(page) == "measure=syntax.dobj"
    page.keyboard.press("Enter")
    assert page.locator(LIST).is_visible()
    page.keyboard.press("Tab")
    assert page.locator(LIST).is_hidden()


@pytest.mark.parametrize("size", [WIDE, NARROW, (320, 568)], ids=["1280", "390", "320"])
def test_the_open_list_fits_and_all_can_use_it(
    demo: Study, show: Opener, size: tuple[int, int]
) -> None:
    page = show(demo, size=size)
    page.locator("#measure").click()
    settle(page)
    box = page.locator(".picker-list").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= size[0]
    assert box["width"] >= 250
    assert too_wide(page) == []
    assert inaccessible(page) == []
