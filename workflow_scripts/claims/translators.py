"""The rows of translators that claims are judged by, and what all their numbers have in common."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

import pandas as pd

from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.model.sublayers import TYPES
from workflow_scripts.translation.measures import CURVES

CROSS = "encoder-decoder"
SCORE = ("score", "ci_low", "ci_high")
LEAST = 10.0  # BLEU from which on a model counts as translating

Measure = Callable[[Products, str], list[Measured]]


def base_bleu(products: Products, of: str) -> list[Measured]:
    """BLEU of the intact translator; the interval resamples sentences."""
    numbers = []
    for run, rows in curves(products, "all"):
        row = rows.loc[rows["pruned"] == 0].iloc[0]
        numbers.append(over_sentences([row[name] for name in SCORE], row, run))
    return numbers


def curves(
    products: Products, scope: str, strategy: str = "importance"
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and its curve of BLEU, pruned in an order."""
    rows = products.all_of(CURVES)
    rows = rows[(rows["strategy"] == strategy) & (rows["metric"] == "bleu")]
    for run, of_run in rows[rows["scope"] == scope].groupby("run", sort=False):
        yield str(run), of_run


def case_of(run: object, part: str = "") -> str:
    """A run, and what of it is meant, for people; printed tables have the seed as a number."""
    words = f"seed {run}" if str(run).isdigit() else str(run)
    return f"{words}, {part}" if part else words


def minus_type(other: str) -> str:
    """Encoder-decoder attention minus another type, for people."""
    return f"{TYPES[CROSS]} minus {TYPES[other]}"


def over_sentences(
    ends: Iterable[float], row: Any, run: str, part: str = "", about: str = "", interval: str = ""
) -> Measured:
    """A number of a run, or of a part of it, with its interval over sentences."""
    more = {"about": about, "run": run, "interval": interval}
    return Measured(*ends, int(row["n"]), "sentences", case_of(run, part), **more)


def of_translators(measure: Measure) -> Measure:
    """The measure, whose number is not comparable where the intact model hardly translates."""

    @wraps(measure)
    def numbers(products: Products, of: str) -> list[Measured]:
        bleu = {number.run: number.value for number in base_bleu(products, "")}
        return [
            replace(number, not_comparable=f"a model of {found:.1f} BLEU hardly translates")
            if (found := bleu[number.run]) < LEAST
            else number
            for number in measure(products, of)
        ]

    return numbers
