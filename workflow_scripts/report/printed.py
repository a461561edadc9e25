"""A printed table as people read it: its cells as text, and as a LaTeX table."""

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.errors import InputError

LONG = 40  # rows from which a LaTeX table may be cut at the end of a page
WIDE = 40  # characters from which a column's lines are broken
SPECIAL = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}", "]": "{]}"}
    | {"−": "$-$", "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\rightarrow$"}
)
YES_NO = {"True": "yes", "False": "no"}


def read(path: Path) -> pd.DataFrame:
    """A CSV table with every cell as it is written. Raises InputError where it is damaged."""
    try:
        return tables.read_csv(path, dtype=str).fillna("")
    except (ValueError, pd.errors.ParserError) as error:
        raise InputError(f"{path}: not a table ({error}); delete it and run again") from error


def is_number(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, and nothing else apart from empty cells."""
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_number(cell) is not None for cell in filled)


def rounded(cells: Sequence[str]) -> list[str]:
    """A column of numbers with the same number of decimals, about four digits of the largest.

    No decimals are added to those written. A small number that would become 0 keeps two digits.
    """
    numbers = [_number(cell) for cell in cells]
    written = max((_decimals(cell) for cell in cells), default=0)
    largest = max((abs(number) for number in numbers if number is not None), default=0.0)
    if written == 0:
        return list(cells)
    wanted = 3 - math.floor(math.log10(largest)) if largest else 1
    decimals = min(written, max(1, min(wanted, 4)))
    return [_round(number, decimals) for number in numbers]


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The table for people: rounded numbers, and yes and no."""
    shown = frame.copy()
    for name in frame:
        cells = frame[name].tolist()
        words = [YES_NO.get(cell, cell) for cell in cells]
        shown[name] = rounded(cells) if is_number(cells) else words
    return shown


def latex(frame: pd.DataFrame, title: str, label: str) -> str:
    """The table in LaTeX, for the packages booktabs and, where it is long, longtable.

    All cells of `frame` are text. Columns of numbers are set to the right.
    """
    columns = "".join(_alignment(frame[name].tolist()) for name in frame)
    long = len(frame) > LONG
    shown = frame.rename(columns=lambda name: str(name).replace("_", " "))
    style = shown.style.hide(axis="index").format(_cell).format_index(escaped, axis="columns")
    text = style.to_latex(
        hrules=True,
        column_format=columns,
        caption=escaped(title),
        label=f"tab:{label}",
        environment="longtable" if long else None,
        position_float=None if long else "centering",
    )
    packages = "\\usepackage{booktabs,longtable}" if long else "\\usepackage{booktabs}"
    return f"% Needs {packages}\n{text}"


def _alignment(cells: Sequence[str]) -> str:
    if is_number(cells):
        return "r"
    return "p{5cm}" if max(map(len, cells), default=0) > WIDE else "l"


def escaped(text: str) -> str:
    """Text with all characters escaped that mean something to LaTeX.

    Brackets too: at the beginning of a row they would be read as an argument of the row's end.
    """
    return text.translate(SPECIAL)


def _cell(text: str) -> str:
    """An escaped cell; the minus of a number is no hyphen."""
    minus = text.startswith("-") and _number(text) is not None
    return f"$-${escaped(text[1:])}" if minus else escaped(text)


def _number(cell: str) -> float | None:
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _decimals(cell: str) -> int:
    if "e" in cell.lower():
        return 6
    return len(cell.partition(".")[2])


def _round(number: float | None, decimals: int) -> str:
    if number is None:
        return ""
    text = f"{number:.{decimals}f}"
    return f"{number:.1e}" if number and float(text) == 0 else text
