"""Digests of large files: computed once, and again after every edit, whatever its date."""

import hashlib
import os
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

SIZE = digests.LARGE + 1


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read to digest them, in a directory where Snakemake works."""
    monkeypatch.chdir(tmp_path)
    Path(".snakemake").mkdir()
    names: list[str] = []
    read = digests._read
    monkeypatch.setattr(digests, "_read", lambda file: (names.append(file.name), read(file))[1])
    return names


def large(path: Path) -> Path:
    """A sparse file."""
    path.write_bytes(b"a")
    os.truncate(path, SIZE)
    return path


def flip(path: Path) -> None:
    """Change the last byte, and put the date back."""
    dates = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"!")
    os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


def test_a_large_file_is_read_once_and_again_after_an_edit_whose_date_was_put_back(
    reads: list[str],
) -> None:
    path = large(Path("file"))
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [digests.sha256(path), digests.sha256(path.absolute())] == [expected] * 2
    assert reads == ["file"]
    assert digests.sha256(path, anew=True) == expected
    assert reads == ["file", "file"]
    flip(path)
    assert digests.sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest() != expected


def test_the_digest_of_a_directory_is_over_its_files_by_name(reads: list[str]) -> None:
    folder = Path("folder")
    (folder / "inner").mkdir(parents=True)
    large(folder / "inner/weights")
    (folder / "config").write_text("{}")
    first = digests.sha256(folder)
    (folder / digests.MARK).touch()
    assert digests.sha256(folder) == first
    assert reads.count("folder/inner/weights") == 1
    flip(folder / "inner/weights")
    second = digests.sha256(folder)
    (folder / "config").write_text("[]")
    assert len({first, second, digests.sha256(folder)}) == 3


def save(folder: Out) -> None:
    """A step with a large checkpoint."""
    folder.mkdir()
    large(folder / "weights")


def measure(folder: Path, made: Out) -> None:
    """A step that reads it."""
    made.write_text("measured")


def test_a_checkpoint_is_read_once_for_all_jobs_and_refused_after_an_edit(reads: list[str]) -> None:
    results = Path("results/tiny")
    job.call(save, {"folder": results / "weights"})
    for name in ("a", "b"):
        job.call(measure, {"folder": results / "weights", "made": results / name})
    assert reads.count("results/tiny/weights/weights") == 1
    assert provenance.verify(results) == []  # which reads anew
    flip(results / "weights/weights")
    with pytest.raises(InputError, match="results/tiny/weights: is not what its job wrote"):
        job.call(measure, {"folder": results / "weights", "made": results / "a"})
    assert provenance.verify(results) == [f"{results}/weights: differs from its record"]
