"""Similarity of each head's maps before and after fine-tuning (Kovaleva et al., 4.3, Fig. 5)."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head


def cosine(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Cosine similarity of flattened maps, float64 [layer, head], of two [layer, head, L, L]."""
    shape = (*before.shape[:2], -1)
    x, y = (np.asarray(maps, dtype=np.float64).reshape(shape) for maps in (before, after))
    return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


def main(
    body: Path,
    tuned: Path,
    model: Path,
    card: Path,
    similarity: Out,
    task: str,
    seed: int,
    bootstrap: int,
) -> None:
    """Write each head's mean similarity over the examples of the two caches, with intervals."""
    with (
        Cache(body, read_card(model)) as body_cache,
        Cache(tuned, read_card(card)) as tuned_cache,
    ):
        tuned_cache.expect(body_cache.ids, str(body))
        n = len(body_cache)
        values = np.empty((n, body_cache.n_layers, body_cache.n_heads))
        pairs = zip(body_cache, tuned_cache, strict=True)
        for index, (before, after) in enumerate(job.progress(pairs, n, "similarity")):
            values[index] = cosine(before.pattern, after.pattern)
    frame = per_head({task: values}, "task", "similarity", bootstrap, seed)
    tables.write(frame.assign(seed=seed), similarity)


if __name__ == "__main__":
    job.run(main, globals())
