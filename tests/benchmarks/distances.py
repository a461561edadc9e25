"""All-pairs Jensen-Shannon divergence against the released formula in plain numpy.

Both sides see segments of the default study's cache, or random maps where it was not run yet. The
plain side goes head by head over the full square with both logarithms. `float16_seconds` is its
time on maps in the type in which caches store them.
"""

import time

import numpy as np
import torch
from common import ROOT, alternate, arguments, report

from workflow_scripts.clusters.head_distances import distances
from workflow_scripts.core.data.cache import Cache

CACHE = ROOT / "results/demo/minilm/attention/wikipedia.h5"
LAYERS, HEADS, LENGTH = 6, 12, 128
SMOOTHING = 0.001  # of the released code


def main() -> None:
    """Compare both sides on segments of 128 tokens."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    torch.set_num_threads(2)
    maps = of_segments(4 if options.full else 1)
    rounds = alternate(
        {
            "ours": lambda: [distances(pattern, smoothing=SMOOTHING) for pattern in maps],
            "released": lambda: [released(pattern) for pattern in maps],
        },
        rounds=5,
    )
    difference = max(
        np.abs(distances(pattern, smoothing=SMOOTHING) - released(pattern)).max()
        for pattern in maps
    )
    started = time.perf_counter()
    released(maps[0][:1].astype(np.float16))
    half = time.perf_counter() - started
    report(
        "distances",
        rounds.others,
        ratio=rounds.ratio("released", "ours"),
        span=rounds.span("released", "ours"),
        max_abs_diff=float(difference),
        detail={
            "maps": str(CACHE.relative_to(ROOT)) if CACHE.exists() else "random",
            "shapes": [list(pattern.shape) for pattern in maps],
            "seconds": rounds.seconds,
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
