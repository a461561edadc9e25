"""Digests of large files: computed once, and again after every edit, whatever its date."""

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance, verify
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

SIZE = 70 * 2**20


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read to digest them, in a directory where Snakemake works."""
    monkeypatch.chdir(tmp_path)
    Path(".snakemake").mkdir()
    names: list[str] = []
    read = digests._read
    monkeypatch.setattr(digests, "_read", lambda file: (names.append(file.name), read(file))[1])
    return names


def large(path: Path, size: int = SIZE) -> Path:
    """A sparse file."""
    path.write_bytes(b"a")
    os.truncate(path, size)
    return path


def flip(path: Path, place: int = -1) -> None:
    """Change a byte, and put the date back."""
    dates = path.stat()
    with path.open("r+b") as file:
        file.seek(place % dates.st_size)
        file.write(b"!")
    os.utime(path, ns=(dates.st_atime_ns, dates.st_mtime_ns))


def test_a_large_file_is_read_once(reads: list[str]) -> None:
    path = large(Path("file"))
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [digests.of(path) for _ in range(3)] == [expected] * 3
    assert digests.of(path.absolute()) == expected
    assert reads == ["file"]
    assert digests.of(path, anew=True) == expected
    assert reads == ["file", "file"]


@pytest.mark.parametrize("memory", [".snakemake", "elsewhere"])
def test_the_digest_of_a_directory_is_over_its_files_by_name(reads: list[str], memory: str) -> None:
    Path(".snakemake").rename(memory)
    folder = Path("folder")
    (folder / "inner").mkdir(parents=True)
    large(folder / "inner/weights")
    (folder / "config").write_text("{}")
    first = digests.of(folder)
    (folder / digests.MARK).touch()
    assert digests.of(folder) == first
    assert reads.count("folder/inner/weights") == (1 if memory == ".snakemake" else 2)
    flip(folder / "inner/weights")
    second = digests.of(folder)
    (folder / "config").write_text("[]")
    assert len({first, second, digests.of(folder)}) == 3


def replace(path: Path) -> None:
    """Put a file of the same size and date in place of another."""
    dates = path.stat()
    other = large(path.with_name("other"))
    flip(other)
    os.utime(other, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    os.replace(other, path)


@pytest.mark.parametrize("edit", [flip, replace])
def test_an_edit_whose_date_was_put_back_is_noticed(
    reads: list[str], edit: Callable[[Path], None]
) -> None:
    path = large(Path("file"))
    before, dates = digests.of(path), path.stat()
    edit(path)
    assert path.stat().st_mtime_ns == dates.st_mtime_ns
    assert digests.of(path) == hashlib.sha256(path.read_bytes()).hexdigest() != before


def test_edits_at_once_are_noticed(reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Faster than the clocks of many file systems tick."""
    monkeypatch.setattr(digests, "LARGE", 0)
    path = Path("file")
    for number in range(20):
        path.write_text(f"{number:02}")
        assert digests.of(path) == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"sha256": "x"}'])
def test_a_damaged_memory_is_written_anew(reads: list[str], damage: str) -> None:
    path = large(Path("file"), digests.LARGE + 1)
    expected = digests.of(path)
    (entry,) = digests.FOLDER.iterdir()
    entry.write_text(damage)
    assert [digests.of(path), digests.of(path)] == [expected] * 2
    assert len(reads) == 2


def test_a_memory_that_cannot_be_written_is_done_without(reads: list[str]) -> None:
    digests.FOLDER.write_text("no directory")
    path = large(Path("file"), digests.LARGE + 1)
    assert digests.of(path) == digests.of(path)
    assert len(reads) == 2


def test_jobs_at_once_write_one_whole_memory(reads: list[str]) -> None:
    path = large(Path("file"), digests.LARGE + 1)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: digests.of(path), range(40)))
    assert found == {digests.of(path)}
    assert [entry.suffix for entry in digests.FOLDER.iterdir()] == [".json"]


def save(folder: Out, card: Out) -> None:
    """A step with a large checkpoint of which it writes the digest on a card."""
    (folder / "inner").mkdir(parents=True)
    large(folder / "inner/weights")
    card.write_text(digests.of(folder))


def measure(folder: Path, made: Out) -> None:
    """A step that reads it."""
    made.write_text("measured")


def test_a_checkpoint_is_digested_once_for_all_jobs(reads: list[str]) -> None:
    """By the job that writes it, under another name; a file that is a product alike."""
    results = Path("results/tiny")
    job.call(save, {"folder": results / "weights", "card": results / "card"})
    job.call(copy, {"folder": results / "weights", "made": results / "file"})
    for name in ("a", "b"):
        job.call(measure, {"folder": results / "weights", "made": results / name})
        job.call(measure, {"folder": results / "file", "made": results / name})

    def large_reads() -> list[str]:
        return [name for name in reads if name.endswith(("/weights", "file.part", "file"))]

    assert large_reads() == ["results/tiny/weights.part/inner/weights", "results/tiny/file.part"]
    known = len(list(digests.FOLDER.iterdir()))
    assert known == 2
    assert verify.verify(results) == []  # which reads anew
    assert len(large_reads()) == 4


def copy(folder: Path, made: Out) -> None:
    """A step with a large file."""
    large(made)


@pytest.mark.parametrize("place", [0, 3, SIZE // 2, -1])
def test_a_changed_byte_of_a_large_product_is_refused(reads: list[str], place: int) -> None:
    results = Path("results/tiny")
    job.call(save, {"folder": results / "weights", "card": results / "card"})
    flip(results / "weights/inner/weights", place)
    with pytest.raises(InputError, match="results/tiny/weights: is not what its job wrote"):
        job.call(measure, {"folder": results / "weights", "made": results / "a"})
    assert verify.verify(results) == [f"{results}/weights: differs from its record"]


def test_what_is_gone_is_forgotten(reads: list[str]) -> None:
    for name in ("kept", "gone"):
        digests.of(large(Path(name), digests.LARGE + 1))
    (digests.FOLDER / "torn.part").write_text("{")
    Path("gone").unlink()
    provenance.prune(Path("results"))
    digests.of(Path("kept"))
    assert len(reads) == 2
    assert len(list(digests.FOLDER.iterdir())) == 1
