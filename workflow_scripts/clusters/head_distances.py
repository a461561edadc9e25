"""Average Jensen-Shannon divergence between all pairs of heads (Clark et al. 2019, section 6).

With s = p + q, JS(p, q) = H(s / 2) - (H(p) + H(q)) / 2 and H(s / 2) = log 2 - (sum of s log s) / 2:
one addition and one logarithm per pair and weight, no division. JS is symmetric, so half the
pairs are enough; and blocks of weights keep the working set in the processor's cache. NumPy's
logarithm is three times as fast as torch's here. Threads share segments, not the work on one, so
a busy core delays its own segment only; within a thread numerical libraries use no other.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TINY = 1e-20  # added to every weight: log(0) never occurs, and nothing else changes
BLOCK = 16384  # weights of each head; with fewer, threads would wait for each other


def distances(pattern: np.ndarray, smoothing: float = 0.0) -> np.ndarray:
    """Mean Jensen-Shannon divergence of all pairs of heads, in nats, float64 [heads, heads].

    `pattern` is [layer, head, query, key] of one example; heads are flattened, layer by layer.
    The mean is over queries. `smoothing` is the share of uniform attention mixed into every map.
    """
    n_queries = pattern.shape[-1]
    weights = pattern.reshape(-1, n_queries**2)
    products = np.zeros((len(weights), len(weights)))  # sums of s log s, of pairs and single heads
    single = np.zeros(len(weights))
    buffers = np.empty((3, len(weights) * BLOCK), np.float32)
    for start in range(0, n_queries**2, BLOCK):
        part = weights[:, start : start + BLOCK]
        block, mixed, logs = buffers[:, : part.size].reshape(3, *part.shape)
        np.multiply(part, 1 - smoothing, out=block, dtype=np.float32)
        block += smoothing / n_queries + TINY
        single += np.vecdot(block, np.log(block, out=logs))
        for first in range(len(block) - 1):
            later = slice(first + 1, None)
            s = np.add(block[later], block[first], out=mixed[later])
            products[first, later] += np.vecdot(s, np.log(s, out=logs[later]))
    sums = products - single[:, None] - single
    divergence = np.log(2) - sums / 2 / n_queries
    upper = np.triu(divergence.clip(min=0), k=1)  # rounding may go a little below 0
    return upper + upper.T


def mean_distances(
    pattern_of: Callable[[int], np.ndarray], n: int, smoothing: float, threads: int
) -> np.ndarray:
    """Mean over the queries of `n` examples, each read by `pattern_of`: float64 [heads, heads].

    The examples are summed in their order, so the number of threads changes nothing.
    """

    def weighted(index: int) -> tuple[np.ndarray, int]:
        pattern = pattern_of(index)
        n_queries = pattern.shape[-1]
        return distances(pattern, smoothing) * n_queries, n_queries

    total, queries = 0.0, 0
    # Some libraries count threads for all, some for each thread that calls them.
    alone = {"initializer": threadpool_limits, "initargs": (1,)}
    with threadpool_limits(1), ThreadPoolExecutor(threads, **alone) as pool:
        for part, n_queries in job.progress(pool.map(weighted, range(n)), n, "distances"):
            total, queries = total + part, queries + n_queries
    return total / queries


def main(
    attention: Path,
    model: Path,
    distances_table: Out,
    n_segments: int,
    smoothing: float,
    threads: int = 1,
) -> None:
    """Write the mean distance of every pair of heads over the first `n_segments` examples."""
    with Cache(attention, read_card(model)) as cache:
        n, n_heads = min(n_segments, len(cache)), cache.n_heads
        mean = mean_distances(lambda index: cache[index].pattern, n, smoothing, threads)
    a, b = np.triu_indices(len(mean), k=1)
    columns = {"layer_a": a // n_heads, "head_a": a % n_heads}
    columns |= {"layer_b": b // n_heads, "head_b": b % n_heads}
    frame = pd.DataFrame(columns).assign(distance=mean[a, b], n=n)
    tables.write(frame, distances_table)


if __name__ == "__main__":
    job.run(main, globals())
