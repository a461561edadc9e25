"""What figures of a translator's masked heads share."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables

COLUMNS = ("run", "split", "unit", "mode", "type", "layer", "head", "metric", "score", "effect")


def read_masked(paths: Sequence[Path], split: str = "test") -> pd.DataFrame:
    """BLEU with one head masked (output 0), of every run, on a split."""
    frame = tables.read_all(paths, COLUMNS)
    chosen = (frame["unit"] == "head") & (frame["mode"] == "zero") & (frame["metric"] == "bleu")
    return frame[chosen & (frame["split"] == split)].reset_index(drop=True)


def by_run(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each run, named: the seed of its training, or pretrained."""
    for run, rows in frame.groupby("run", sort=False):
        yield (f"Seed {run}" if str(run).isdigit() else str(run).capitalize()), rows


def setting(rows: pd.DataFrame) -> str:
    """What a run's scores are over: the unchanged translator's BLEU, and sentences."""
    return f"unchanged {rows['baseline'].mean():.1f} BLEU, n = {rows['n'].max()}"
