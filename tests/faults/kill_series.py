"""Random series of kills of a whole run, each compared with an undisturbed run byte for byte.

python -m tests.faults.kill_series FOLDER --series 1 2 3 4 5 6 7

Each series runs a part of the tiny study, meets a random process of the run at a random time with
SIGKILL, SIGTERM or SIGSTOP, starts the run again, and so on; the last start runs to its end.
"""

import argparse
import os
import random
import signal
import time
from pathlib import Path

from tests.core.tiny_models import save_bert
from tests.faults.processes import Started, session
from tests.faults.products import assert_equal, partial
from tests.workflow.tiny_study import TinyStudy

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP)
# What holds measured times (docs/provenance.md).
MEASURED = ("michel2019-table4", "claims", "overview.rst")
LONGEST = 1800  # seconds until the jobs that go on have ended
# Of each kind one: a figure of caches, a fine-tuned classifier, heads disabled in it, a translator.
TARGETS = [
    "results/tiny/tiny/figures/clark2019-fig4.svg",
    "results/tiny/tiny/tables/kovaleva2019-table1.csv",
    "results/tiny/tiny/figures/kovaleva2019-fig8.svg",
    "results/tiny/tables/michel2019-translation-table1.csv",
]


def disturb(study: TinyStudy, chance: random.Random, targets: list[str]) -> str:
    """Start the study, meet it with a signal, and wait until no process of it is left."""
    run = Started(study, *targets)
    time.sleep(chance.uniform(2, 20))
    processes = session(run.process.pid)
    if not processes:
        return "it had ended"
    met, sent = chance.choice(processes), chance.choice(SIGNALS)
    whom = "snakemake" if met == run.process.pid else "a job"
    os.kill(met, sent)
    if sent == signal.SIGSTOP:  # as if the machine hung; then all is gone, as at a loss of power
        time.sleep(chance.uniform(0, 3))
        for pid in session(run.process.pid):
            os.kill(pid, signal.SIGKILL)
    run.process.wait(LONGEST)
    while session(run.process.pid):  # jobs may outlive snakemake
        time.sleep(0.1)
    return f"{sent.name} of {whom}"


def series(new: TinyStudy, folder: Path, seed: int, starts: int, targets: list[str]) -> TinyStudy:
    """The study `new`, run in another folder to its end after `starts` disturbed starts."""
    chance = random.Random(seed)
    study = new.copy(folder)
    for number in range(starts):
        print(f"series {seed}, start {number + 1}: {disturb(study, chance, targets)}", flush=True)
        assert study.snakemake("--unlock").returncode == 0
    study.run(*targets)
    assert partial(study) == []
    return study


def compare(study: TinyStudy, undisturbed: TinyStudy) -> int:
    """The number of products, all equal but for those that hold measured times."""
    ours, theirs = products(study), products(undisturbed)
    assert ours == theirs, ours ^ theirs
    assert_equal(study, undisturbed, *sorted(ours))
    return len(ours)


def products(study: TinyStudy) -> set[str]:
    """The files in the results, as paths from the study's folder, but those with times."""
    files = (path.relative_to(study.folder) for path in (study.folder / "results").rglob("*"))
    return {
        str(path)
        for path in files
        if (study.folder / path).is_file()
        and not {"logs", "benchmarks"} & set(path.parts)
        and path.name != ".snakemake_timestamp"
        and not any(name in path.name for name in MEASURED)
    }


def main() -> None:
    """Run the undisturbed study, then each series; AssertionError where a product differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--series", type=int, nargs="+", default=[1])
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--targets", nargs="+", default=TARGETS, help="all: the whole study")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    new = TinyStudy(arguments.folder / "new", save_bert(arguments.folder / "model"))
    undisturbed = new.copy(arguments.folder / "undisturbed")
    undisturbed.run(*arguments.targets)
    for seed in arguments.series:
        folder = arguments.folder / f"series-{seed}"
        study = series(new, folder, seed, arguments.starts, arguments.targets)
        print(f"series {seed}: {compare(study, undisturbed)} products equal", flush=True)


if __name__ == "__main__":
    main()
