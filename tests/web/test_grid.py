"""The grid: colours, hatching, filters."""

import pytest

from tests.web.conftest import Opener, Study
from tests.web.expected import colour, head_name, value_text
from tests.web.page import cells, choose, fragment, go, settle

NEAR = 4  # of 255: the page's ramps are linear, matplotlib's have 256 steps


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_those_of_the_values(study: Study, scheme: str, show: Opener) -> None:
    page = show(study, scheme=scheme)
    model = study.atlas["models"][0]
    # Some measures of each scale show the ramps; those of a dark page are another pair.
    for measure in study.measures()[::4]:
        go(page, f"measure={measure['id']}")
        found = cells(page)
        for index in range(len(measure["value"])):
            expected = colour(measure, index, scheme == "dark")
            fill = found[head_name(model, index)]["fill"]
            if expected is None:
                continue
            off = [abs(a - b) for a, b in zip(fill, expected, strict=True)]
            assert max(off) <= NEAR, (measure["id"], head_name(model, index), fill, expected)


def test_choosing_a_measure_recolours_the_grid(study: Study, show: Opener) -> None:
    first, second = study.opening, study.measures()[1]
    page = show(study, f"measure={first['id']}")
    before = cells(page)
    choose(page, second)
    after = cells(page)
    assert fragment(page) == f"measure={second['id']}"
    assert {head: one["fill"] for head, one in before.items()} != {
        head: one["fill"] for head, one in after.items()
    }
    page.go_back()
    settle(page)
    assert cells(page) == before
    assert page.locator("#measure").input_value() == first["title"]


def test_pointing_at_a_head_shows_its_value(demo: Study, show: Opener) -> None:
    page = show(demo, "view=grid")
    measure, model = demo.opening, demo.atlas["models"][0]
    for index in (0, 17):
        head = head_name(model, index)
        page.locator(f'main [data-head="{head}"]').first.hover()
        settle(page)
        assert value_text(measure, index) in page.locator("main").inner_text(), head


def test_the_grid_is_one_stop_of_the_tab_key(demo: Study, show: Opener) -> None:
    """On one of its heads, and not on the grid around them too."""
    page = show(demo, "view=grid")
    page.locator("#measure").focus()
    stops = []
    for _ in range(8):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.getAttribute('role')"))
    assert stops.count("gridcell") == 1 and "grid" not in stops


def test_the_list_keeps_the_heads_better_than_the_baseline(demo: Study, show: Opener) -> None:
    page = show(demo, "measure=syntax.dobj")
    page.get_by_role("button", name="Only heads better than the baseline").click()
    settle(page)
    assert fragment(page) == "measure=syntax.dobj&filter=syntax.dobj!"
    measure = next(one for one in demo.measures() if one["id"] == "syntax.dobj")
    above = sum(low > measure["null"] for low in measure["low"])
    assert page.locator(".ranked li").count() == above > 0
