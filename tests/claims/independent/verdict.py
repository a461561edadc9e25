"""What docs/chapters/claims.md states of verdicts, written down a second time."""

import math
from collections.abc import Mapping

from tests.claims.independent.study import Case

OF_STUDY = ("BoV", "BiLSTM")  # trained by every study, so that they are the paper's own models


def verdict(
    row: Mapping[str, str],
    number: Case,
    model: str,
    data: Mapping[str, str],
    translator: bool,
) -> str:
    """The verdict on a number by a row of claims/*.csv.

    `model` is the paper's name of the study's model, if it has one; `data` states what of the data
    is not real; with `translator` the translator is the paper's.
    """
    needs = row["needs"].split()
    if not number.comparable or any(lacks(need, number, model, data, translator) for need in needs):
        return "not comparable"
    if any(math.isnan(x) for x in (number.value, number.low, number.high)):
        return "cannot tell"
    own = row["model"] in ("", *OF_STUDY)
    paper = "Transformer-big" if translator and "pairs" in needs else model
    own = own or row["model"].split(" (")[0] == paper
    reference = number.reference
    if reference is None and row["reference"]:
        reference = float(row["reference"])
    if row["rule"] in ("within", "between") and not row["reference"]:
        reference = None  # ours does not say which side of it is the paper's
    if row["kind"] == "value" and not own:
        if reference is None:
            return "not comparable"
        sides = {1: "same direction", 0: "cannot tell", -1: "does not hold here"}
        return sides[side(row, number, reference)]
    fits, misses = position(row, number)
    if fits:
        return "reproduced" if own else "holds here"
    if reference is not None and side(row, number, reference) > 0:
        return "same direction"
    if misses:
        return "not reproduced" if own else "does not hold here"
    return "cannot tell"


def lacks(need: str, number: Case, model: str, data: Mapping[str, str], translator: bool) -> bool:
    """Whether the study lacks what a claim needs."""
    known = {"own-head": number.own_head, "bert-large": model == "BERT-large"}
    known["translation"] = translator
    if need in known:
        return not known[need]
    return data.get(number.task if need == "task" else need, "real") != "real"


def position(row: Mapping[str, str], number: Case) -> tuple[bool, bool]:
    """Whether the interval lies where the rule wants the number, and whether it lies outside."""
    value, low, high = float(row["value"]), number.low, number.high
    to = float(row["to"]) if row["to"] else math.nan
    little = 1e-9
    if row["rule"] == "above":
        return low > value, high <= value
    if row["rule"] == "below":
        return high < value, low >= value
    if row["rule"] == "not below":
        return high >= value and low >= value - to - little, high < value
    first, last = (value, to) if row["rule"] == "between" else (value - to, value + to)
    fits = first - little <= low and high <= last + little
    if row["rule"] == "within" and low <= value <= high:
        fits = fits or max(high - number.value, number.value - low) <= to + little
    return fits, high < first - little or low > last + little


def side(row: Mapping[str, str], number: Case, reference: float) -> int:
    """1 where the interval lies on the paper's side of the reference, -1 on the other, else 0."""
    value, upwards = float(row["value"]), row["rule"] in ("above", "not below")
    if row["rule"] in ("within", "between"):
        middle = value if row["rule"] == "within" else (value + float(row["to"])) / 2
        upwards = middle > float(row["reference"])
    above, below = number.low > reference, number.high < reference
    if not upwards:
        above, below = below, above
    return int(above) - int(below)
