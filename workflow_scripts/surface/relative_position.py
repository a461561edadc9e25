"""Attention to the same, the previous and the next token (Clark et al. 2019, section 3.1)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head

OFFSETS = {"self": 0, "previous": -1, "next": 1}


def attention_at(pattern: np.ndarray, offset: int) -> np.ndarray:
    """Mean attention from each token to the one `offset` tokens later, [layer, head].

    `pattern` is [layer, head, query, key]. Queries without such a key are left out; NaN where
    no query has one.
    """
    diagonal = np.diagonal(pattern, offset, axis1=2, axis2=3)
    if diagonal.shape[-1] == 0:
        return np.full(pattern.shape[:2], np.nan)
    return diagonal.mean(axis=-1, dtype=np.float64)


def heads_above(frame: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """The heads that put more than `threshold` on one target, strongest first."""
    above = frame[frame["attention"] > threshold]
    above = above.sort_values(["target", "attention"], ascending=[True, False])
    columns = ["target", "head", "attention", "ci_low", "ci_high", "n", "n_documents"]
    return above.assign(head=labels(above))[columns]


def main(
    attention: Path,
    corpus: Path,
    model: Path,
    position: Out,
    above: Out,
    threshold: float,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write the averages of every head, and the list of heads above `threshold`."""
    with Cache(attention, read_card(model)) as cache:
        documents = cache.documents(corpus)
        shape = (len(cache), cache.n_layers, cache.n_heads)
        values = {target: np.empty(shape) for target in OFFSETS}
        for index, example in enumerate(job.progress(cache, len(cache), "position")):
            for target, offset in OFFSETS.items():
                values[target][index] = attention_at(example.pattern, offset)
    frame = per_head(values, "target", "attention", bootstrap, seed, documents)
    tables.write(frame, position)
    tables.write_csv(heads_above(frame, threshold), above)


if __name__ == "__main__":
    job.run(main, globals())
