"""SHA-256 of files and directories; a large file is read again only when it has changed.

Its digest is kept in `.snakemake/digests/` of the working directory, where Snakemake works there,
together with what the file system states of the file. Nobody can set a ctime, so that an edit is
noticed also where the dates were put back. Damage below the file system has no date: `anew` reads.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

LARGE = 4 * 2**20  # smaller files are read each time, which takes 3 ms
FOLDER = Path(".snakemake/digests")
MARK = ".snakemake_timestamp"  # the file by which Snakemake marks a directory as made
CACHES = "__pycache__"  # what Python writes next to modules that it has imported
LISTING = ".sha256"  # the ending of the list of a directory product's files and their digests
PARTIAL = ".part"  # the ending of what is being written


def sha256(path: Path, anew: bool = False) -> str:
    """Hex digest of a file; of a directory, over its files by name. `anew` trusts no memory."""
    return sha256_of_files(path, files(path), anew) if path.is_dir() else _file_digest(path, anew)


def sha256_of_files(directory: Path, chosen: Iterable[Path], anew: bool = False) -> str:
    """Hex digest over some files of a directory, their names and contents, in the order given."""
    total = hashlib.sha256()
    for file in chosen:
        line = f"{file.relative_to(directory).as_posix()}\0{_file_digest(file, anew)}\n"
        total.update(os.fsencode(line))
    return total.hexdigest()


def files(directory: Path) -> list[Path]:
    """All files of a directory by name, also deeper ones, but what Snakemake and Python add."""
    found = {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}
    kept = (name for name in found if name.name != MARK and CACHES not in name.parts)
    return [found[name] for name in sorted(kept, key=Path.as_posix)]


def write_list(directory: Path) -> Path:
    """Write the digests of a directory product's files next to it, as sha256sum does; the path."""
    lines = (
        f"{sha256(file)}  {directory.name}/{file.relative_to(directory).as_posix()}\n"
        for file in files(directory)
    )
    path = directory.with_name(directory.name + LISTING)
    replace(path, os.fsencode("".join(lines)))
    return path


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(path.name + PARTIAL)
    partial.write_bytes(content)
    os.replace(partial, path)


def prune() -> None:
    """Forget the files that are gone."""
    for entry in FOLDER.glob("*"):
        known = _content(entry)
        if known is None or not Path(known["path"]).exists():
            entry.unlink(missing_ok=True)


def _file_digest(path: Path, anew: bool) -> str:
    with path.open("rb") as file:  # to open also makes a network's file system ask its server
        stamp = _stamp(file)
        if stamp[0] <= LARGE:
            return _read(file)
        known = None if anew else _content(_entry(path))
        if known is not None and known["stamp"] == stamp:
            return known["sha256"]
        digest = _read(file)
        if _stamp(file) == stamp:
            _remember(path, stamp, digest)
    return digest


def _read(file: BinaryIO) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(file: BinaryIO) -> list[int]:
    """What changes with every edit of a file: its size, inode, and times in nanoseconds."""
    state = os.fstat(file.fileno())
    return [state.st_size, state.st_ino, state.st_mtime_ns, state.st_ctime_ns]


def _entry(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()
    return FOLDER / f"{name[:32]}.json"


def _content(entry: Path) -> dict[str, Any] | None:
    """What an entry of the memory holds; None where there is none or it is damaged."""
    try:
        return json.loads(entry.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _remember(path: Path, stamp: dict[str, int], digest: str) -> None:
    if not FOLDER.parent.is_dir():
        return
    known = {"path": str(path.absolute()), "stamp": stamp, "sha256": digest}
    with suppress(OSError):  # another job was quicker, the disk is full: it is then read again
        FOLDER.mkdir(exist_ok=True)
        replace(_entry(path), json.dumps(known).encode())
