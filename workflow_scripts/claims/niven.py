"""Our numbers for the claims of Niven and Kao 2019."""

import math
from itertools import product

import pandas as pd

from workflow_scripts.arguments.measures import PREDICTIONS, WORD_PREDICTIONS
from workflow_scripts.claims.intervals import share
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.stats.intervals import INDEPENDENT, bootstrap_mean

SETUPS = {"full": "C, R, W", "W": "W", "RW": "R, W", "CW": "C, W"}
RUNS = {"all": "all runs", "not degenerate": "without degenerate runs"}
FAMILIES = ("BERT", "BoV", "BiLSTM")
TITLES = {name.lower(): name for name in FAMILIES}
DRAWS = 10_000  # bootstrap samples


def reported_split(splits: pd.Series) -> str:
    """The split on which results are reported: the test set, or dev where there is none."""
    return "test" if (splits == "test").any() else "dev"


def cue(products: Products, of: str) -> list[Measured]:
    """Productivity or coverage of "not" in percent; `of` is like "train productivity".

    They are counts of the data set itself, so exact. The reference of productivity is chance.
    """
    split, measure = of.split()
    row = products.row("niven2019-table2", data="original", split=split, cue="not")
    right, of_all = {
        "productivity": ("productive", "applicable"),
        "coverage": ("applicable", "n"),
    }[measure]
    n, value = int(row[of_all]), 100 * row[right] / row[of_all]
    reference = 50.0 if measure == "productivity" else None
    return [Measured(value, value, value, n, "points", reference=reference)]


def arct_accuracy(products: Products, of: str) -> list[Measured]:
    """Accuracy in percent; `of` is like "table3 BERT W max": a table, a family, inputs, a column.

    The interval of the mean is over runs where they differ, else over points; other columns have
    none. The reference is chance.
    """
    table, family, setup, column = of.split()
    row = _row(products, table, family, setup)
    number = _mean(row) if column == "mean" else Measured(row[column], math.nan, math.nan)
    return [
        Measured(
            number.value,
            number.low,
            number.high,
            int(row["n"]),
            "points",
            seeds=int(row["runs"]),
            reference=50.0,
            about=f"{row['split']} set",
        )
    ]


def degenerate_runs(products: Products, of: str) -> list[Measured]:
    """Percent of runs on all of the input that are degenerate."""
    row = _row(products, "table3", of, "full")
    runs, failed = int(row["runs"]), int(row["degenerate"])
    return [Measured(100 * failed / runs, *share(failed, runs), runs, "runs", seeds=runs)]


def left_to_arguments(products: Products, of: str) -> list[Measured]:
    """Points that all of the input gains over warrants alone, for each family.

    On the original points of the last split, the mean over runs; the interval resamples points, the
    same for both.
    """
    rows = products.all_of(WORD_PREDICTIONS, PREDICTIONS, named="arguments/*.original*")
    rows = rows[(rows["trained_on"] == "original") & (rows["version"] == "original")]
    rows = rows[rows["split"] == reported_split(rows["split"])]
    right = (rows["logit_1"] > rows["logit_0"]) == (rows["label"] == 1)
    by_point = right.groupby([rows["family"], rows["setup"], rows["id"]]).mean().unstack("setup")
    numbers = []
    for family, points in by_point.groupby(level="family"):
        percent = 100 * points[["full", "W"]].to_numpy()
        ends = bootstrap_mean(percent[:, 0] - percent[:, 1], DRAWS, 1, INDEPENDENT)
        full, warrants = percent.mean(axis=0)
        about = f"{rows['split'].iloc[0]} set, {full:.1f} and {warrants:.1f}"
        seeds = rows[rows["family"] == family]["seed"].nunique()
        case = TITLES[str(family)]
        numbers.append(Measured(*map(float, ends), len(points), "points", case, seeds, about=about))
    return numbers


def adversarial(products: Products, of: str) -> list[Measured]:
    """Accuracy in percent on the adversarial set; `of` is what the models are trained on."""
    table = products.rows("niven2019-table4", trained_on=of)
    names = {title: name for name, title in SETUPS.items()}
    numbers = []
    for family, setup in product(FAMILIES, SETUPS.values()):
        rows = table[(table["model"] == family) & (table["setup"] == setup)]
        for _, row in rows.iterrows():
            number = _mean(row)
            ends = number.value, number.low, number.high
            about = f"{row['split']} set"
            numbers.append(_per_family(ends, row, f"{family} {names[setup]}", about))
    return numbers


def easy_points(products: Products, of: str) -> list[Measured]:
    """Of the points right in every run, BERT's percentage with "not" minus that of the others.

    All of the input, on the last of the study's splits; all runs and, where some are degenerate,
    the others. Of the authors' own predictions too, where the study has them.
    """
    rows = products.rows("niven2019-easy", measure="cue among always right")
    rows = rows[(rows["setup"] == SETUPS["full"]) & rows["bert_minus"].notna()]
    last = rows.groupby("source")["split"].transform(reported_split)
    numbers = []
    for row in rows[rows["split"] == last].itertuples():
        ends = (100 * x for x in (row.bert_minus, row.bert_minus_low, row.bert_minus_high))
        about = f"{row.n} points of {row.model}, {row.split}"
        case = f"{row.source}, {row.model}, {RUNS[row.runs]}"
        n = int(row.n_points)
        numbers.append(Measured(*ends, n, "points", case, int(row.n_runs), about=about))
    return numbers


def _per_family(ends: tuple, row: pd.Series, case: str, about: str) -> Measured:
    return Measured(*ends, int(row["n"]), "points", case, int(row["runs"]), about=about)


def _row(products: Products, table: str, family: str, setup: str) -> pd.Series:
    wanted = {"model": family, "setup": SETUPS[setup]}
    if table == "table4":
        wanted["trained_on"] = "negated"
    return products.row(f"niven2019-{table}", **wanted)


def _mean(row: pd.Series) -> Measured:
    """The mean over runs; its interval covers the choice of points and of runs.

    It is Wilson's interval over the points, or the mean's over the runs where that is wider.
    """
    value, n, runs = float(row["mean"]), int(row["n"]), int(row["runs"])
    low, high = share(round(value / 100 * n), n)
    half = 1.96 * row["sd"] / math.sqrt(runs) if runs > 1 else 0.0
    return Measured(value, min(low, value - half), max(high, value + half), n)


MEASURES = (cue, arct_accuracy, degenerate_runs, left_to_arguments, adversarial, easy_points)
