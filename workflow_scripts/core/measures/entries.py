"""A measure as the atlas has it: a form's words, and its numbers from a model's tables."""

from typing import Any

import pandas as pd

from workflow_scripts.core.measures.forms import Form, Rows
from workflow_scripts.core.measures.tables import Columns, Tables, alike, number, whole

FIELDS = "id model paper group title unit scale about source state task null null_title decimals "
FIELDS = (FIELDS + "better categories").split()
NUMBERS = ("label", "value", "low", "high", "n", "p")


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
    about = vars(form) | {"model": found.model, "source": source, "null": null}
    measure = {name: about[name] for name in FIELDS}
    if form.category_notes:
        measure["category_notes"] = form.category_notes
    return measure | {name: columns.get(name) for name in NUMBERS}


def read_columns(form: Form, found: Tables) -> Columns:
    """Value, low, high, n, p and label of a measure, those that it has."""
    rows, factor, columns = found.select(form.rows), form.rows.table.factor, {}
    for name, column in ({"value": form.rows.table.value} | form.rows.table.others).items():
        if name == "n":
            counted = rows[[column] if isinstance(column, str) else list(column)].sum(axis=1)
            columns[name] = alike(whole(found.per_head(rows.assign(n=counted), "n")))
            continue
        cells = found.per_head(rows, column)
        if name == "label":
            columns[name] = [None if pd.isna(cell) else cell.replace("_", " ") for cell in cells]
        elif name == "value" and form.categories:
            places = {category: place for place, category in enumerate(form.categories)}
            columns[name] = [places.get(cell) for cell in cells]
        else:
            columns[name] = [number(cell, 1 if name == "p" else factor) for cell in cells]
    return columns


def read_null(rows: Rows, found: Tables) -> Any:
    """The null in a table: one number, or one for each head where they differ."""
    frame = found.select(rows)
    of_heads = "layer" in frame
    cells = (
        found.per_head(frame, rows.table.value) if of_heads else frame[rows.table.value].iloc[:1]
    )
    return alike([number(cell, rows.table.factor) for cell in cells])
