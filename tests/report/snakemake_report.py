"""A report that Snakemake wrote, read from its zip file."""

import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VARIABLE = r'<script id="{}">\s*var \w+ = (.*?);\s*</script>'


@dataclass(frozen=True)
class Report:
    """Its results by path, their paths by category and subcategory, its files, its front page."""

    results: dict[str, dict[str, Any]]
    categories: dict[str, dict[str, list[str]]]
    files: dict[str, bytes]
    front: str


def read(path: Path) -> Report:
    """The report of a zip file; files are named from the folder of report.html."""
    with zipfile.ZipFile(path) as archive:
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    page = files["report.html"].decode()
    names = ("results", "categories", "workflow-desc")
    values = [json.loads(re.search(VARIABLE.format(name), page, re.S)[1]) for name in names]
    return Report(values[0], values[1], files, values[2])


def toggles(results: Mapping[str, Mapping[str, str]]) -> set[str]:
    """The labels of which Snakemake makes toggles, for a list of results: path and labels.

    As abstract_results.js: not the first label; two values, each in half of the results; one such
    label at most. Its list breaks where an entry has one side of the toggle only, and hides a
    result whose labels another has.
    """
    found = list(results.values())
    names = list(dict.fromkeys(name for labels in found for name in labels))
    halves = set()
    for name in names[1:]:
        values = [labels[name] for labels in found if name in labels]
        counts = [values.count(value) for value in set(values)]
        halves |= {name} if len(counts) == 2 and set(counts) == {len(found) / 2} else set()
    toggled = halves if len(halves) == 1 else set()
    rows = [
        tuple(labels.get(name, "") for name in names if name not in toggled) for labels in found
    ]
    assert all(rows.count(row) == 1 + len(toggled) for row in rows), rows
    return toggled
