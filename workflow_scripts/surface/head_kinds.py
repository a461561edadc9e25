"""The kinds of an encoder's heads, by all chapters of the study that tell some."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.measures.forms import KEYS
from workflow_scripts.core.measures.head_kinds import with_kinds
from workflow_scripts.core.run import job


def main(
    position: Path, kinds: job.Out, threshold: float, fewest: int, known: list[Path] = ()
) -> None:
    """Write a row per head; `threshold`, `fewest` and `known` as for `with_kinds`."""
    heads: pd.DataFrame = tables.read(position)[KEYS].drop_duplicates()
    found = with_kinds(heads, known, fewest, threshold)
    tables.write(found[[*KEYS, "kinds", "stratum"]], kinds)


if __name__ == "__main__":
    job.run(main, globals())
