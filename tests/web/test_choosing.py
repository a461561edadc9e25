"""Filters, selections, sorting, the scatter plot and the table."""

from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

from tests.web.conftest import Opener, Study
from tests.web.expected import count, domain, head_name, interval, number, rank, value_text
from tests.web.page import cells, choose, fragment, go, parsed_csv, parsed_svg, saved, settle

DASH = "\u2013"


def measure_of(study: Study, name: str) -> dict[str, Any]:
    """A measure of the first model."""
    return next(measure for measure in study.measures() if measure["id"] == name)


def above(study: Study, measure: dict[str, Any], limit: float) -> set[str]:
    """The heads above a limit."""
    model = study.atlas["models"][0]
    values = enumerate(measure["value"])
    return {head_name(model, index) for index, value in values if value and value > limit}


def bright(page: Page) -> set[str]:
    """The heads of the grid that pass the filter."""
    return {head for head, one in cells(page).items() if "faded" not in one["classes"].split()}


def click_on_legend(page: Page, measure: dict[str, Any], value: float) -> None:
    """A click on the colours of the legend, at a value."""
    low, high = domain(measure)
    target = page.locator("#legend .target")
    box = target.bounding_box()
    assert box
    share = (value - low) / (high - low)
    target.click(position={"x": share * box["width"], "y": box["height"] / 2})
    settle(page)


def test_heads_above_60_on_dobj_are_two_clicks(study: Study, show: Opener) -> None:
    """One chooses the measure (in a list), the other is on the legend, where it states 60."""
    page, dobj = show(study, "view=grid"), measure_of(study, "syntax.dobj")
    choose(page, dobj)
    assert len(bright(page)) == len(dobj["value"])
    click_on_legend(page, dobj, 60)
    chosen = (
        fragment(page).partition("filter=syntax.dobj>")[2]
        or fragment(page).partition("filter=syntax.dobj%3E")[2]
    )
    limit = float(chosen)
    assert abs(limit - 60) < 1.5
    assert bright(page) == above(study, dobj, limit)
    assert 0 < len(bright(page)) < len(dobj["value"])
    assert f"{len(bright(page))} of {len(dobj['value'])}" in page.locator("#filters").inner_text()
    page.locator("#filters .chip").first.click()
    settle(page)
    assert len(bright(page)) == len(dobj["value"])
    page.go_back()
    settle(page)
    assert bright(page) == above(study, dobj, limit)


def test_dragging_and_keys_select_heads(study: Study, show: Opener) -> None:
    page = show(study, "view=grid")
    start, end = (
        page.locator(f'main [data-head="{head}"]').first.bounding_box() for head in ("2-1", "1-2")
    )
    assert start and end
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()
    settle(page)
    assert "brush=1-1,1-2,2-1,2-2" in fragment(page)
    selected = {head for head, one in cells(page).items() if "selected" in one["classes"].split()}
    assert selected == {"1-1", "1-2", "2-1", "2-2"}
    page.locator('main [data-head="3-3"]').first.focus()
    page.keyboard.press("Space")
    settle(page)
    assert "3-3" in fragment(page)


POINTS = """all => all.map((one) =>
  [one.dataset.head, one.ariaLabel, one.cx.baseVal.value, one.cy.baseVal.value])"""


def test_points_have_their_numbers_and_lead_to_cards(study: Study, show: Opener) -> None:
    model = study.atlas["models"][0]
    x, y = measure_of(study, "entropy.all"), measure_of(study, "syntax.dobj")
    page = show(study, f"view=scatter&x={x['id']}&y={y['id']}")
    points = page.locator("main circle[data-head]")
    found = {head: rest for head, *rest in points.evaluate_all(POINTS)}
    pairs = enumerate(zip(x["value"], y["value"], strict=True))
    indices = [index for index, pair in pairs if None not in pair]
    assert found.keys() == {head_name(model, index) for index in indices}
    for index in indices:
        head = head_name(model, index)
        numbers = f"{y['title']} {value_text(y, index)}, {x['title']} {value_text(x, index)}"
        assert found[head][0] == f"Head {head}, {numbers}"
    for axis, measure, sign in ((1, x, 1), (2, y, -1)):
        order = sorted(indices, key=measure["value"].__getitem__)
        along = [sign * found[head_name(model, index)][axis] for index in order]
        assert all(before <= after + 1e-6 for before, after in pairwise(along))
    points.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('main[data-view="head"]')


TABLE = """() => ({
  header: Array.from(document.querySelectorAll('thead th'), (cell) =>
    cell.textContent.replace(/[\u2191\u2193]/g, '').trim()),
  rows: Array.from(document.querySelectorAll('tbody tr'), (row) =>
    Array.from(row.cells, (cell) => cell.textContent.trim())),
})"""


def test_the_table_has_every_number_of_every_measure(study: Study, show: Opener) -> None:
    page = show(study, "view=table")
    model = study.atlas["models"][0]
    for measure in study.measures():
        go(page, f"view=table&measure={measure['id']}")
        table = page.evaluate(TABLE)
        rows = {row[0]: dict(zip(table["header"], row, strict=True)) for row in table["rows"]}
        assert len(rows) == len(measure["value"])
        for index in range(len(rows)):
            row = rows[head_name(model, index)]
            for name, expected in columns(measure, index).items():
                assert row[name] == expected, (measure["id"], index, name)


def columns(measure: dict[str, Any], index: int) -> dict[str, str]:
    """What the table must state about a head, by its columns' titles."""
    value, decimals = measure["value"][index], measure["decimals"]
    title = f"Value, {measure['unit']}" if measure["unit"] else "Value"
    found = {title: DASH if value is None else number(value, decimals)}
    if measure["scale"] == "category":
        found[title] = value_text(measure, index)
    else:
        found["Rank"] = str(rank(measure, index) or DASH)
    if measure["low"]:
        ends = interval(measure, index)
        low, high = (number(end, decimals) for end in ends) if ends else (DASH, DASH)
        found |= {"Interval from": low, "to": high}
    if measure["n"] is not None:
        n = count(measure, index)
        found["n"] = DASH if n is None else str(n)
    if measure["label"]:
        kind, _, rest = measure["id"].partition(".")
        title = "Share" if kind != "syntax" else "Relation" if rest == "best" else "Direction"
        label = measure["label"][index] or ""
        short = {"dependent to head": "dep → head", "head to dependent": "head → dep"}
        found[title] = short.get(label, label)
    return found


def test_the_grid_is_saved(study: Study, show: Opener) -> None:
    """The picture stands alone, in light colours; the numbers are those of the file."""
    page = show(study, scheme="dark")
    model = study.atlas["models"][0]
    for measure in [measure_of(study, "entropy.all"), measure_of(study, "syntax.dobj")]:
        go(page, f"measure={measure['id']}")
        rows = parsed_csv(saved(page, page.locator(".save-csv").first))
        names = [f"{row['layer']}-{row['head']}" for row in rows]
        assert names == [head_name(model, i) for i in range(len(rows))]
        for index, (row, value) in enumerate(zip(rows, measure["value"], strict=True)):
            assert row["value"] == "" if value is None else float(row["value"]) == value
            assert row["n"] == str(count(measure, index) or "")
        picture = parsed_svg(saved(page, page.locator(".save-svg").first))
        text = " ".join(picture.itertext())
        assert measure["title"] in text and measure["about"].split()[0] in text
        fills = {element.get("fill") for element in picture.iter()} - {None, "none"}
        assert len(fills) > 10
        assert not any("var(" in str(fill) for fill in fills), "a colour of the page's style sheet"
        assert not any(
            element.tag.endswith(("script", "foreignObject")) for element in picture.iter()
        )
