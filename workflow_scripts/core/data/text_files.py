"""Text files, read strictly: in their encoding or an error that names the line."""

import gzip
from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.run.errors import InputError


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without its end. BOM, CRLF and .gz are accepted.

    Raises InputError, with file and line, at a byte that is not in the encoding, and for a missing
    file.
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
