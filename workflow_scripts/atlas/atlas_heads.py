"""All measures of the atlas as one table, a row for each head, as CSV and as Parquet."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job

NUMBERS = ["value", "low", "high", "n", "p"]


def heads_of(model: Mapping[str, Any]) -> pd.DataFrame:
    """Type, layer and head, from 0, of all heads of a model, in the order of its lists."""
    types = model.get("types", [{"name": None, "n_layers": model["n_layers"]}])
    rows = [
        (each["name"], layer, head)
        for each in types
        for layer in range(each["n_layers"])
        for head in range(model["n_heads"])
    ]
    return pd.DataFrame(rows, columns=["type", "layer", "head"])


def labels_of(measure: Mapping[str, Any]) -> list[str | None]:
    """The word that goes with each number: its category, or its label."""
    if (categories := measure["categories"]) is not None:
        return [None if value is None else categories[int(value)] for value in measure["value"]]
    return measure["label"] or [None] * len(measure["value"])


def table_of(atlas: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each head of every model: its names, its roles, then the columns of each measure.

    `head` is as on the page, from 1, in its `type` of attention where the model has several;
    `transformer_lens` counts from 0. A measure has its value as
    <id> [<unit>], its interval as <id> low [<unit>] and <id> high [<unit>], then <id> n, <id> p and
    <id> label; a class is its value. Columns without anything are left out.
    """
    frames = []
    for model in atlas["models"]:
        heads = heads_of(model)
        names = [f"{layer + 1}-{head + 1}" for _, layer, head in heads.itertuples(index=False)]
        lens = [f"L{layer}H{head}" for _, layer, head in heads.itertuples(index=False)]
        columns = {"model": model["name"], "type": heads["type"], "head": names}
        columns["transformer_lens"] = None if "types" in model else lens
        for measure in (each for each in atlas["measures"] if each["model"] == model["name"]):
            columns |= _columns(measure, len(heads))
        badges = model.get("badges", [])
        marks = [[each["id"] for each in badges if at in each["heads"]] for at in range(len(heads))]
        columns["roles"] = [";".join(each) or None for each in marks]
        frames.append(pd.DataFrame(columns, index=heads.index))
    # Of a model that lacks a measure its cells are empty, whatever the type of the others.
    table = pd.concat([frame.dropna(axis=1, how="all") for frame in frames], ignore_index=True)
    first = ["model", "type", "head", "transformer_lens", "roles"]
    order = [name for name in first if name in table]
    return table[[*order, *table.columns.drop(order)]]


def _columns(measure: Mapping[str, Any], n_heads: int) -> dict[str, Any]:
    """The columns of a measure, by their names."""
    name, unit = measure["id"], f" [{measure['unit']}]" if measure["unit"] else ""
    if measure["categories"] is not None:
        return {name: labels_of(measure)}
    titles = [name + unit, f"{name} low{unit}", f"{name} high{unit}", f"{name} n", f"{name} p"]
    columns = {}
    for title, field in zip(titles, NUMBERS, strict=True):
        cells = measure[field] if isinstance(measure[field], list) else [measure[field]] * n_heads
        columns[title] = pd.Series(cells, dtype="Int64" if field == "n" else "float64")
    return columns | {f"{name} label": pd.Series(labels_of(measure), dtype=object)}


def main(atlas: Path, csv: job.Out, parquet: job.Out) -> None:
    """Write the table, in both formats the same."""
    table = table_of(json.loads(atlas.read_text(encoding="utf-8")))
    tables.write(tables.count_twice(table), parquet)
    tables.write_csv(table, csv)


if __name__ == "__main__":
    job.run(main, globals())
