"""SHA-256 of files and directories; a large file is read again only when it has changed.

Its digest is kept in `.snakemake/digests/` of the working directory, where Snakemake works there,
together with what the file system states of the file. Nobody can set a ctime, so that an edit is
noticed also where the dates were put back. Damage below the file system has no date: `anew` reads.
"""

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

# Smaller files are read each time, which takes 3 ms.
LARGE = 4 * 2**20
FOLDER = Path(".snakemake/digests")
# The file by which Snakemake marks a directory as made.
MARK = ".snakemake_timestamp"
# What Python writes next to modules that it has imported.
CACHES = "__pycache__"
# The ending of the list of a directory product's files and their digests, next to it.
LISTING = ".sha256"


def sha256(path: Path, anew: bool = False) -> str:
    """Hex digest of a file; of a directory, over its files by name. `anew` trusts no memory."""
    return sha256_of_files(path, files(path), anew) if path.is_dir() else _of_file(path, anew)


def sha256_of_files(directory: Path, chosen: Iterable[Path], anew: bool = False) -> str:
    """Hex digest over some files of a directory, their names and contents, in the order given."""
    total = hashlib.sha256()
    for file in chosen:
        line = f"{file.relative_to(directory).as_posix()}\0{_of_file(file, anew)}\n"
        total.update(os.fsencode(line))
    return total.hexdigest()


def files(directory: Path) -> list[Path]:
    """All files of a directory by name, also deeper ones, but what Snakemake and Python add."""
    found = {path.relative_to(directory): path for path in directory.rglob("*") if path.is_file()}
    kept = (name for name in found if name.name != MARK and CACHES not in name.parts)
    return [found[name] for name in sorted(kept, key=Path.as_posix)]


def listing(directory: Path, name: str) -> str:
    """The digests of the files in a directory product called `name`, as sha256sum writes them."""
    lines = (
        f"{sha256(file)}  {name}/{file.relative_to(directory).as_posix()}\n"
        for file in files(directory)
    )
    return "".join(lines)


def moved(old: Path, new: Path) -> None:
    """Remember what was known of a file or directory under its new name: that sets a file's ctime.

    To be called by who renamed it, at once.
    """
    for file in files(new) if new.is_dir() else [new]:
        before, now = _recalled(old / file.relative_to(new)), _stamp(file.stat())
        if before is not None and now | {"ctime": 0} == before["stamp"] | {"ctime": 0}:
            _remember(file, now, before["sha256"])
            _entry(old / file.relative_to(new)).unlink(missing_ok=True)


def prune() -> None:
    """Forget the files that are gone."""
    for entry in FOLDER.glob("*"):
        known = _content(entry)
        if known is None or not Path(known["path"]).exists():
            entry.unlink(missing_ok=True)


def _of_file(path: Path, anew: bool) -> str:
    with path.open("rb") as file:  # to open also makes a network's file system ask its server
        stamp = _stamp(os.fstat(file.fileno()))
        if stamp["size"] <= LARGE:
            return _read(file)
        known = None if anew else _recalled(path)
        if known is not None and known["stamp"] == stamp:
            return known["sha256"]
        _wait_for_next_tick(stamp["ctime"])
        digest = _read(file)
        if _stamp(os.fstat(file.fileno())) == stamp:
            _remember(path, stamp, digest)
    return digest


def _read(file: BinaryIO) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(state: os.stat_result) -> dict[str, int]:
    """What changes with every edit of a file; times in nanoseconds."""
    of = {"size": state.st_size, "inode": state.st_ino}
    return of | {"mtime": state.st_mtime_ns, "ctime": state.st_ctime_ns}


def _wait_for_next_tick(ctime: int) -> None:
    """Wait until an edit has another ctime: the clock of a file system may tick in seconds."""
    tick = 20_000_000 if ctime % 1_000_000_000 else 1_000_000_000
    time.sleep(min(max(ctime + tick - time.time_ns(), 0), tick) / 1e9)


def _entry(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()
    return FOLDER / f"{name[:32]}.json"


def _recalled(path: Path) -> dict[str, Any] | None:
    return _content(_entry(path))


def _content(entry: Path) -> dict[str, Any] | None:
    """What an entry of the memory holds; None where there is none or it is damaged."""
    try:
        found = json.loads(entry.read_text(encoding="utf-8"))
        return {key: found[key] for key in ("path", "stamp", "sha256")}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remember(path: Path, stamp: dict[str, int], digest: str) -> None:
    """Write an entry whole or not at all: other jobs read and write at the same time."""
    if not FOLDER.parent.is_dir():
        return
    entry = _entry(path)
    partial = entry.with_name(f"{uuid.uuid4().hex}.part")
    known = {"path": str(path.absolute()), "stamp": stamp, "sha256": digest}
    with suppress(OSError):  # a full disk or another user's folder: it is then read again
        FOLDER.mkdir(exist_ok=True)
        partial.write_text(json.dumps(known), encoding="utf-8")
        os.replace(partial, entry)
