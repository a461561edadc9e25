"""What the benchmarks share: both sides in turn, medians, and one JSON line at the end."""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# A benchmark runs as a script, so the repository's root is not on the path yet.
sys.path.insert(0, str(ROOT))


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help="larger sizes and more repeats")
    return parser


def alternate(
    sides: dict[str, Callable[[], Any]], repeats: int, warm_up: bool = True
) -> dict[str, list[float]]:
    """Seconds of each side, run in turn `repeats` times, after one warm-up each where asked.

    Every other round runs in the opposite order, so that no side always comes second.
    """
    for side in sides.values() if warm_up else ():
        side()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(repeats):
        for name in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            started = time.perf_counter()
            sides[name]()
            seconds[name].append(time.perf_counter() - started)
    return seconds


def ratio(seconds: dict[str, list[float]], above: str, below: str) -> float:
    """Ratio of the medians of two sides."""
    return statistics.median(seconds[above]) / statistics.median(seconds[below])


def rounded(value: Any) -> Any:
    """Numbers with four significant digits, in dicts and lists too."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def report(benchmark: str, **results: Any) -> None:
    """Print the benchmark's last line."""
    print(json.dumps({"benchmark": benchmark} | rounded(results)))
