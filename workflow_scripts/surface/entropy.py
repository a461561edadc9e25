"""Entropy of each head's attention distributions (Clark et al. 2019, section 3.3, Figure 4)."""

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

MEASURES = ("entropy", "largest", "at_most_tenth")


def row_entropy(pattern: np.ndarray) -> np.ndarray:
    """Entropy in nats of each query's distribution: [layer, head, query] of [..., query, key].

    A weight of 0 adds nothing.
    """
    weights = pattern.astype(np.float32)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...k,...k->...", weights, logs)


def measures_of(pattern: np.ndarray) -> dict[str, np.ndarray]:
    """What each query's distribution looks like, each [layer, head, query].

    `pattern` is [layer, head, query, key]. `largest` is the largest weight on a single token,
    `at_most_tenth` is 1 where it is 10% or less.
    """
    largest = pattern.max(axis=-1).astype(np.float32)
    at_most_tenth = (largest <= np.float16(0.1)).astype(np.float32)
    return {
        "entropy": row_entropy(pattern),
        "largest": largest,
        "at_most_tenth": at_most_tenth,
    }


def broad_heads(frame: pd.DataFrame, broad: float) -> pd.DataFrame:
    """The heads with a mean entropy over all queries above `broad` nats, broadest first."""
    above = frame[(frame["query"] == "all") & (frame["entropy"] > broad)]
    above = above.sort_values("entropy", ascending=False)
    return above.assign(head=labels(above)).drop(columns=["layer", "query"])


def main(
    attention: Path,
    corpus: Path,
    model: Path,
    entropy: Out,
    table: Out,
    broad: float,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write each head's mean entropy and largest weight, over all queries and from [CLS].

    Column `uniform` is the entropy of attending to all tokens alike: the mean of log L. The table
    lists the heads with an entropy above `broad` nats.
    """
    card = read_card(model)
    with Cache(attention, card) as cache:
        documents = cache.documents(corpus)
        shape = (len(cache), cache.n_layers, cache.n_heads)
        values = {
            measure: {query: np.full(shape, np.nan) for query in ("all", "cls")}
            for measure in MEASURES
        }
        for index, example in enumerate(job.progress(cache, len(cache), "entropy")):
            cls = example.ids == card["special"]["cls"]
            for measure, rows in measures_of(example.pattern).items():
                values[measure]["all"][index] = rows.mean(axis=-1, dtype=np.float64)
                if cls.any():
                    values[measure]["cls"][index] = rows[..., cls].mean(axis=-1)
        uniform = float(np.log(cache.lengths).mean())
    frame = per_head(values["entropy"], "query", "entropy", bootstrap, seed, documents)
    frame = frame.assign(uniform=uniform)
    for measure in MEASURES[1:]:
        rows = per_head(values[measure], "query", measure, bootstrap, seed, documents)
        frame[measure] = rows[measure]
        frame[f"{measure}_low"], frame[f"{measure}_high"] = rows["ci_low"], rows["ci_high"]
    tables.write(frame, entropy)
    tables.write_csv(broad_heads(frame, broad), table)


if __name__ == "__main__":
    job.run(main, globals())
