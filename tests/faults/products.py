"""The products of the small study, and whether they are those of an undisturbed run."""

import shutil
from pathlib import Path

import numpy as np

from tests.attention.builders import open_cache
from tests.workflow.tiny_study import TinyStudy

MODEL = "results/tiny/tiny"
CACHE = f"{MODEL}/attention/made-up.h5"
ENTROPY = f"{MODEL}/surface/entropy.parquet"
TABLE = f"{MODEL}/tables/clark2019-broad.csv"
FIGURE = f"{MODEL}/figures/clark2019-fig4.svg"
CHECKPOINT = f"{MODEL}/checkpoints/mrpc.finetuned.1"
EXAMPLES = "results/tiny/tasks/mrpc.jsonl"
OF_TRAINING = (f"{CHECKPOINT}.curve.csv", f"{CHECKPOINT}.json")


def assert_equal(study: TinyStudy, undisturbed: TinyStudy, *paths: str) -> None:
    """The products at `paths` are the same in both studies: caches by value, others by byte."""
    for path in paths:
        ours, theirs = study.folder / path, undisturbed.folder / path
        if path.endswith(".h5"):
            _assert_equal_caches(ours, theirs)
        elif theirs.is_dir():
            assert _names(ours) == _names(theirs)
            for name in _names(theirs):
                assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
        else:
            assert ours.read_bytes() == theirs.read_bytes(), path


def partial(study: TinyStudy) -> list[str]:
    """What jobs have begun to write and not put in place, below the results."""
    results = study.folder / "results"
    return sorted(str(path.relative_to(study.folder)) for path in results.rglob("*.part*"))


def remove(path: Path) -> None:
    """Remove a product, a file or a folder."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def error_lines(printed: str) -> set[str]:
    """The one-line errors in what a run has printed."""
    lines = (line.strip() for line in printed.splitlines())
    return {line for line in lines if line.startswith("Error: ")}


def _names(folder: Path) -> set[str]:
    hidden = (".snakemake_timestamp", ".provenance")
    return {path.name for path in folder.iterdir() if path.name not in hidden}


def _assert_equal_caches(ours: Path, theirs: Path) -> None:
    with open_cache(ours) as a, open_cache(theirs) as b:
        assert (a.ids, a.meta) == (b.ids, b.meta)
        for one, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(one.ids, other.ids)
            np.testing.assert_array_equal(one.pattern, other.pattern)
