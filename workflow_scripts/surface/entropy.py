"""Entropy of each head's attention distributions (Clark et al. 2019, section 3.3, Figure 4)."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head


def row_entropy(pattern: np.ndarray) -> np.ndarray:
    """Entropy in nats of each query's distribution: [layer, head, query] of [..., query, key].

    A weight of 0 adds nothing.
    """
    weights = pattern.astype(np.float32)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...k,...k->...", weights, logs)


def main(
    attention: Path, corpus: Path, model: Path, entropy: Out, bootstrap: int, seed: int = 1
) -> None:
    """Write each head's mean entropy over all queries and from [CLS].

    Column `uniform` is the entropy of attending to all tokens alike: the mean of log L.
    """
    card = read_card(model)
    with Cache(attention, card) as cache:
        documents = cache.documents(corpus)
        shape = (len(cache), cache.n_layers, cache.n_heads)
        values = {query: np.full(shape, np.nan) for query in ("all", "cls")}
        for index, example in enumerate(job.progress(cache, len(cache), "entropy")):
            rows = row_entropy(example.pattern)
            values["all"][index] = rows.mean(axis=-1, dtype=np.float64)
            cls = example.ids == card["special"]["cls"]
            if cls.any():
                values["cls"][index] = rows[..., cls].mean(axis=-1)
        uniform = float(np.log(cache.lengths).mean())
    frame = per_head(values, "query", "entropy", bootstrap, seed, documents)
    tables.write(frame.assign(uniform=uniform), entropy)


if __name__ == "__main__":
    job.run(main, globals())
