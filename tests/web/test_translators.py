"""A translator's heads: a block of layers for each type of attention, and its type next to each."""

import re

import numpy as np
import pytest

from tests.web.conftest import Opener, Study
from tests.web.expected import decoded
from tests.web.page import cells, go, parsed_csv, parsed_svg, saved, settle

GRID = "model=translation.1&measure=translation.head.zero.test.bleu"


def test_the_grid_has_a_block_for_each_type(hostile: Study, show: Opener) -> None:
    page = show(hostile, GRID)
    found = cells(page)
    assert len(found) == 12
    assert found["Dec-Dec 1-3"]["label"].startswith("Head Dec-Dec 1-3, Head disabled")
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


@pytest.mark.parametrize("kind", ["encoder", "encoder-decoder", "decoder"])
def test_a_card_shows_the_maps_of_its_type(hostile: Study, show: Opener, kind: str) -> None:
    titles = {"encoder": "Enc-Enc 2", "encoder-decoder": "Enc-Dec 1", "decoder": "Dec-Dec 1"}
    segment = [s for s in hostile.atlas["segments"] if s["model"] == "translation.1"][1]
    entry = hostile.atlas["maps"][segment["maps"]["trained"][kind]]
    expected = decoded(entry)[int(kind == "encoder"), 2]
    queries = segment["tokens"] if kind == "encoder" else segment["target"]["tokens"]
    keys = segment["target"]["tokens"] if kind == "decoder" else segment["tokens"]
    where = f"view=head&model=translation.1&head={titles[kind]}-3&segment={segment['id']}"
    page = show(hostile, where)
    settle(page)
    rows = parsed_csv(saved(page, page.locator(".maps .save-csv")))
    found = np.array([float(row["weight"]) for row in rows]).reshape(expected.shape)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-9)
    assert [row["key_token"] for row in rows[: len(keys)]] == keys
    assert [row["query_token"] for row in rows[:: len(keys)]] == queries
    assert page.locator(".tokens.query button").count() == len(queries)
    assert page.locator(".tokens.key button").count() == len(keys)
    page.locator(".tokens.query button").nth(1).hover()
    settle(page)
    titles_shown = page.locator(".readout h6").all_inner_texts()
    assert titles_shown == ["attends to", "is attended to by"][: 1 + (queries is keys)]
    first = page.locator(".readout .strongest li small").first.inner_text()
    assert int(first) == np.argsort(-expected[1], kind="stable")[0] + 1
    note = page.locator(".maps .note").all_inner_texts()
    assert ("teacher forcing" in note[0]) == (kind != "encoder")
    go(page, f"{where}&map=matrix")
    canvas = page.locator(".cells canvas").first
    size = [int(canvas.get_attribute(side)) for side in ("height", "width")]
    assert size == list(expected.shape)
    for view in ("lines", "matrix"):
        go(page, f"{where}&map={view}")
        assert parsed_svg(saved(page, page.locator(".maps .save-svg"))) is not None


def test_maps_of_two_translators_are_compared(hostile: Study, show: Opener) -> None:
    """Rows of one heads' type have as many keys; of other types no difference is taken."""
    first, second = (f"translation.{run}/Enc-Dec 1-2/trained" for run in (1, 2))
    page = show(hostile, f"view=compare&a={first}&b={second}")
    settle(page)
    sides = []
    for run in (1, 2):
        (segment, *_) = [s for s in hostile.atlas["segments"] if s["model"] == f"translation.{run}"]
        maps = decoded(hostile.atlas["maps"][segment["maps"]["trained"]["encoder-decoder"]])
        sides.append(maps[0, 1])
    stated = float(re.search(r"[\d.]+", page.locator(".apart dd").first.inner_text())[0])
    p, q = (each / each.sum(axis=1, keepdims=True) for each in sides)
    middle = (p + q) / 2
    divergence = (p * np.log(p / middle) + q * np.log(q / middle)).sum(axis=1).mean() / 2
    assert abs(stated - divergence) < 1e-3
    go(page, f"view=compare&a={first}&b=translation.1/Dec-Dec 1-2/trained")
    assert "no difference is taken" in page.locator(".maps .note").first.inner_text()
