"""Our numbers for the claims of Niven and Kao 2019."""

import math
from typing import Any

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.arguments.measures import PREDICTIONS, SCORES
from workflow_scripts.claims.numbers import CONFIDENCE, share, share_number
from workflow_scripts.claims.products import Cases, NotMeasured, Products, measure
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.tables import where
from workflow_scripts.core.data.tasks import last_split
from workflow_scripts.core.stats.bootstrap import CONFIDENCE as ENDS
from workflow_scripts.core.stats.bootstrap import observed_and_resampled

SETUPS = {"full": "C, R, W", "W": "W", "RW": "R, W", "CW": "C, W"}
READS_CLAIM = ("full", "CW")  # the others are right on exactly half of the adversarial set
RUNS = {"all": "all runs", "not degenerate": "without degenerate runs"}
# The column of the standard deviation over runs that belongs to that of a mean.
SPREADS = {"mean": "sd", "others_mean": "others_sd", "dev_mean": "dev_sd"}
OVER_RUNS_TOO = "95% over points and runs"
OF_ONE_RUN = "95% over points, the run fixed"
NO_TEST_SET = "the paper's number is of the test set, which the study lacks"
NONE_LEARNT = "no run has learnt: all are degenerate"
CHANCE = 50.0
# Sums of the best runs' accuracies on several inputs: what all of the input has over warrants; and
# W + (RW - W) + (CW - W) - full, by which warrants and the gains of both texts exceed it.
COMPARED = {
    "gap": {"full": 1, "W": -1},
    "explained": {"full": -1, "W": -1, "RW": 1, "CW": 1},
}
PAPER_RUNS = 20  # of a model and its inputs; 12 of BERT from claims and warrants
DRAWS = 10_000  # bootstrap samples


@measure("niven2019-table2")
def cue(products: Products, split: str, statistic: str) -> Measured:
    """Productivity or coverage of "not" in percent, counts of the data set itself."""
    rows = products.rows("niven2019-table2", data="original", cue="not")
    row = products.row("niven2019-table2", data="original", cue="not", split=split)
    right, of_all, reference = {
        "productivity": ("productive", "applicable", CHANCE),
        "coverage": ("applicable", "n", None),
    }[statistic]
    n, value = int(row[of_all]), 100 * row[right] / row[of_all]
    more = {"reference": reference, "interval": "exact count"}
    if split == "all" and not (rows["split"] == "test").any():
        more["because"] = "the study lacks the test set"
    return Measured(value, value, value, n, "points", **more)


@measure("niven2019-table1", "niven2019-table3", "niven2019-table4")
def arct_accuracy(
    products: Products, table: str, family: str, inputs: str, statistic: str
) -> Measured:
    """Accuracy in percent, of a table, a family and its inputs; the statistic is a column.

    The reference is chance, but for Table 4, where that is the paper's finding.
    """
    row = _row(products, table, family, inputs)
    split, because = "dev" if table == "table1" else row["split"], ""
    if split != "test" and table != "table1":
        because = NO_TEST_SET
    elif statistic == "max" and row["runs"] < PAPER_RUNS:
        because = f"the best of {row['runs']:.0f}; the paper's is the best of {PAPER_RUNS} runs"
    reference = None if table == "table4" else CHANCE
    return _accuracy(row, statistic, because, about=f"{split} set", reference=reference)


def _accuracy(row: pd.Series, statistic: str, because: str = "", **more: Any) -> Measured:
    """A statistic, a column, of runs' accuracies in percent; not tested if none has learnt.

    Wilson's interval over points and, of a mean, Student's over runs are taken to be independent:
    each side is the root of the sum of their squares. One run has no spread.
    """
    runs, n = int(row["runs"]), int(row["n"])
    learnt = runs - int(row["degenerate"])
    counted = learnt if statistic == "others_mean" else runs
    value = float(row[statistic if counted else "mean"])
    half = 0.0
    if statistic in SPREADS and counted > 1:
        t = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, counted - 1)
        half = t * float(row[SPREADS[statistic]]) / math.sqrt(counted)
    low, high = share(round(value / 100 * n), n)
    low = max(0.0, value - math.hypot(value - low, half))
    high = min(100.0, value + math.hypot(high - value, half))
    more |= {"seeds": counted or runs, "because": because if learnt else NONE_LEARNT}
    more["interval"] = OVER_RUNS_TOO if statistic in SPREADS else OF_ONE_RUN
    return Measured(value, low, high, n, "points", **more)


@measure("niven2019-table3")
def degenerate_runs(products: Products) -> Measured:
    """Percent of BERT's runs on all of the input that are degenerate."""
    row = _row(products, "table3", "BERT", "full")
    runs = int(row["runs"])
    return share_number(int(row["degenerate"]), runs, "runs", seeds=runs)


@measure(PREDICTIONS, SCORES)
def peak_gap(products: Products, statistic: str) -> Measured:
    """Points between the best runs of BERT on several inputs, as COMPARED adds them up.

    On the original points of the last split, without degenerate runs; the interval resamples
    points, the same for all runs, and takes the best runs of each sample. BoV and BiLSTM are left
    out: the argument cancels in their logits.
    """
    rows = products.all_of(PREDICTIONS, version="original")
    split = last_split(rows)
    rows = where(rows, split=split)
    right = 100.0 * ((rows["logit_1"] > rows["logit_0"]) == (rows["label"] == 1))
    by_run = rows.assign(right=right).pivot(index="id", columns=["setup", "seed"], values="right")
    wanted = {"family": "bert", "trained_on": "original", "points": "training"}
    runs = products.rows(SCORES, **wanted)
    learnt = runs[~runs["degenerate"].astype(bool)]
    weights = observed_and_resampled(len(by_run), DRAWS, 1) / len(by_run)
    peaks, because = {}, ""
    for setup in COMPARED[statistic]:
        if setup not in by_run:
            raise NotMeasured(f"no BERT trained on {SETUPS[setup]}")
        seeds = learnt.loc[learnt["setup"] == setup, "seed"]
        # Degenerate ones are shown where there are no others, and not compared.
        of_setup = by_run[setup][list(seeds)] if len(seeds) else by_run[setup]
        peaks[setup] = (weights @ of_setup.to_numpy()).max(axis=1)
        because = because or ("" if len(seeds) else NONE_LEARNT)
    if not because and np.percentile(peaks["full"][1:], ENDS[0]) <= CHANCE:
        because = "no run on all of the input is above chance"
    value = np.sum([sign * peaks[setup] for setup, sign in COMPARED[statistic].items()], axis=0)
    value = value.round(9)  # equal shares of the points leave exactly nothing
    low, high = np.percentile(value[1:], ENDS)
    about = ", ".join(f"{peak[0]:.1f} ({setup})" for setup, peak in peaks.items())
    ends, n = (float(value[0]), float(low), float(high)), len(by_run)
    more = {"seeds": by_run["full"].shape[1], "about": f"{split} set, peaks {about}"}
    more["interval"] = "95% over points, the best runs taken anew in each sample"
    return Measured(*ends, n, "points", because=because, **more)


@measure("niven2019-table4")
def adversarial(products: Products, trained_on: str) -> Cases:
    """Mean accuracy in percent of BERT's runs that are not degenerate on the adversarial set.

    Where they read the claim: all other models are right on exactly half of this set, whatever they
    have learnt.
    """
    table = products.rows("niven2019-table4", trained_on=trained_on, model="BERT")
    for setup in READS_CLAIM:
        for _, row in where(table, setup=SETUPS[setup]).iterrows():
            about = f"{row['split']} set, {row['runs'] - row['degenerate']:.0f} of "
            about += f"{row['runs']:.0f} runs have learnt"
            because = "" if row["split"] == "test" else NO_TEST_SET
            yield _accuracy(row, "others_mean", because, about=about, case=f"BERT {setup}")


@measure("niven2019-easy")
def easy_points(products: Products) -> Cases:
    """Of the points right in every run, BERT's percentage with "not" minus that of the others.

    Where runs are degenerate, only the numbers without them are comparable.
    """
    rows = products.rows("niven2019-easy", measure="cue among always right")
    rows = where(rows, setup=SETUPS["full"])
    failed = set(where(rows, runs="not degenerate")["source"])
    rows = rows[rows["bert_minus"].notna()]
    last = rows.groupby("source")["split"].transform("max")  # test, or dev where there is no test
    for row in rows[rows["split"] == last].itertuples():
        ends = (100 * x for x in (row.bert_minus, row.bert_minus_low, row.bert_minus_high))
        about = f"{row.n} points of {row.model}, {row.split}"
        case = f"{row.source}, {row.model}, {RUNS[row.runs]}"
        with_failed = row.runs == "all" and row.source in failed
        because = "some runs are degenerate" if with_failed else ""
        n = int(row.n_points)
        more = {"about": about, "because": because}
        yield Measured(*ends, n, "points", case, int(row.n_runs), **more)


def _row(products: Products, table: str, family: str, setup: str) -> pd.Series:
    """The row of a family and its inputs; Table 1 has no inputs, and BERT's name in brackets.

    Of Table 4 that of models trained on swapped points, from which the printed numbers come.
    """
    if table == "table1":
        rows = products.rows("niven2019-table1")
        rows = rows[(rows["model"].str.split(" ").str[0] == family) & rows["runs"].notna()]
        if rows.empty:
            raise NotMeasured(f"niven2019-table1 has no runs of {family}")
        return rows.iloc[0]
    wanted = {"model": family, "setup": SETUPS[setup]}
    if table == "table4":
        wanted["trained_on"] = "swapped"
    return products.row(f"niven2019-{table}", **wanted)
