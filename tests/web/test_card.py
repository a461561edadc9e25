"""The card of a head: its measures and maps, and what is saved of them."""

from typing import Any

import numpy as np
from playwright.sync_api import Page

from tests.web.conftest import Opener, Study
from tests.web.expected import (
    count,
    count_text,
    head_name,
    interval,
    number,
    rank_text,
    value_text,
    weights,
)
from tests.web.page import go, parsed_csv, saved, settle

DASH = "\u2013"
HALF = 6e-4  # of the last of three decimals, and what single precision adds


def measured(measure: dict[str, Any], index: int) -> list[str]:
    """What a card's row states about a measure: value, interval, n, p, rank."""
    ends, n, place = interval(measure, index), count(measure, index), rank_text(measure, index)
    p = None if measure["p"] is None else measure["p"][index]
    label = measure["label"][index] if measure["label"] else None
    return [
        value_text(measure, index) + (f"|{label}" if label else ""),
        " to ".join(number(end, measure["decimals"]) for end in ends) if ends else DASH,
        DASH if n is None else count_text(measure, index),
        DASH if p is None else p_value(p),
        place or DASH,
    ]


def p_value(p: float) -> str:
    """A p-value as the page writes it."""
    return "< 0.001" if p < 0.001 else "> 0.99" if p > 0.99 else number(p, 3)


ROWS = """() => Array.from(document.querySelectorAll('.profile tbody tr:not(.paper)'), (row) =>
  [0, 2, 3, 4, 5].map((at) => {
    const cell = row.querySelectorAll('td')[at].cloneNode(true);
    const label = at === 0 ? cell.querySelector('.label')?.textContent : null;
    cell.querySelectorAll('.label').forEach((element) => element.remove());
    return cell.textContent.trim().replace(/\\s+/g, ' ') + (label ? `|${label}` : '');
  }))"""


def test_the_card_has_every_number_of_every_measure(study: Study, show: Opener) -> None:
    """Of some heads of each model, first and last among them; the grid's test has all heads."""
    page = show(study)
    for model in study.atlas["models"]:
        size = model["n_layers"] * model["n_heads"]
        measures = [
            measure
            for paper in study.atlas["papers"]
            for measure in study.measures(model["name"])
            if measure["paper"] == paper["name"]
        ]
        for index in sorted({0, 1, size // 2, *range(0, size, max(7, size // 12)), size - 1}):
            go(page, f"view=head&model={model['name']}&head={head_name(model, index)}")
            rows = page.evaluate(ROWS)
            assert rows == [measured(measure, index) for measure in measures]


def test_the_saved_map_is_the_map(hostile: Study, show: Opener) -> None:
    page = show(hostile)
    model = hostile.atlas["models"][0]
    segment = next(s for s in hostile.atlas["segments"] if s["model"] == model["name"])
    state = next(iter(segment["maps"]))
    go(page, f"view=head&head=2-3&segment={segment['id']}&state={state}")
    rows = parsed_csv(saved(page, page.locator(".maps .save-csv")))
    expected = weights(hostile.atlas, segment, state)[1, 2]
    found = np.array([float(row["weight"]) for row in rows])
    assert np.allclose(found.reshape(expected.shape), expected, rtol=1e-5, atol=1e-9)
    n = len(segment["tokens"])
    assert [row["key_token"] for row in rows[:n]] == segment["tokens"]
    assert [row["query_token"] for row in rows[::n]] == segment["tokens"]
    assert [rows[1][key] for key in ("query", "key", "layer", "head")] == ["1", "2", "2", "3"]


def shown_links(page: Page) -> dict[str, list[tuple[int, float]]]:
    """The tokens (from 0) and weights that the readout lists, by direction."""
    return {
        part.locator("h6").inner_text(): [
            (
                int(item.locator("small").inner_text()) - 1,
                float(item.locator(".number").inner_text()),
            )
            for item in part.locator("li").all()
        ]
        for part in page.locator(".readout .strongest").all()
    }


def test_pointing_at_a_token_shows_both_directions(hostile: Study, show: Opener) -> None:
    model = hostile.atlas["models"][0]
    segment = next(s for s in hostile.atlas["segments"] if s["model"] == model["name"])
    page = show(hostile, f"view=head&head=2-3&segment={segment['id']}")
    settle(page)
    state = next(iter(segment["maps"]))
    head = weights(hostile.atlas, segment, state)[1, 2]
    for token in (0, 5):
        page.locator(".tokens.query button").nth(token).hover()
        settle(page)
        found = shown_links(page)
        assert list(found) == ["attends to", "is attended to by"]
        for links, expected in zip(found.values(), (head[token], head[:, token]), strict=True):
            assert links, "nothing is listed"
            for other, weight in links:
                assert abs(weight - expected[other]) <= HALF
            top = np.sort(expected)[::-1][: len(links)]
            assert np.allclose([weight for _, weight in links], top, atol=HALF)


def test_a_cell_of_the_matrix_is_read_by_mouse_and_keys(demo: Study, show: Opener) -> None:
    model = demo.atlas["models"][0]
    segment = next(s for s in demo.atlas["segments"] if s["model"] == model["name"])
    page = show(demo, f"view=head&head=2-3&map=matrix&segment={segment['id']}")
    settle(page)
    head = weights(demo.atlas, segment, next(iter(segment["maps"])))[1, 2]
    n = len(head)
    box = page.locator(".matrix canvas").bounding_box()
    assert box
    for query, key in ((0, 0), (3, 6)):
        at = {"x": box["width"] * (key + 0.5) / n, "y": box["height"] * (query + 0.5) / n}
        page.locator(".matrix canvas").hover(position=at, force=True)
        settle(page)
        value = page.locator(".cell-readout .value").inner_text()
        assert abs(float(value.removeprefix("2-3")) - head[query, key]) <= HALF
    page.locator(".matrix").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    announced = page.locator(".matrix [aria-live]").inner_text()
    assert abs(float(announced.rpartition(": ")[2]) - head[3, 7]) <= HALF
