"""What docs/results.md states of claims' words, written down a second time."""

import math
from collections.abc import Mapping

from tests.claims.independent.study import Case


def is_own(row: Mapping[str, str], model: str, translator: bool) -> bool:
    """Whether a claim's number is of the paper's own model, or of the data alone."""
    paper = "Transformer-big" if translator and "pairs" in row["needs"].split() else model
    return row["model"] == "" or row["model"].split(" (")[0] == paper


def verdict(
    row: Mapping[str, str],
    number: Case,
    model: str,
    data: Mapping[str, str],
    translator: bool,
) -> str:
    """The word for a number by a row of claims/*.csv.

    `model` is the paper's name of the study's model, if it has one; `data` states what of the data
    is not real; with `translator` the translator is the paper's.
    """
    needs, own = row["needs"].split(), is_own(row, model, translator)
    if not number.comparable or any(lacks(need, number, model, data, translator) for need in needs):
        return "not tested"
    ranged = row["rule"] in ("within", "between")
    if row["kind"] == "value" and not own and ranged and not row["reference"]:
        return "not tested"
    if any(math.isnan(x) for x in (number.value, number.low, number.high)):
        return "inconclusive"
    fits, misses = position(row, number)
    if own:
        return "reproduced" if fits else "not reproduced" if misses else "inconclusive"
    if row["kind"] == "statement" and fits:
        return "carries over"
    if ranged and misses:
        return "does not carry over"
    if ranged and not row["reference"]:
        return "carries over" if fits else "inconclusive"
    towards = side(row, number)
    if towards < 0:
        return "does not carry over"
    return "carries over" if fits and towards > 0 else "inconclusive"


def shown_untrained(row: Mapping) -> bool:
    """Whether by a printed row with a bound copies with random weights show its claim, too."""
    if row["direction"] == "above":
        met, training = row["untrained_high"] > row["rule_low"], row["ci_low"]
        copies = row["untrained_high"]
    else:
        met, training = row["untrained_low"] < row["rule_high"], row["ci_high"]
        copies = row["untrained_low"]
    made_by_training = (training - copies) / (training - row["contrary"])
    return met and made_by_training <= 0.5


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


def side(row: Mapping[str, str], number: Case) -> int:
    """1 where the interval lies on the paper's side of what would contradict it, -1 beyond it."""
    value, upwards = float(row["value"]), row["rule"] in ("above", "not below")
    if row["rule"] in ("within", "between"):
        middle = value if row["rule"] == "within" else (value + float(row["to"])) / 2
        upwards = middle > float(row["reference"])
    end = value if number.reference is None else number.reference
    if row["reference"] and number.reference is None:
        end = float(row["reference"])
    if row["contrary"]:
        end = float(row["contrary"])
    elif not row["reference"] and number.reference is None and number.bounds:
        one = number.bounds - 1e-3  # less than one of what is counted is no effect; six digits
        most = 100 if row["unit"][:1] == "%" else math.inf
        end = max(end - one, 0) if upwards else min(end + one, most)
    if upwards:
        return -1 if number.high <= end else int(number.low > end)
    return -1 if number.low >= end else int(number.high < end)
