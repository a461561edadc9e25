"""A translator's heads: a block of layers for each type of attention, and its type next to each."""

import csv
import io
import re

import pytest

from tests.web.conftest import Opener, Study
from tests.web.expected import head_name
from tests.web.page import cells, go

GRID = "model=translation.1&measure=translation.head.zero.test.bleu"


def test_the_grid_has_a_block_for_each_type(hostile: Study, show: Opener) -> None:
    page = show(hostile, GRID)
    found = cells(page)
    assert len(found) == 12
    assert found["Dec-Dec 1-3"]["label"].startswith("Head Dec-Dec 1-3, Effect of masking")
    axes = page.locator(".axes").first
    titles = axes.locator("text.axis").all_text_contents()
    assert {"Enc-Enc", "Enc-Dec", "Dec-Dec"} <= set(titles)
    assert axes.locator("text.end").all_text_contents() == ["1", "2", "1", "1"]
    assert axes.locator("path.between").count() == 2
    heights = {
        title: axes.get_by_text(title, exact=True).bounding_box()["y"]
        for title in ("Enc-Enc", "Enc-Dec", "Dec-Dec")
    }
    assert sorted(heights, key=heights.get, reverse=True) == ["Enc-Enc", "Enc-Dec", "Dec-Dec"]
    go(page, "model=tiny")
    assert page.locator(".axes path.between").count() == 0


def test_a_card_names_the_type_and_its_address_leads_back(hostile: Study, show: Opener) -> None:
    page = show(hostile, GRID)
    page.locator('main [data-head="Enc-Dec 1-2"]').first.click()
    assert page.locator("#card-title").inner_text() == "Enc-Dec 1-2"
    about = page.locator(".card-head p").first.inner_text()
    assert "head 2 of 3 in layer 1 of 1 of encoder-decoder attention" in about
    page.keyboard.press("ArrowRight")
    assert page.locator("#card-title").inner_text() == "Enc-Dec 1-3"
    again = show(hostile, page.url.partition("#")[2])
    assert again.locator("#card-title").inner_text() == "Enc-Dec 1-3"
    # The other translator is a partner; models of one type of attention are none.
    links = again.locator(".comparisons a").all_inner_texts()
    assert len(links) == 1 and re.search(r"Enc-Dec 1-3 of\s+translation\.2", links[0])


def test_two_translators_are_compared(hostile: Study, show: Opener) -> None:
    one, other = (f"translation.{run}/Dec-Dec 1-1/trained" for run in (1, 2))
    page = show(hostile, f"view=compare&a={one}&b={other}")
    assert page.locator('[role="alert"]').count() == 0
    assert page.locator(".grids figure").count() == 3
    assert "A − B" in page.locator(".grids").first.inner_text()
    texts = page.locator(".mini-grid").first.locator("text").all_text_contents()
    assert texts[:4] == ["Enc-Enc 1", "Enc-Enc 2", "Enc-Dec 1", "Dec-Dec 1"]
    options = page.locator("fieldset.side").first.locator("optgroup")
    labels = options.evaluate_all("groups => groups.map(group => group.label)")
    assert labels[1:3] == ["Enc-Enc, Layer 2", "Enc-Dec, Layer 1"]


@pytest.mark.parametrize("view", ["table", "scatter"])
def test_saved_numbers_have_the_type(hostile: Study, show: Opener, view: str) -> None:
    page = show(hostile, f"view={view}&{GRID}")
    with page.expect_download() as download:
        page.locator(".save-csv").first.click()
    text = download.value.path().read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    model = next(m for m in hostile.atlas["models"] if m["name"] == "translation.1")
    assert {row["head"] for row in rows} == {head_name(model, index) for index in range(12)}
    for row in rows:
        titles = {"encoder": "Enc-Enc", "encoder-decoder": "Enc-Dec", "decoder": "Dec-Dec"}
        assert row["head"] == f"{titles[row['type']]} {row['layer']}-{row['head_number']}"
    assert "x_type" not in rows[0]


def test_a_scatter_plot_is_coloured_by_type(hostile: Study, show: Opener) -> None:
    page = show(hostile, f"view=scatter&{GRID}")
    assert page.locator("#colour option").first.inner_text() == "Type of attention"
    points = page.locator(".points circle").all()
    fills = {(p.get_attribute("data-head").split()[0], p.get_attribute("fill")) for p in points}
    assert len(fills) == len({fill for _, fill in fills}) == 3
