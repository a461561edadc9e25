"""Dates that a jumping clock leaves: in the future and in the past."""

import os
import time
from pathlib import Path

from tests.faults.products import ENTROPY, assert_equal, partial
from tests.workflow.tiny_study import TinyStudy

DAY = 86_400
SEGMENTS = "results/tiny/corpora/made-up.jsonl"
TEXT = "texts/0.txt"
NOTHING = "Nothing to be done"


def shift(path: Path, seconds: float) -> None:
    """Date a file so many seconds from now."""
    date = time.time() + seconds
    os.utime(path, (date, date))


def planned(study: TinyStudy) -> str:
    done = study.snakemake("--dry-run", ENTROPY)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_wrong_dates_alone_make_nothing_stale(study: TinyStudy) -> None:
    for path in (study.folder / TEXT, study.folder / "tiny-model/model.safetensors"):
        shift(path, DAY)
    for number, path in enumerate(sorted((study.folder / "results").rglob("*"))):
        if path.is_file():
            shift(path, DAY * (number % 5 - 2))
    assert NOTHING in planned(study)


def test_a_source_from_the_future_is_refused(prepared: TinyStudy, study: TinyStudy) -> None:
    (study.folder / SEGMENTS).unlink()
    shift(study.folder / TEXT, DAY)
    refused = study.snakemake(SEGMENTS)
    assert refused.returncode != 0
    assert "should therefore be fixed on system level" in refused.stderr
    assert not (study.folder / SEGMENTS).exists()
    shift(study.folder / TEXT, 0)
    study.run(SEGMENTS)
    assert NOTHING in planned(study)
    assert_equal(study, prepared, SEGMENTS)
    assert partial(study) == []
