"""Datasets of the Hugging Face hub, or of a local directory in its format."""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.errors import InputError, one_line

# Of files that hold data alone; others, such as archives of examples, may hold pickles.
FORMS = ("arrow", "csv", "json", "parquet", "text")
CACHED = "cache"  # what the library has prepared before, as Arrow, where it cannot reach the hub


def load_rows(
    source: dict[str, Any], columns: tuple[str, ...] = ("text",)
) -> Iterator[dict[str, Any]]:
    """The rows of a dataset in hub format, by name or in a local directory, one at a time.

    Where the hub cannot be reached, they are those that were prepared before, of this revision.
    Raises InputError if it cannot be fetched or lacks one of `columns`.
    """
    from datasets import load_dataset_builder

    name, revision = source["hub"], source.get("revision")
    try:
        builder = load_dataset_builder(name, source.get("name"), revision=revision)
        form = type(builder).__module__.split(".")[-1]
        if form == CACHED and builder.hash != revision:
            raise ValueError(f"the hub cannot be reached; here it is at {builder.hash}")
        if form not in (*FORMS, CACHED):
            raise ValueError(f"its files are {form}; accepted: {', '.join(FORMS)}")
        # The library's load_dataset would choose a builder anew, perhaps of another revision.
        builder.download_and_prepare()
        rows = builder.as_dataset(split=source.get("split", "train"))
    except Exception as error:
        raise InputError(
            f"hub: {name} at {revision}: cannot be fetched ({one_line(error)}); connect this "
            "machine to the network, or download the data elsewhere and set path"
        ) from error
    for column in columns:
        if column not in rows.column_names:
            names = ", ".join(rows.column_names)
            raise InputError(f"hub: {name}: no column {column}; the dataset has {names}")
    return iter(rows)
