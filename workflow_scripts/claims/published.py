"""The files of published values and statements, claims/*.csv, read strictly."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.chapters import SOURCES
from workflow_scripts.core.data.text_files import read_rows
from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    from workflow_scripts.claims.products import Measure

# The files of what is stated about heads of encoders, in the order of the table, and of decoders.
FILES = {
    "encoder": ("clark", "kovaleva", "michel", "niven", "norms"),
    "decoder": ("decoders",),
}
KINDS = ("value", "statement")
RULES = ("above", "below", "not below", "within", "between")
# What a claim needs of a study before our number can be held against it.
NEEDS = ("text", "trees", "mentions", "frames", "task", "arct", "own-head", "bert-large")
NEEDS += ("pairs", "translation", "maps")
# What the sampling interval of the paper's own number is; empty where it is unknown. Instead of
# one of these words a number may stand there: half of the interval's width.
PAPER_INTERVALS = ("", "share", "correlation", "exact")


@dataclass(frozen=True)
class Claim:
    """A published value or statement, and the rule by which it is judged.

    The rule holds where our number is `above` or `below` `value`, `within` `to` of it, `between`
    `value` and `to`, or `not below` it, where an interval that reaches `to` lower is too wide.
    `reference` is where there would be no effect; a measure may bring its own. `contrary` is from
    where on a number speaks against the claim, if not from the reference or `value`.
    """

    id: str
    paper: str
    place: str  # its section, table or figure in the paper
    statement: str
    kind: str  # one of KINDS: a number of the paper's model, or a statement about such models
    model: str
    data: str
    unit: str
    rule: str
    value: float
    to: float | None
    reference: float | None
    needs: tuple[str, ...]
    measure: str  # the function of workflow_scripts/claims that gives our number
    later: str  # a note: other work on the claim, or what had been seen before the rule
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the measure, by column
    shown: str = ""  # the figures and tables that show it, by name, for the claims' page
    view: str = ""  # the view of the atlas behind it, such as measure=syntax.dobj
    source: str = ""  # of SOURCES; empty for the paper itself
    since: str = ""  # the date of the rule's current form
    paper_value: float | None = None  # the paper's own number in `unit`, if not `value`
    paper_n: float | None = None  # what that number was measured on
    paper_interval: str = ""  # of PAPER_INTERVALS, or half of its width in `unit`
    contrary: float | None = None
    central: float | None = None  # its place among the paper's; all are without this column

    @property
    def printed(self) -> float | None:
        """The paper's own number in the unit of the rule; None where the paper has none."""
        within = self.kind == "value" and self.rule == "within"
        return self.value if within and self.paper_value is None else self.paper_value

    @property
    def target(self) -> tuple[float, float]:
        """The interval in which the rule wants our number."""
        infinity = float("inf")
        if self.rule == "above":
            return self.value, infinity
        if self.rule == "below":
            return -infinity, self.value
        to = self.to or 0.0
        if self.rule == "not below":
            return self.value - to, infinity
        return (self.value, to) if self.rule == "between" else (self.value - to, self.value + to)

    def in_words(self) -> str:
        """The rule as a table shows it."""
        words = f"{self.rule} {self.value:g}"
        if self.rule == "within":
            words = f"within {self.to:g} of {self.value:g}" if self.to else f"{self.value:g}"
        elif self.rule == "between":
            words = f"from {self.value:g} to {self.to:g}"
        words = words if self.unit == "" else f"{words} {self.unit}"
        return f"{words} (margin {self.to:g})" if self.rule == "not below" else words


NAMES = tuple(field.name for field in fields(Claim) if field.name != "arguments")
COLUMNS = NAMES[: NAMES.index("shown")]  # the others may be missing
NUMBERS = ("value", "to", "reference", "paper_value", "paper_n", "contrary", "central")


def read(path: Path, measures: Mapping[str, "Measure"]) -> list[Claim]:
    """All claims of the file, in its order; `measures` are those that they may use, by name.

    A column that is none of a claim holds an argument of measures. Raises InputError, with file and
    line, where a column is missing or unknown, an id comes twice, or a cell holds no number, an
    unknown kind, rule, need or measure, or nothing where a measure needs an argument.
    """
    rows = read_rows(path)
    names = next(rows, (0, []))[1]
    parameters = {  # after the study's products
        name: dict([*signature(measure.numbers).parameters.items()][1:])
        for name, measure in measures.items()
    }
    known = {*NAMES}.union(*parameters.values())
    if not {*COLUMNS} <= {*names} <= known or len({*names}) < len(names):
        also = f"; any of {', '.join(sorted(known - {*COLUMNS}))} may follow, each once"
        raise InputError(f"{path}:1: the columns must be {', '.join(COLUMNS)}{also}")
    claims: dict[str, Claim] = {}
    for number, cells in rows:
        where = f"{path}:{number}"
        if len(cells) != len(names):
            raise InputError(
                f"{where}: needs {len(names)} cells; put cells with commas into quotes"
            )
        row = {"central": str(len(claims) + 1)} | dict(zip(names, cells, strict=True))
        claim = _claim(row, parameters, where)
        if claim.id in claims:
            raise InputError(f"{where}: the id {claim.id!r} comes twice; give it another")
        claims[claim.id] = claim
    return list(claims.values())


def _claim(
    row: dict[str, str], measures: Mapping[str, Mapping[str, Parameter]], where: str
) -> Claim:
    choices = {"kind": KINDS, "rule": RULES, "measure": sorted(measures), "source": SOURCES}
    for column, known in choices.items():
        if row.get(column, "") not in known:
            raise InputError(f"{where}: {column} {row[column]!r}; use one of {', '.join(known)}")
    needs = tuple(row["needs"].split())
    if unknown := {*needs} - {*NEEDS}:
        raise InputError(f"{where}: needs {sorted(unknown)}; use some of {', '.join(NEEDS)}")
    numbers = {name: _number(row, name, where) for name in NUMBERS}
    interval, needed = row.get("paper_interval", ""), ["value"]
    if row["rule"] in ("within", "between", "not below"):
        needed.append("to")
    if interval in ("share", "correlation"):
        needed.append("paper_n")
    elif interval not in PAPER_INTERVALS:
        _number(row, "paper_interval", where)
    if empty := [name for name in needed if numbers[name] is None]:
        raise InputError(f"{where}: {empty[0]} is empty; the rule or interval needs a number")
    arguments = _arguments(row, measures[row["measure"]], where)
    known_cells = {name: cell for name, cell in row.items() if name in NAMES}
    claim = Claim(**(known_cells | numbers | {"needs": needs, "arguments": arguments}))
    low, high = claim.target
    if low > high or (claim.rule == "not below" and low > claim.value):
        raise InputError(f"{where}: no number is {claim.in_words()}; correct value and to")
    return claim


def _arguments(
    row: dict[str, str], parameters: Mapping[str, Parameter], where: str
) -> dict[str, Any]:
    """The measure's arguments as its parameters' types have them: several words are a tuple."""
    filled = {name for name, cell in row.items() if cell and name not in NAMES}
    wanted = {name for name, of in parameters.items() if of.default is Parameter.empty}
    if not wanted <= filled <= {*parameters}:
        takes = f"takes {', '.join(parameters) or 'no argument'}"
        raise InputError(f"{where}: {row['measure']} {takes}, not {', '.join(sorted(filled))}")
    arguments: dict[str, Any] = {}
    for name in filled:
        kind, cell = parameters[name].annotation, row[name]
        arguments[name] = cell.split() if kind == tuple[str, ...] else cell
        if kind in (int, float):
            arguments[name] = kind(_number(row, name, where))
    return arguments


def _number(row: dict[str, str], column: str, where: str) -> float | None:
    try:
        number = float(row[column]) if row.get(column) else None
    except ValueError:
        number = math.nan
    if number is not None and not math.isfinite(number):
        raise InputError(f"{where}: {column} {row[column]!r} is no number; write a finite one")
    return number
