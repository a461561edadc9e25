"""What the benchmarks share: sides in turn, ratios by round, the load of others, one JSON line."""

import argparse
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[1]
# A benchmark runs as a script, so the repository's root is not on the path yet.
sys.path.insert(0, str(ROOT))
STAT = Path("/proc/stat")
IDLE = 0.1  # cores; with less than that kept busy by others, the machine counts as idle
SAME_KERNELS = "_same_kernels"  # ends the names of plain sides with our kernels, and their ratios


@dataclass(frozen=True)
class Busy:
    """Seconds since some moment: of the clock, and of all cores busy for anyone or for us."""

    clock: float
    anyone: float | None  # None where the system does not report it
    own: float  # this process and its finished children

    @classmethod
    def now(cls) -> Self:
        """As it stands."""
        own = sum(os.times()[:4])
        anyone = busy_seconds(STAT.read_text(encoding="ascii")) if STAT.exists() else None
        return cls(time.perf_counter(), anyone, own)

    def others_since(self, start: Self) -> float | None:
        """How many cores other processes kept busy on average since `start`."""
        if self.anyone is None or start.anyone is None:
            return None
        others = (self.anyone - start.anyone) - (self.own - start.own)
        return max(0.0, others / (self.clock - start.clock))


@dataclass(frozen=True)
class Rounds:
    """Seconds of each side, round by round, and the cores that other processes kept busy."""

    seconds: dict[str, list[float]]
    others: float | None

    def ratios(self, above: str, below: str) -> list[float]:
        """Ratio of two sides in each round."""
        pairs = zip(self.seconds[above], self.seconds[below], strict=True)
        return [upper / lower for upper, lower in pairs]

    def ratio(self, above: str, below: str) -> float:
        """Median over rounds of the ratio of two sides."""
        return statistics.median(self.ratios(above, below))

    def span(self, above: str, below: str) -> list[float]:
        """Lowest and highest ratio of all rounds."""
        ratios = self.ratios(above, below)
        return [min(ratios), max(ratios)]

    def over_ours(self, plain: Sequence[str]) -> dict[str, dict[str, Any]]:
        """`ratio` and `span` of each plain side over ours, and those with the same kernels.

        The latter are missing where `machine.with_same_kernels` added no sides.
        """
        results: dict[str, dict[str, Any]] = {}
        for end in ("", SAME_KERNELS):
            if ran := [name for name in plain if f"{name}{end}" in self.seconds]:
                results[f"ratio{end}"] = {name: self.ratio(f"{name}{end}", "ours") for name in ran}
                results[f"span{end}"] = {name: self.span(f"{name}{end}", "ours") for name in ran}
        return results


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--full", action="store_true", help="larger sizes and more rounds")
    return parser


def alternate(sides: dict[str, Callable[[], Any]], rounds: int, warm_up: bool = True) -> Rounds:
    """The sides run in turn in each of `rounds`, after one warm-up each where asked.

    Every other round runs in the opposite order, so that no side always comes second.
    """
    for side in sides.values() if warm_up else ():
        side()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    before = Busy.now()
    for turn in range(rounds):
        for name in list(sides)[:: 1 if turn % 2 == 0 else -1]:
            started = time.perf_counter()
            sides[name]()
            seconds[name].append(time.perf_counter() - started)
    return Rounds(seconds, Busy.now().others_since(before))


def busy_seconds(stat: str) -> float:
    """Seconds that all cores were not idle, from the text of /proc/stat."""
    # user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user and nice.
    ticks = [int(field) for field in stat.splitlines()[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_peak() -> int:
    """Peak memory of this process alone, in kB.

    On Linux not ru_maxrss: a child starts with the peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:")))
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size // 1024 if sys.platform == "darwin" else size


def rounded(value: Any) -> Any:
    """Numbers with four significant digits, in dicts and lists too."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def report(benchmark: str, others: float | None, **results: Any) -> None:
    """Print the benchmark's last line, and a line before it where the machine was not idle.

    `others` is the number of cores that other processes kept busy meanwhile.
    """
    if others is not None and others > IDLE:
        print(f"The machine was not idle: other processes kept {others:.2f} cores busy.")
    print(json.dumps({"benchmark": benchmark} | rounded(results | {"busy_others": others})))
