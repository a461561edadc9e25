"""Changed inputs whose dates do not tell that they changed."""

import os
from pathlib import Path

import pytest

from workflow_scripts.core.integrity import provenance
from workflow_scripts.core.run import job
from workflow_scripts.core.run.dates import check_dates
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out

RESULTS = Path("results")
FIRST, SECOND = RESULTS / "a/one", RESULTS / "two"
SOURCE = Path("source.txt")


def step(text: Path, made: Out) -> None:
    made.write_text(text.read_text() + "!")


def folder_of(text: Path, made: Out) -> None:
    made.mkdir()
    (made / "inner").write_text(text.read_text())


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source, a product of it and a product of that, dated in this order."""
    monkeypatch.chdir(tmp_path)
    SOURCE.write_text("one")
    job.call(step, {"text": SOURCE, "made": FIRST})
    job.call(step, {"text": FIRST, "made": SECOND})
    for number, path in enumerate((SOURCE, FIRST, SECOND)):
        os.utime(path, (1000 + number, 1000 + number))


def test_dates_in_any_order_of_unchanged_files() -> None:
    check_dates(RESULTS)
    for path in (SOURCE, FIRST):
        os.utime(path, (5000, 5000))
        check_dates(RESULTS)
    os.utime(SECOND, (1, 1))
    check_dates(RESULTS)


def test_a_source_that_is_dated_later_is_snakemakes_own_concern() -> None:
    SOURCE.write_text("two")
    check_dates(RESULTS)


@pytest.mark.parametrize("date", [1, 1001])
def test_a_changed_source_that_is_not_dated_later(date: int) -> None:
    SOURCE.write_text("two")
    os.utime(SOURCE, (date, date))
    with pytest.raises(InputError, match=r"source.txt: differs from what results/a/one was made"):
        check_dates(RESULTS)


def test_an_intermediate_product_made_anew_with_the_clock_set_back() -> None:
    SOURCE.write_text("two")
    job.call(step, {"text": SOURCE, "made": FIRST})
    os.utime(SOURCE, (900, 900))
    os.utime(FIRST, (901, 901))
    with pytest.raises(InputError, match="results/a/one: differs from what results/two was made"):
        check_dates(RESULTS)
    job.call(step, {"text": FIRST, "made": SECOND})
    check_dates(RESULTS)


def test_a_product_that_is_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, reader = RESULTS / "folder", RESULTS / "reader"
    job.call(folder_of, {"text": SOURCE, "made": folder})
    (folder / provenance.MARK).touch()

    def read(folder: Path, made: Out) -> None:
        made.write_text((folder / "inner").read_text())

    job.call(read, {"folder": folder, "made": reader})
    check_dates(RESULTS)
    SOURCE.write_text("two")
    job.call(folder_of, {"text": SOURCE, "made": folder})
    (folder / provenance.MARK).touch()
    os.utime(folder, (1, 1))  # Snakemake reads the date of the mark
    check_dates(RESULTS)
    os.utime(folder / provenance.MARK, (1, 1))
    with pytest.raises(InputError, match="results/folder: differs"):
        check_dates(RESULTS)


def test_files_that_are_gone_are_no_concern() -> None:
    SOURCE.unlink()
    check_dates(RESULTS)
    SECOND.unlink()
    check_dates(RESULTS)


def test_of_a_large_source_the_size_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "CHECKED_BYTES", 2)
    SOURCE.write_text("two")
    os.utime(SOURCE, (1, 1))
    check_dates(RESULTS)  # of equal size
    SOURCE.write_text("three")
    os.utime(SOURCE, (1, 1))
    with pytest.raises(InputError, match=r"source.txt: differs"):
        check_dates(RESULTS)
