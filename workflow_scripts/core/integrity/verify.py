"""A folder of results checked against its records: what differs, is missing or has none.

python -m workflow_scripts.core.integrity.verify results/demo
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance

# What is no product of a job: logs, times, records and reports.
NOT_PRODUCTS = ("logs", "benchmarks", provenance.FOLDER, digests.MARK, "report.html", "report.zip")


def verify(folder: Path) -> list[str]:
    """What is wrong in a folder of results, a line each.

    That is: a product that differs from its record, is missing or has none, and one that was made
    from another version of an input than the one that is there now.
    """
    found: dict[Path, dict[str, Any]] = {}  # the record of each product
    lines = []
    for product in provenance.recorded(folder):
        try:
            found[product] = provenance.read(product) or {}
        except InputError as error:
            lines.append(str(error))
            continue
        if not product.exists():
            lines.append(f"{product}: missing")
        elif not provenance.same(provenance.content(product, anew=True), found[product]):
            lines.append(f"{product}: differs from its record")
    now = dict(found)  # a product that differs from its record is in a line of its own already
    for product, record in found.items():
        for name, used in record["inputs"].items():
            path = provenance.now_at(name, record["output"], product)
            if not used or not path.exists():
                continue
            if path not in now:  # no product: a source, read once
                now[path] = provenance.content(path, anew=True)
            if now[path]["sha256"] != used["sha256"]:
                lines.append(f"{product}: was made from another version of {path}")
    return lines + [f"{path}: unrecorded" for path in _unrecorded(folder)]


def _unrecorded(folder: Path) -> Iterator[Path]:
    """Files in no recorded product, apart from NOT_PRODUCTS."""
    for path in sorted(folder.iterdir()):
        if path.name in NOT_PRODUCTS or provenance.record_path(path).is_file():
            continue
        if path.is_dir():
            yield from _unrecorded(path)
        else:
            yield path


def main(arguments: list[str] | None = None) -> int:
    """Check a folder; the exit status is 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of results, such as results/demo")
    folder = parser.parse_args(arguments).folder
    if not folder.is_dir():
        parser.error(f"{folder}: no such directory")
    lines = verify(folder)
    for line in lines:
        print(line)
    words = f"{len(lines)} things wrong" if lines else "all as recorded"
    print(f"{folder}: {len(provenance.recorded(folder))} records, {words}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
