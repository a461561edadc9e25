"""The table, and what the grid saves."""

from typing import Any

from tests.web.conftest import Opener, Study
from tests.web.expected import count, head_name, interval, number, rank, value_text
from tests.web.page import go, parsed_csv, parsed_svg, saved

DASH = "\u2013"


def measure_of(study: Study, name: str) -> dict[str, Any]:
    """A measure of the first model."""
    return next(measure for measure in study.measures() if measure["id"] == name)


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
