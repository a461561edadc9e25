"""Our numbers for the claims of Niven and Kao 2019."""

import math

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.arguments.measures import PREDICTIONS, SCORES
from workflow_scripts.claims.numbers import CONFIDENCE, share
from workflow_scripts.claims.products import Cases, NotMeasured, Products, measure
from workflow_scripts.claims.verdicts import Measured
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


def reported_split(splits: pd.Series) -> str:
    """The split on which results are reported: the test set, or dev where there is none."""
    return "test" if (splits == "test").any() else "dev"


@measure("niven2019-table2")
def cue(products: Products, split: str, statistic: str) -> Measured:
    """Productivity or coverage of "not" in percent.

    They are counts of the data set itself, so exact. The reference of productivity is chance.
    """
    rows = products.rows("niven2019-table2", data="original", cue="not")
    row = products.row("niven2019-table2", data="original", cue="not", split=split)
    right, of_all = {
        "productivity": ("productive", "applicable"),
        "coverage": ("applicable", "n"),
    }[statistic]
    n, value = int(row[of_all]), 100 * row[right] / row[of_all]
    reference = CHANCE if statistic == "productivity" else None
    partly = split == "all" and not (rows["split"] == "test").any()
    because = "the study lacks the test set" if partly else ""
    exact = (value, value, value)
    more = {"reference": reference, "not_comparable": because, "interval": "exact count"}
    return Measured(*exact, n, "points", **more)


@measure("niven2019-table1", "niven2019-table3", "niven2019-table4")
def arct_accuracy(
    products: Products, table: str, family: str, inputs: str, statistic: str
) -> Measured:
    """Accuracy in percent, of a table, a family and its inputs; the statistic is a column.

    The interval of a mean is over points and runs; that of a median or maximum over points alone.
    The reference is chance, but for Table 4, where that is the paper's finding. Not comparable
    where all runs are degenerate, or where the paper's number is of the test set, which the study
    lacks, or of the best of more runs.
    """
    row = _row(products, table, family, inputs)
    split = "dev" if table == "table1" else row["split"]
    value, n, runs = float(row[statistic]), int(row["n"]), int(row["runs"])
    learnt = runs - int(row["degenerate"])
    because = ""
    if not learnt:
        because, value = NONE_LEARNT, float(row[statistic.replace("others_mean", "mean")])
    elif split != "test" and table != "table1":
        because = "the paper's number is of the test set, which the study lacks"
    elif statistic == "max" and runs < PAPER_RUNS:
        because = f"the best of {runs} runs; the paper's is of {PAPER_RUNS}"
    counted = learnt if statistic == "others_mean" else runs
    spread = float(row[SPREADS[statistic]]) if statistic in SPREADS else 0.0
    ends = _ends(value, n, spread, counted)
    about = {"seeds": counted or runs, "about": f"{split} set"}
    about["reference"] = None if table == "table4" else CHANCE
    about["interval"] = OVER_RUNS_TOO if statistic in SPREADS else OF_ONE_RUN
    return Measured(value, *ends, n, "points", not_comparable=because, **about)


@measure("niven2019-table3")
def degenerate_runs(products: Products) -> Measured:
    """Percent of BERT's runs on all of the input that are degenerate."""
    row = _row(products, "table3", "BERT", "full")
    runs, failed = int(row["runs"]), int(row["degenerate"])
    return Measured(100 * failed / runs, *share(failed, runs), runs, "runs", seeds=runs)


@measure(PREDICTIONS, SCORES)
def peak_gap(products: Products, statistic: str) -> Measured:
    """Points between the best runs of BERT on several inputs, as COMPARED adds them up.

    On the original points of the last split, without degenerate runs; the interval resamples
    points, the same for all runs, and takes the best runs of each sample. BoV and BiLSTM are left
    out: the argument cancels in their logits.
    """
    rows = products.all_of(PREDICTIONS)
    rows = rows[rows["version"] == "original"]
    split = last_split(rows)
    rows = rows[rows["split"] == split]
    right = 100.0 * ((rows["logit_1"] > rows["logit_0"]) == (rows["label"] == 1))
    by_run = rows.assign(right=right).pivot(index="id", columns=["setup", "seed"], values="right")
    wanted = {"family": "bert", "trained_on": "original", "points": "training"}
    runs = products.rows(SCORES, **wanted)
    learnt = runs[~runs["degenerate"].astype(bool)]
    weights = observed_and_resampled(len(by_run), DRAWS, 1) / len(by_run)
    peaks, because = {}, ""
    for setup in COMPARED[statistic]:
        if setup not in by_run:
            raise NotMeasured(f"the study has no BERT trained on {SETUPS[setup]}")
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
    return Measured(*ends, n, "points", not_comparable=because, **more)


@measure("niven2019-table4")
def adversarial(products: Products, trained_on: str) -> Cases:
    """Mean accuracy in percent on the adversarial set, by what the models are trained on.

    Of BERT's runs that are not degenerate, where they read the claim: all other models are right on
    exactly half of this set, whatever they have learnt.
    """
    table = products.rows("niven2019-table4", trained_on=trained_on, model="BERT")
    for setup in READS_CLAIM:
        for _, row in table[table["setup"] == SETUPS[setup]].iterrows():
            learnt = int(row["runs"]) - int(row["degenerate"])
            mean, sd, runs = ("others_mean", "others_sd", learnt) if learnt else ("mean", "sd", 1)
            value, n = float(row[mean]), int(row["n"])
            about = {"about": f"{row['split']} set, {learnt} of {row['runs']:.0f} runs have learnt"}
            about |= {"not_comparable": "" if learnt else NONE_LEARNT, "interval": OVER_RUNS_TOO}
            ends = _ends(value, n, float(row[sd]), runs)
            about["seeds"] = learnt or int(row["runs"])
            yield Measured(value, *ends, n, "points", f"BERT {setup}", **about)


@measure("niven2019-easy")
def easy_points(products: Products) -> Cases:
    """Of the points right in every run, BERT's percentage with "not" minus that of the others.

    All of the input, on the last of the study's splits; of the authors' own predictions too, where
    the study has them. Where runs are degenerate, only the numbers without them are comparable.
    """
    rows = products.rows("niven2019-easy", measure="cue among always right")
    rows = rows[rows["setup"] == SETUPS["full"]]
    failed = set(rows.loc[rows["runs"] == "not degenerate", "source"])
    rows = rows[rows["bert_minus"].notna()]
    last = rows.groupby("source")["split"].transform(reported_split)
    for row in rows[rows["split"] == last].itertuples():
        ends = (100 * x for x in (row.bert_minus, row.bert_minus_low, row.bert_minus_high))
        about = f"{row.n} points of {row.model}, {row.split}"
        case = f"{row.source}, {row.model}, {RUNS[row.runs]}"
        with_failed = row.runs == "all" and row.source in failed
        because = "some runs are degenerate" if with_failed else ""
        n = int(row.n_points)
        more = {"about": about, "not_comparable": because}
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


def _ends(value: float, n: int, spread: float, runs: int) -> tuple[float, float]:
    """The ends of an accuracy's 95% interval in percent, over `n` points and over runs.

    Wilson's interval over points and Student's over runs with a standard deviation of `spread` are
    taken to be independent: each side is the root of the sum of their squares. One run has no
    spread.
    """
    low, high = share(round(value / 100 * n), n)
    over_runs = 0.0
    if runs > 1:
        over_runs = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, runs - 1) * spread / math.sqrt(runs)
    below, above = math.hypot(value - low, over_runs), math.hypot(high - value, over_runs)
    return max(0.0, value - below), min(100.0, value + above)
