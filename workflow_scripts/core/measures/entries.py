"""A measure as the atlas has it: a form's words, and its numbers from a model's tables."""

from typing import Any

import pandas as pd

from workflow_scripts.core.measures.forms import Form, Rows
from workflow_scripts.core.measures.tables import Columns, Tables, alike, number, whole


def entry(form: Form, found: Tables) -> dict[str, Any]:
    """A measure as the atlas has it."""
    if form.compute:
        columns = form.compute(found)
        source = form.rows.place(found.folder) | {"derived": form.derived}
    else:
        columns = read_columns(form, found)
        source = form.rows.source(found.folder)
    null = form.null
    if isinstance(null, Rows):
        source["null"] = null.place(found.folder)
        null = read_null(null, found)
    return {
        "id": form.id,
        "model": found.model,
        "paper": form.paper,
        "group": form.group,
        "title": form.title,
        "unit": form.unit,
        "scale": form.scale,
        "about": form.about,
        "source": source,
        "state": form.state,
        "task": form.task,
        "null": null,
        "null_title": form.null_title,
        "decimals": form.decimals,
        "better": form.better,
        "categories": list(form.categories) if form.categories else None,
        **({"category_notes": list(form.category_notes)} if form.category_notes else {}),
        **{key: columns.get(key) for key in ("label", "value", "low", "high", "n", "p")},
    }


def read_columns(form: Form, found: Tables) -> Columns:
    """Value, low, high, n, p and label of a measure, those that it has."""
    rows, factor = found.select(form.rows), form.rows.factor
    values = found.per_head(rows, form.rows.column)
    if form.categories:
        numbers = {name: place for place, name in enumerate(form.categories)}
        columns: Columns = {"value": [numbers.get(value) for value in values]}
    else:
        columns = {"value": [number(value, factor) for value in values]}
    for name, column in form.rows.other_columns.items():
        if name == "n":
            counted = rows[[column] if isinstance(column, str) else list(column)].sum(axis=1)
            cells = found.per_head(rows.assign(n=counted), "n")
            columns["n"] = alike(whole(cells))
            continue
        cells = found.per_head(rows, column)
        if name == "label":
            columns["label"] = [None if pd.isna(cell) else cell.replace("_", " ") for cell in cells]
        else:
            columns[name] = [number(cell, 1 if name == "p" else factor) for cell in cells]
    return columns


def read_null(rows: Rows, found: Tables) -> Any:
    """The null in a table: one number, or one for each head where they differ."""
    frame = found.select(rows)
    if "layer" not in frame:
        return number(frame[rows.column].iloc[0], rows.factor)
    cells = found.per_head(frame, rows.column)
    return alike([number(cell, rows.factor) for cell in cells])
