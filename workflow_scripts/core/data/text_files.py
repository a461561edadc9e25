"""Lines of text files, read strictly or with an error for a line."""

import csv
import gzip
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
csv.field_size_limit(2**31 - 1)  # a field may hold a book
CSV_QUOTED = re.compile(r'"(?=.*"".*")(?:[^"]|"")+"')  # as pandas writes a text with quotes
MOST_DIGITS = 9  # of a whole number; Python limits what it converts, too, but at thousands


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line, without its end. BOM, CRLF and .gz are accepted.

    Raises InputError for a byte that is not in the encoding, for a NUL character, and for a file
    that is missing or cannot be read to its end.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                    if raw.startswith(LFS_POINTER):
                        raise InputError(f"{path}:1: a pointer of Git LFS; run `git lfs pull`")
                yield number, _decode(raw, path, number, encoding).rstrip("\r\n")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; correct the path") from error
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); copy it again") from error


def read_rows(
    path: Path, delimiter: str = ",", encoding: str = "utf-8"
) -> Iterator[tuple[int, list[str]]]:
    """Number of the last line, and fields, of each row of a file that is quoted as CSV.

    Blank lines are no rows. Raises InputError, with file and line, for a quote that does not end
    and for a field that goes on after its quote, as well as where `read_lines` does.
    """
    lines = (f"{line}\n" for _, line in read_lines(path, encoding))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    started = 1  # the line in which the current row starts
    try:
        for fields in reader:
            if fields:
                yield reader.line_num, fields
            started = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}:{started}: not a row of CSV ({error}); fix its quotes") from error


def read_table(
    path: Path, quoted: bool = True, encoding: str = "utf-8"
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number, and value by column, of each row below the header of a CSV file.

    Where it is not `quoted`, its fields are between tabs and have quotes as they are. Raises
    InputError where `read_rows` does, for a row of another length and for a name that stands twice.
    """
    if quoted:
        rows = read_rows(path, encoding=encoding)
    else:
        rows = ((number, line.split("\t")) for number, line in read_lines(path, encoding) if line)
    names = next(rows, (1, [""]))[1]
    if len(set(names)) < len(names):
        raise InputError(f"{path}:1: two columns have one name; rename one")
    for number, fields in rows:
        if len(fields) != len(names):
            raise InputError(
                f"{path}:{number}: {len(fields)} columns where the header has {len(names)}; fix "
                "the row"
            )
        yield number, dict(zip(names, fields, strict=True))


def read_objects(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and JSON object of each line but blank ones. Raises InputError for another."""
    lines = read_lines(path, encoding)
    for number, line in ((number, line) for number, line in lines if line.strip()):
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}:{number}: not JSON ({error}); fix the line") from error
        if not isinstance(values, dict):
            raise InputError(f"{path}:{number}: no JSON object; write columns and their values")
        yield number, values


def check_header(path: Path, names: Sequence[str], needed: Sequence[str]) -> None:
    """Raise InputError unless each `needed` column is once among the `names` in a file's header."""
    for column in needed:
        if names.count(column) != 1:
            raise InputError(
                f"{path}:1: {names.count(column)} columns {column!r}; one of each of "
                f"{', '.join(needed)} is needed, separated by tabs"
            )


def whole_number(text: str) -> int | None:
    """The number that `text` writes in at most MOST_DIGITS of the digits 0 to 9, else None."""
    plain = text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
    return int(text) if plain else None


def _decode(raw: bytes, path: Path, number: int, encoding: str) -> str:
    try:
        text = raw.decode(encoding)
    except LookupError as error:
        raise InputError(f"{path}: {error}; correct the key encoding of this source") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}:{number}: byte 0x{raw[error.start]:02x} at column {error.start + 1} is not "
            f"{encoding.upper()}; convert the file to UTF-8, as by iconv -f latin1 -t utf-8"
        ) from error
    if "\0" in text:
        raise InputError(f"{path}:{number}: a NUL character; convert the file to UTF-8")
    return text
