"""Text files, read strictly: UTF-8 or an error that names the line."""

from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.errors import InputError


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without its end. A BOM and CRLF are accepted.

    Raises InputError, with file and line, at a byte that is not UTF-8 and for a missing file.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                yield number, _decode(raw, path, number).rstrip("\r\n")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; correct the path") from error


def _decode(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InputError(
            f"{path}:{number}: byte 0x{byte:02x} at column {error.start + 1} is not UTF-8; "
            "convert the file to UTF-8"
        ) from error
