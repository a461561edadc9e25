"""Every number on the page is the one of atlas.json, and of the table that it came from."""

import math
from functools import cache
from typing import Any

import pandas as pd

from tests.default_study import DEMO
from tests.web.conftest import Opener, Study
from tests.web.expected import count, hatched, head_key, head_name, sentence
from tests.web.page import cells, go


def test_the_grid_has_every_number_of_every_measure(study: Study, show: Opener) -> None:
    """Value, unit, label, interval, rank and n of each head, as a screen reader reads them out."""
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


def test_the_file_holds_what_the_tables_hold(demo: Study) -> None:
    """`source` states which number of which table each is; `layer` and `head` count from 0."""
    checked = 0
    for measure in demo.atlas["measures"]:
        model = next(m for m in demo.atlas["models"] if m["name"] == measure["model"])
        expected = stored(demo, measure)
        for index, value in enumerate(measure["value"]):
            row = expected.get(head_key(model, index), {})
            where = (measure["id"], index)
            if measure["scale"] == "category":
                label = None if value is None else measure["categories"][value]
                assert label == row.get("value"), where
                continue
            for name in ("value", "low", "high", "n"):
                held = (
                    count(measure, index)
                    if name == "n"
                    else (measure[name] or {index: None})[index]
                )
                if name in row and (name == "value" or held is not None):
                    assert near(held, row[name]), (name, *where)
                    checked += 1
    assert checked > 20_000


def near(held: float | None, found: float) -> bool:
    """Equal up to the digits that the file keeps; unknown is not a number in a table."""
    if held is None:
        return math.isnan(found)
    return math.isclose(held, found, rel_tol=1e-4, abs_tol=1e-6)


def stored(study: Study, measure: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Value, ends of the interval and n of each head, from the table that a measure names."""
    source = measure["source"]
    rows = chosen(source)
    if "derived" in source:
        return derived(study, measure, rows)
    keys = ["type", "layer", "head"][not source["table"].startswith("translation/") :]
    if source.get("pick") == "largest":
        rows = rows.sort_values(source["column"], ascending=False, kind="stable")
        rows = rows.drop_duplicates(keys)
    assert not rows.duplicated(keys).any(), measure["id"]
    found = pd.DataFrame({"value": rows[source["column"]]})
    for name in ("low", "high", "n"):
        if name in source:
            columns = rows[source[name]]
            found[name] = columns.sum(axis=1) if isinstance(columns, pd.DataFrame) else columns
    if measure["scale"] != "category":
        found[[name for name in found if name != "n"]] *= source["factor"]
    heads = rows[keys].itertuples(index=False, name=None)
    return dict(zip(heads, found.to_dict("records"), strict=True))


def derived(
    study: Study, measure: dict[str, Any], rows: pd.DataFrame
) -> dict[tuple[int, int], dict[str, Any]]:
    """The measures that no table holds, made again from the rows that their sources name."""
    if measure["id"] == "syntax.best":
        others = study.measures(measure["model"])
        wheres = [one["source"]["where"] for one in others if one["group"] == "Syntax"]
        relations = {where.get("relation", "all") for where in wheres} - {"all"}
        offsets = table(f"{measure['model']}/syntax/offsets.parquet")
        best = offsets.groupby("relation")["accuracy"].max()
        rows = rows[rows["relation"].isin(relations)]
        gains = 100 * (rows["accuracy"] - rows["relation"].map(best))
        found = gains.groupby([rows["layer"], rows["head"]]).max()
    else:
        assert measure["id"].startswith("patterns."), f"{measure['id']}: made in a way unknown here"
        shares = rows.groupby(["layer", "head", "class"])["share"].mean().unstack()
        found = shares[measure["categories"]].round(9).idxmax(axis=1)  # of equals, the first class
    return {key: {"value": value} for key, value in found.items()}


def chosen(source: dict[str, Any]) -> pd.DataFrame:
    """The rows of a table that a source names."""
    rows = table(source["table"])
    for name, value in source["where"].items():
        rows = rows[rows[name] == value]
    return rows


@cache
def table(path: str) -> pd.DataFrame:
    """A product of the default study."""
    read = pd.read_parquet if path.endswith(".parquet") else pd.read_csv
    return read(DEMO / path)
