"""All-pairs Jensen-Shannon divergence against the released formula in plain numpy.

The plain side goes head by head over the full square with both logarithms. `float16_seconds` is
the plain side's time on maps in the type in which the released code stores them.
"""

import time

import numpy as np
import torch
from common import alternate, arguments, ratio, report

from workflow_scripts.clusters.distances import distances

LAYERS, HEADS, LENGTH = 6, 12, 128
SMOOTHING = 0.001  # of the released code


def main() -> None:
    """Compare both sides on segments of 128 tokens."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    torch.set_num_threads(2)
    maps = made_up(4 if options.full else 1)
    seconds = alternate(
        {
            "ours": lambda: [distances(one, smoothing=SMOOTHING) for one in maps],
            "released": lambda: [released(one) for one in maps],
        },
        repeats=5,
    )
    difference = max(
        np.abs(distances(one, smoothing=SMOOTHING) - released(one)).max() for one in maps
    )
    started = time.perf_counter()
    released(maps[0][:1].astype(np.float16))
    half = time.perf_counter() - started
    report(
        "distances",
        ratio=ratio(seconds, "released", "ours"),
        max_abs_diff=float(difference),
        detail={
            "segments": len(maps),
            "heads": LAYERS * HEADS,
            "tokens": LENGTH,
            "seconds": seconds,
            # Measured on one layer's heads; the square of all is LAYERS**2 times as large.
            "float16_seconds": half * LAYERS**2,
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
        one = uniform + heads[None, index] * (1 - SMOOTHING)
        others = uniform + heads * (1 - SMOOTHING)
        mixed = (one + others) / 2
        to_mixed = one * np.log(one / mixed)
        from_mixed = others * np.log(others / mixed)
        result[index] = ((to_mixed + from_mixed) / 2).sum(axis=-1).mean(axis=-1)
    return result


def made_up(n: int) -> list[np.ndarray]:
    """Attention maps float32 [layer, head, query, key], peaked as real ones."""
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=(n, LAYERS, HEADS, LENGTH, LENGTH)).astype(np.float32)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return list(weights / weights.sum(axis=-1, keepdims=True))


if __name__ == "__main__":
    main()
