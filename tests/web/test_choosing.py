"""What the grid saves."""

from typing import Any

from tests.web.conftest import Opener, Study
from tests.web.expected import count, head_name
from tests.web.page import go, parsed_csv, parsed_svg, saved


def measure_of(study: Study, name: str) -> dict[str, Any]:
    """A measure of the first model."""
    return next(measure for measure in study.measures() if measure["id"] == name)


def test_the_grid_is_saved(demo: Study, show: Opener) -> None:
    """The picture stands alone, in light colours; the numbers are those of the file."""
    page = show(demo, scheme="dark")
    model = demo.atlas["models"][0]
    for measure in [measure_of(demo, "entropy.all"), measure_of(demo, "syntax.dobj")]:
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
