"""All-pairs Jensen-Shannon divergence against the released formula in plain numpy.

Both sides see segments of the default study's cache, or random maps where it was not run yet. Ours
has one thread and as many as there are cores, up to two. `slowdown` is its time next to other
processes that keep all cores but one busy over its time without them, round by round; `ratio` is
the plain side's time over ours, with and without them. The plain side goes head by head over the
full square with both logarithms. `float16_seconds` is its time on maps in the type in which caches
store them.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial

import numpy as np
from common import ROOT, Rounds, alternate, arguments, neighbours, report

from workflow_scripts.clusters.head_distances import MeanDistances
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card

CACHES = sorted(ROOT.glob("results/demo/*/attention/wikipedia.h5"))
LAYERS, HEADS, LENGTH = 6, 12, 128
SMOOTHING = 0.001  # of the released code
ROUNDS, LOADED_ROUNDS = 5, 15


def main() -> None:
    """Compare both sides on segments of 128 tokens."""
    options = arguments(__doc__.splitlines()[0]).parse_args()
    cores = os.cpu_count() or 1
    threads = min(2, cores)
    maps = of_segments(32 if options.full else 8)
    results: dict[str, np.ndarray] = {}

    def ours(n: int = threads) -> None:
        means = MeanDistances(SMOOTHING, n)
        for pattern in enumerate(maps):
            means.add(*pattern)
        results["ours"] = means.mean()

    def plain() -> None:
        queries = [pattern.shape[-1] for pattern in maps]
        parts = [released(pattern) for pattern in maps]
        results["released"] = np.average(parts, axis=0, weights=queries)

    sides = {"ours": ours, "released": plain}
    rounds = {"idle": alternate(sides, ROUNDS)}
    with neighbours(max(1, cores - 1)) as busy:
        with busy():
            rounds["next_to_busy_processes"] = alternate(sides, ROUNDS)
        load = under_load(ours, range(1, threads + 1), busy)
    started = time.perf_counter()
    released(maps[0][:1].astype(np.float16))
    half = time.perf_counter() - started
    report(
        "distances",
        rounds["idle"].others,
        ratio={name: times.ratio("released", "ours") for name, times in rounds.items()},
        span={name: times.span("released", "ours") for name, times in rounds.items()},
        slowdown={f"{n}_threads": load.ratio(f"{n} busy", f"{n}") for n in range(1, threads + 1)},
        slowdown_span={
            f"{n}_threads": load.span(f"{n} busy", f"{n}") for n in range(1, threads + 1)
        },
        max_abs_diff=float(np.abs(results["ours"] - results["released"]).max()),
        detail={
            "maps": str(CACHES[0].relative_to(ROOT)) if CACHES else "random",
            "shapes": [list(pattern.shape) for pattern in maps],
            "threads": threads,
            "seconds": {name: times.seconds for name, times in rounds.items()},
            "seconds_by_threads": load.seconds,
            # Measured on one layer's heads; the square of all is that many times as large.
            "float16_seconds": half * len(maps[0]) ** 2,
        },
    )


def under_load(
    ours: Callable[[int], None],
    threads: Iterable[int],
    busy: Callable[[], AbstractContextManager[None]],
) -> Rounds:
    """Our side with each number of threads, alone (`1`) and next to busy processes (`1 busy`)."""
    sides: dict[str, Callable[[], None]] = {}

    def when_busy(n: int) -> None:
        with busy():
            ours(n)

    for n in threads:
        sides |= {f"{n}": partial(ours, n), f"{n} busy": partial(when_busy, n)}
    return alternate(sides, LOADED_ROUNDS)


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
    if not CACHES:
        return random_maps(n)
    with Cache(CACHES[0], read_card(CACHES[0].with_name("model.json"))) as cache:
        return [cache[index].pattern.astype(np.float32) for index in range(n)]


def random_maps(n: int) -> list[np.ndarray]:
    """Attention maps float32 [layer, head, query, key], peaked as real ones."""
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=(n, LAYERS, HEADS, LENGTH, LENGTH)).astype(np.float32)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return list(weights / weights.sum(axis=-1, keepdims=True))


if __name__ == "__main__":
    main()
