"""How alike each head's maps are before and after fine-tuning (Kovaleva et al., 4.3, Figure 5)."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head


def cosine(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Cosine similarity of flattened maps, float64 [layer, head], of two [layer, head, L, L]."""
    shape = (*one.shape[:2], -1)
    one, other = (np.asarray(maps, dtype=np.float64).reshape(shape) for maps in (one, other))
    product = (one * other).sum(axis=-1)
    return product / np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))


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
    with Cache(body, read_card(model)) as before, Cache(tuned, read_card(card)) as after:
        after.expect(before.ids, str(body))
        values = np.empty((len(before), before.n_layers, before.n_heads))
        pairs = zip(before, after, strict=True)
        for index, (one, other) in enumerate(job.progress(pairs, len(before), "similarity")):
            values[index] = cosine(one.pattern, other.pattern)
    frame = per_head({task: values}, "task", "similarity", bootstrap, seed)
    tables.write(frame.assign(seed=seed), similarity)


if __name__ == "__main__":
    job.run(main, globals())
