"""Every number on the page is the one of atlas.json, and of the table that it came from."""

import math
from functools import cache
from typing import Any

import pandas as pd
import pytest

from tests.web.conftest import DEMO, Opener, Study
from tests.web.expected import hatched, head_name, sentence
from tests.web.page import cells, go


def test_the_grid_says_every_number_of_every_measure(study: Study, show: Opener) -> None:
    """Value, unit, label, interval, rank and n of each head, as a screen reader says them."""
    page = show(study)
    for model in study.atlas["models"]:
        heads = [head_name(model, index) for index in range(model["n_layers"] * model["n_heads"])]
        measures = study.measures(model["name"])
        assert measures
        for measure in measures:
            go(page, f"model={model['name']}&measure={measure['id']}")
            found = cells(page)
            assert found.keys() == set(heads)
            for index, head in enumerate(heads):
                assert found[head]["label"] == sentence(model, measure, index), measure["id"]
                assert found[head]["hatched"] == hatched(measure, index), (measure["id"], head)


def test_the_page_holds_what_the_file_holds(demo: Study, show: Opener) -> None:
    """Maps, too: each stands in a script of its own."""
    page = show(demo)
    read = "document.getElementById('atlas').textContent"
    inside = page.evaluate(f"JSON.parse({read})")
    for name, entry in inside["maps"].items():
        entry["data"] = page.evaluate(f"document.getElementById('map:{name}').textContent")
    assert inside == demo.atlas


@cache
def table(path: str) -> pd.DataFrame:
    """A product of the default study."""
    read = pd.read_parquet if path.endswith(".parquet") else pd.read_csv
    return read(DEMO / path)


def test_the_file_holds_what_the_tables_hold(demo: Study) -> None:
    """`source` says which number of which table a measure is; `layer` and `head` count from 0."""
    n_checked = 0
    for measure in demo.atlas["measures"]:
        model = next(m for m in demo.atlas["models"] if m["name"] == measure["model"])
        for index, value in enumerate(measure["value"]):
            stored = looked_up(measure, *divmod(index, model["n_heads"]))
            if value is None:
                assert stored is None or math.isnan(stored), (measure["id"], index)
                continue
            if measure["scale"] == "category":
                value = measure["categories"][value]
                assert stored == value, (measure["id"], index)
            else:
                expected = stored * measure["source"]["factor"]
                assert value == pytest.approx(expected, rel=1e-4, abs=1e-6), (measure["id"], index)
            n_checked += 1
    assert n_checked > 1000


def looked_up(measure: dict[str, Any], layer: int, head: int) -> Any:
    """The one number of a head in the table that a measure names."""
    source = measure["source"]
    return by_head(source["table"], source["column"], tuple(source["where"].items())).get(
        (layer, head)
    )


@cache
def by_head(path: str, column: str, where: tuple[tuple[str, Any], ...]) -> dict[Any, Any]:
    """A column by layer and head, of the rows that `where` names."""
    rows = table(path)
    for name, value in where:
        rows = rows[rows[name] == value]
    assert not rows.duplicated(["layer", "head"]).any(), (path, where)
    return dict(zip(zip(rows["layer"], rows["head"], strict=True), rows[column], strict=True))
