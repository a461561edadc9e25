"""Text files: which a path names, and their lines, read strictly or with an error for a line."""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

from workflow_scripts.core.run.errors import InputError


def files_at(path: Path, endings: Iterable[str], recursive: bool = False) -> list[Path]:
    """The file at `path` or, in a directory, the files with one of `endings`, sorted by name.

    Raises InputError if there is none.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or directory; correct the path")
    inside = path.rglob("*") if recursive else path.iterdir()
    files = sorted(file for file in inside if file.name.endswith(tuple(endings)))
    if not files:
        raise InputError(f"{path}: no {', '.join(endings)} file; put one there")
    return files


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without its end. BOM, CRLF and .gz are accepted.

    Raises InputError, with file and line, for a byte that is not in the encoding, and for a
    missing file.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                yield number, _decode(raw, path, number, encoding).rstrip("\r\n")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; correct the path") from error
    except (gzip.BadGzipFile, EOFError) as error:
        raise InputError(f"{path}: not a complete gzip file ({error}); copy it again") from error


def _decode(raw: bytes, path: Path, number: int, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InputError(
            f"{path}:{number}: byte 0x{byte:02x} at column {error.start + 1} is not "
            f"{encoding.upper()}; convert the file to UTF-8"
        ) from error
