"""Every published value and statement next to our number, with a verdict."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.claims import clark, decoders, kovaleva, michel, niven, norms
from workflow_scripts.claims.numbers import paper_number
from workflow_scripts.claims.power import power
from workflow_scripts.claims.products import MEASURES, TITLES, NotMeasured, Products, is_one_of
from workflow_scripts.claims.published import Claim, read
from workflow_scripts.claims.verdicts import (
    CARRIES,
    FAILS,
    INCONCLUSIVE,
    INSIDE,
    NO_RULE,
    NOT_REPRODUCED,
    OTHER_MODEL,
    OUTSIDE,
    REPRODUCED,
    TOO_WIDE,
    UNTRAINED,
    Measured,
    lies,
    opposite,
    untrained_shows,
    word,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job

# Their measures are entered as they are imported.
PAPERS = (clark, kovaleva, michel, niven, norms, decoders)
# Architecture, layers, heads and width of the papers' models.
PUBLISHED_MODELS = {("bert", 12, 12, 768): "BERT-base", ("bert", 24, 16, 1024): "BERT-large"}
# Columns of the table, by the field of a number that they hold.
OF_NUMBER = {"ours": "value", "ci_low": "low", "ci_high": "high"}
OF_NUMBER |= {"interval": "interval", "n": "n", "n_of": "of", "seeds": "seeds"}
OF_NUMBER |= {"reference": "reference", "about": "about"}
OF_CASE = ["task", "run"]  # what the case is of, by the study's names
LIES = {CARRIES: INSIDE, FAILS: OUTSIDE, INCONCLUSIVE: TOO_WIDE}
TRANSLATOR = "Transformer-big (WMT14, English to French)"  # the paper has another for epochs
NEITHER = " (no number is both)"  # of a rule whose low end is above the high one
APPLIED = ("rule_low", "rule_high", "power")  # of a rule, where it is applied
NO_ERROR = "without its sampling error"  # of a paper's number whose interval is unknown
WHY_NOT = {
    "own-head": "the masked-LM head is fitted, not the checkpoint's own",
    "translation": "the paper's translator is a Transformer-big for WMT14 En-Fr",
    "bert-large": "the paper's model is BERT-large",
}


@dataclass(frozen=True)
class Comparability:
    """What decides whether a number of the study may be held against a claim."""

    model: str  # the paper's name of the model, or our own
    data: Mapping[str, str]  # real, silver or generated, by what claims need and by task
    translator: bool = False  # whether the translator and its test set are the paper's own

    def why_not(self, claim: Claim, measured: Measured) -> str:
        """Why the number cannot be compared; empty where it can."""
        if measured.because:
            return measured.because
        met = {"bert-large": self.model == "BERT-large", "translation": self.translator}
        met["own-head"] = measured.own_head
        for need in claim.needs:
            kind = self.data.get(measured.task if need == "task" else need, "real")
            if need in WHY_NOT:
                if not met[need]:
                    return WHY_NOT[need]
            elif kind == "machine":
                return f"the {need} were annotated by an AI model, not by people"
            elif kind != "real":
                return f"{kind} {'data' if need in ('task', 'arct') else need}"
        return ""

    def rests_on(self, claim: Claim) -> str:
        """What our number is of: what the paper measured, or another model."""
        if not claim.model:
            return "the study's data"
        model = TRANSLATOR if self.translator and "pairs" in claim.needs else self.model
        return "the paper's model" if model == claim.model else OTHER_MODEL


def evaluate(
    claim: Claim, products: Products, comparability: Comparability
) -> list[dict[str, Any]]:
    """A row for each case of a claim: our number, and the word for it."""
    measure = MEASURES[claim.measure]
    rests_on, because = comparability.rests_on(claim), measure.if_none
    try:
        found = measure.numbers(products.only(*measure.tables), **claim.arguments)
        numbers = [found] if isinstance(found, Measured) else list(found or ())
    except NotMeasured as missing:
        numbers, because = [], f"not in this study: {missing}"
    if not numbers:
        return [row_of(claim, None, because, rests_on)]
    return [row_of(claim, one, comparability.why_not(claim, one), rests_on) for one in numbers]


def add_untrained(
    rows: list[dict[str, Any]], claim: Claim, copies: list[Products], comparability: Comparability
) -> None:
    """Add the range of the numbers of untrained copies of the model, case by case.

    A claim that they show, too, is not shown by the model's number.
    """
    found = [row for products in copies for row in evaluate(claim, products, comparability)]
    for row in rows:
        same = [each for each in found if each["case"] == row["case"] and each["lies"]]
        numbers = [each["ours"] for each in same]
        row["untrained_low"] = min(numbers, default=None)
        row["untrained_high"] = max(numbers, default=None)
        if row["verdict"] in (CARRIES, REPRODUCED) and untrained_shows(claim, row, len(numbers)):
            row |= {"verdict": INCONCLUSIVE, "because": UNTRAINED}


def paper_scores(claim: Claim) -> str | None:
    """The word for the paper's own number, if it has one; judged as exact without an interval."""
    number = paper_number(claim)
    if number is None:
        return None
    found = REPRODUCED if lies(claim, number) == INSIDE else NOT_REPRODUCED
    return found if claim.paper_interval else f"{found}, {NO_ERROR}"


def row_of(claim: Claim, measured: Measured | None, because: str, rests_on: str) -> dict[str, Any]:
    """A row of the table; `because` is why the number cannot test the claim, or is missing."""
    names = ("id", "paper", "place", "central", "kind", "statement")
    row: dict[str, Any] = {name: getattr(claim, name) for name in names}
    row |= {"paper_model": claim.model, "paper_data": claim.data}
    row |= {"paper_value": claim.printed, "paper_n": claim.paper_n}
    low, high = (end if math.isfinite(end) else None for end in claim.target)
    row |= {"rule": claim.in_words(), "rule_low": low, "rule_high": high}
    row |= {"unit": claim.unit, "rule_since": claim.since, "paper_scores": paper_scores(claim)}
    row["case"] = None
    if measured:  # its run and part, or its task
        run = f"seed {measured.run}" if measured.run.isdigit() else measured.run
        row["case"] = ", ".join(filter(None, (run, measured.case))) or TITLES.get(measured.task, "")
    row |= {column: getattr(measured, name, None) for column, name in OF_NUMBER.items()}
    row |= {"rests_on": rests_on, "lies": measured and lies(claim, measured)}
    row["direction"], row["contrary"] = opposite(claim, measured) if measured else ("", None)
    row["power"] = power(claim, measured) if measured else None
    # On another model a number's baseline is part of what is applied.
    both = bool(measured) and claim.kind == "value" and rests_on == OTHER_MODEL
    if both and claim.rule in ("within", "between"):
        if row["direction"]:
            row["rule"] += f", and {row['direction']} {row['contrary']:g}, its baseline"
            end, inner = ("rule_low", max) if row["direction"] == "above" else ("rule_high", min)
            row[end] = inner(row[end], row["contrary"])
            row["rule"] += "" if row["rule_low"] <= row["rule_high"] else NEITHER
        else:
            row |= {"rule": NO_RULE, "lies": ""} | dict.fromkeys(APPLIED)
    if measured and measured.reference is None:
        row["reference"] = claim.reference
    row["verdict"], row["because"] = word(row | {"because": because})
    if both and row["lies"] and row["verdict"] in LIES:
        row["lies"] = LIES[row["verdict"]]
    row |= {"later": claim.later, "source": claim.source}
    return row | {name: getattr(measured, name, "") for name in OF_CASE}


def files_read(published: Iterable[Path], files: Iterable[str]) -> list[str]:
    """Those of the files that the measures of the claims in `published` read."""
    measures = {claim.measure for path in published for claim in read(path, MEASURES)}
    tables = [table for name in measures for table in MEASURES[name].tables]
    return [file for file in files if is_one_of(file, tables)]


def main(
    published: list[Path],
    model: Path,
    products: list[Path],
    table: job.Out,
    cases: job.Out,
    data: dict,
    translator: bool = False,
    untrained: list[Path] = (),
) -> None:
    """Write the table of verdicts, and the task and translator of each of its rows (`cases`).

    `data` gives the origin of each kind of data. `translator` states that the study's translator
    and its test set are the paper's. `untrained` are products of copies with random weights, in a
    folder for each.
    """
    card = read_card(model)
    size = tuple(card[key] for key in ("architecture", "n_layers", "n_heads", "hidden_size"))
    comparability = Comparability(PUBLISHED_MODELS.get(size, card["name"]), data, translator)
    found = Products(products)
    folders = groupby(sorted(untrained), lambda path: path.parents[1])
    copies = [Products(list(paths)) for _, paths in folders]
    rows = []
    for claim in (claim for path in published for claim in read(path, MEASURES)):
        of_claim = evaluate(claim, found, comparability)
        add_untrained(of_claim, claim, copies, comparability)
        rows += of_claim
    frame = pd.DataFrame(rows)
    counts = ["n", "seeds", "paper_n", "central"]
    frame[counts] = frame[counts].astype("Int64")
    tables.write_csv(frame.drop(columns=OF_CASE).assign(model=card["name"]), table)
    tables.write(frame[["id", "case", *OF_CASE]].fillna({"case": ""}), cases)


if __name__ == "__main__":
    job.run(main, globals())
