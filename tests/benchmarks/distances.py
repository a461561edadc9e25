"""All-pairs Jensen-Shannon divergence against the released formula in plain numpy.

Both sides see segments of the default study's cache, or random maps where it was not run yet: on a
machine that has nothing else to do, and beside a process that keeps a core busy. Ours has as many
threads as there are cores, up to two. The plain side goes head by head over the full square with
both logarithms. `float16_seconds` is its time on maps in the type in which caches store them.
"""

import os
import time

import numpy as np
from common import ROOT, alternate, arguments, busy_neighbour, report

from workflow_scripts.clusters.head_distances import mean_distances
from workflow_scripts.core.data.cache import Cache

CACHE = ROOT / "results/demo/minilm/attention/wikipedia.h5"
LAYERS, HEADS, LENGTH = 6, 12, 128
SMOOTHING = 0.001  # of the released code
ROUNDS = 5


def main() -> None:
    """Compare both sides on segments of 128 tokens."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    threads = min(2, os.cpu_count() or 1)
    maps = of_segments(32 if options.full else 8)
    results: dict[str, np.ndarray] = {}

    def ours() -> None:
        results["ours"] = mean_distances(maps.__getitem__, len(maps), SMOOTHING, threads)

    def plain() -> None:
        queries = [pattern.shape[-1] for pattern in maps]
        parts = [released(pattern) for pattern in maps]
        results["released"] = np.average(parts, axis=0, weights=queries)

    sides = {"ours": ours, "released": plain}
    rounds = {"idle": alternate(sides, ROUNDS)}
    with busy_neighbour():
        rounds["beside_a_busy_process"] = alternate(sides, ROUNDS)
    started = time.perf_counter()
    released(maps[0][:1].astype(np.float16))
    half = time.perf_counter() - started
    report(
        "distances",
        rounds["idle"].others,
        ratio={name: times.ratio("released", "ours") for name, times in rounds.items()},
        span={name: times.span("released", "ours") for name, times in rounds.items()},
        max_abs_diff=float(np.abs(results["ours"] - results["released"]).max()),
        detail={
            "maps": str(CACHE.relative_to(ROOT)) if CACHE.exists() else "random",
            "shapes": [list(pattern.shape) for pattern in maps],
            "threads": threads,
            "seconds": {name: times.seconds for name, times in rounds.items()},
            # Measured on one layer's heads; the square of all is that many times as large.
            "float16_seconds": half * len(maps[0]) ** 2,
        },
    )


def released(pattern: np.ndarray) -> np.ndarray:
    """Mean JS over queries by (KL(p, m) + KL(q, m)) / 2 for each ordered pair [heads, heads].

    As in the released code, every head's turn smooths both its own map and all others.
    """
    heads = pattern.reshape(-1, *pattern.shape[2:])
    uniform = SMOOTHING / heads.shape[-1]
    result = np.zeros((len(heads), len(heads)))
    for index in range(len(heads)):
        p = uniform + heads[None, index] * (1 - SMOOTHING)
        q = uniform + heads * (1 - SMOOTHING)
        mixed = (p + q) / 2
        from_p, from_q = p * np.log(p / mixed), q * np.log(q / mixed)
        result[index] = ((from_p + from_q) / 2).sum(axis=-1).mean(axis=-1)
    return result


def of_segments(n: int) -> list[np.ndarray]:
    """Attention maps float32 [layer, head, query, key] of `n` segments."""
    if not CACHE.exists():
        return random_maps(n)
    with Cache(CACHE) as cache:
        return [cache[index].pattern.astype(np.float32) for index in range(n)]


def random_maps(n: int) -> list[np.ndarray]:
    """Attention maps float32 [layer, head, query, key], peaked as real ones."""
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=(n, LAYERS, HEADS, LENGTH, LENGTH)).astype(np.float32)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return list(weights / weights.sum(axis=-1, keepdims=True))


if __name__ == "__main__":
    main()
