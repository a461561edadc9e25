"""Average Jensen-Shannon divergence between all pairs of heads (Clark et al. 2019, section 6).

With s = p + q, JS(p, q) = H(s / 2) - (H(p) + H(q)) / 2 and H(s / 2) = log 2 - (sum of s log s) / 2:
one addition and one logarithm per pair and weight, of which NumPy's is three times as fast as
torch's. Threads share segments, not the work on one, so that a busy core delays its own alone.
"""

import math
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.wordpieces import is_decoder, uniform_attention
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass, with_all_layers
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TINY = 1e-20  # added to every weight: log(0) never occurs, and nothing else changes
TRIANGLE = 3  # axes of a `triangle`: layer, head, weight
BLOCK = 16384  # weights of each head; with fewer, threads would wait for each other


def distances(
    pattern: np.ndarray, smoothing: float = 0.0, uniform: np.ndarray | None = None
) -> np.ndarray:
    """Mean Jensen-Shannon divergence of all pairs of heads, in nats, float64 [heads, heads].

    `pattern` is [layer, head, query, key] of one example; heads are flattened, layer by layer.
    The mean is over queries. `smoothing` is the share of uniform attention mixed into every map.
    Where queries see some keys alone, `uniform` is that of the last queries, [query, key]: the
    others are left out, and it is one more head. `pattern` may then be a `triangle`.
    """
    n_queries, n_keys = (pattern if uniform is None else uniform).shape[-2:]
    size = n_queries * n_keys
    mixed_in = smoothing / n_keys if uniform is None else smoothing * uniform.reshape(-1)
    floor = np.broadcast_to(np.float32(mixed_in + TINY), size)
    n_heads = pattern.shape[0] * pattern.shape[1] + (uniform is not None)
    products = np.zeros((n_heads, n_heads))  # sums of s log s, of pairs and single heads
    single = np.zeros(n_heads)
    buffers = np.empty((3, n_heads * BLOCK), np.float32)
    for start, part in zip(range(0, size, BLOCK), _blocks(pattern, uniform), strict=True):
        block, mixed, logs = buffers[:, : part.size].reshape(3, *part.shape)
        np.multiply(part, 1 - smoothing, out=block, dtype=np.float32)
        block += floor[start : start + BLOCK]
        single += np.vecdot(block, np.log(block, out=logs))
        for first in range(len(block) - 1):
            later = slice(first + 1, None)
            s = np.add(block[later], block[first], out=mixed[later])
            products[first, later] += np.vecdot(s, np.log(s, out=logs[later]))
    sums = products - single[:, None] - single
    divergence = np.log(2) - sums / 2 / n_queries
    upper = np.triu(divergence.clip(min=0), k=1)  # rounding may go a little below 0
    return upper + upper.T


def _blocks(pattern: np.ndarray, uniform: np.ndarray | None) -> Iterator[np.ndarray]:
    """BLOCK weights of each head after the other, [head, weight]; nothing larger is copied.

    With `uniform`, those of its queries, and it is the last head.
    """
    weights = pattern.reshape(pattern.shape[0] * pattern.shape[1], -1)
    if uniform is None:
        yield from (weights[:, at : at + BLOCK] for at in range(0, weights.shape[1], BLOCK))
        return
    alike = uniform.reshape(-1)
    stored = alike > 0 if pattern.ndim == TRIANGLE else np.ones(len(alike), bool)
    left = weights[:, -stored.sum() :]
    for at in range(0, len(alike), BLOCK):
        inside = stored[at : at + BLOCK]
        block = np.zeros((len(weights) + 1, len(inside)), np.float32)
        block[:-1, inside] = left[:, : inside.sum()]
        block[-1] = alike[at : at + BLOCK]
        left = left[:, inside.sum() :]
        yield block


def _length(pattern: np.ndarray) -> int:
    """The tokens of a pattern or triangle."""
    return math.isqrt(2 * pattern.shape[-1]) if pattern.ndim == TRIANGLE else pattern.shape[-1]


def decoder_distances(pattern: np.ndarray, smoothing: float) -> np.ndarray:
    """Distances over all queries but the first, which sees itself alone, of a decoder's heads.

    `pattern` is [layer, head, query, key], or its `triangle`. float64 [heads + 1, heads + 1]: the
    last row and column are of uniform attention.
    """
    uniform = uniform_attention(_length(pattern))[0, 0, 1:].astype(np.float32)
    return distances(pattern, smoothing, uniform)


class MeanDistances:
    """The mean over the queries of examples, which are added in any order.

    They are summed in the order of their indices, so that the number of threads changes nothing;
    `threads` patterns are in memory. Those of a decoder are as in `decoder_distances`.
    """

    def __init__(self, smoothing: float, threads: int, decoder: bool = False) -> None:
        self.smoothing, self.threads, self.decoder = smoothing, threads, decoder
        # Some libraries count threads for all, some for each thread that calls them.
        self._limits = threadpool_limits(1, user_api="blas")
        alone = {"initializer": threadpool_limits, "initargs": (1,)}
        self._pool = ThreadPoolExecutor(threads, **alone)
        self._parts: dict[int, Future] = {}
        self._running: set[Future] = set()

    def add(self, index: int, pattern: np.ndarray) -> None:
        """Submit the pattern of an example, which is no longer held here, and free a thread."""
        self._parts[index] = self._pool.submit(self._weighted, pattern)
        self._running.add(self._parts[index])
        if len(self._running) == self.threads:
            self._running &= wait(self._running, return_when=FIRST_COMPLETED).not_done

    def mean(self) -> np.ndarray:
        """The mean of what was added, float64 [heads, heads]."""
        total, queries = 0.0, 0
        for _, future in sorted(self._parts.items()):
            part, n_queries = future.result()
            total, queries = total + part, queries + n_queries
        self._pool.shutdown()
        self._limits.restore_original_limits()
        return total / queries

    def _weighted(self, pattern: np.ndarray) -> tuple[np.ndarray | float, int]:
        measure, n_queries = decoder_distances if self.decoder else distances, _length(pattern)
        n_queries -= self.decoder
        return (measure(pattern, self.smoothing) * n_queries if n_queries else 0.0), n_queries


@in_one_pass
def main(
    attention: Path,
    model: Path,
    distances_table: Out,
    n_segments: int,
    smoothing: float,
    threads: int = 1,
) -> Measure:
    """Write the mean distance of every pair of heads over the first `n_segments` examples.

    For a decoder with the distances of both, `uniform_a` and `uniform_b`, from uniform attention.
    """
    card = read_card(model)
    patterns = open_patterns(attention, card)
    n, n_heads = min(n_segments, len(patterns)), patterns.n_heads
    means = MeanDistances(smoothing, threads, is_decoder(card))
    update = with_all_layers(patterns, n, lambda text: means.add(text.index, text.pattern))

    def write() -> None:
        mean = means.mean()
        a, b = np.triu_indices(patterns.n_layers * n_heads, k=1)
        columns = {"layer_a": a // n_heads, "head_a": a % n_heads}
        columns |= {"layer_b": b // n_heads, "head_b": b % n_heads}
        frame = pd.DataFrame(columns).assign(distance=mean[a, b], n=n)
        if is_decoder(card):
            frame = frame.assign(uniform_a=mean[a, -1], uniform_b=mean[b, -1])
        tables.write(frame, distances_table)

    return Measure(patterns, update, write, n)


if __name__ == "__main__":
    job.run(main, globals())
