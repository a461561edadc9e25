"""Dates that a jumping clock leaves: in the future, in the past, and in the wrong order."""

import os
import time
from pathlib import Path

from tests.faults.products import ENTROPY, assert_equal, error_lines, partial
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


def test_an_edit_is_seen_after_the_clock_was_set_back(
    prepared: TinyStudy, study: TinyStudy
) -> None:
    """The products are of tomorrow, the text is edited today."""
    for path in (study.folder / "results").rglob("*"):
        if path.is_file():
            shift(path, DAY)
    text = study.folder / TEXT
    earlier = text.read_text()
    text.write_text(earlier + "\nmore words are here , and more of them are near .\n")
    refused = study.snakemake(ENTROPY)
    assert refused.returncode != 0
    (line,) = error_lines(refused.stderr)
    assert line.startswith(f"Error: {TEXT}: differs from what results/tiny/corpora/made-up")
    assert line.endswith(f"touch {TEXT}, and run again")
    text.write_text(earlier)
    assert NOTHING in planned(study)
    assert_equal(study, prepared, ENTROPY)


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
