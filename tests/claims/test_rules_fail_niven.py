"""For every rule of Niven and Kao's claims, products that contradict the paper fail it."""

from pathlib import Path
from typing import Any

import pytest

from tests.claims.made_up import products
from tests.claims.test_measures_niven import BUILTIN, peaks
from workflow_scripts.claims.claim_verdicts import MEASURES, Comparability, evaluate
from workflow_scripts.claims.published import Claim, read
from workflow_scripts.claims.verdicts import NOT_REPRODUCED, REPRODUCED

CLAIMS = [claim for claim in read(BUILTIN, MEASURES) if claim.id.startswith("niven-")]
Frames = dict[str, list[dict[str, Any]]]
INPUTS = {"full": "C, R, W", "W": "W", "RW": "R, W", "CW": "C, W"}


def cue_counts(of: str, percent: float) -> Frames:
    """A table of the cue whose productivity, or coverage, is `percent`."""
    split, measure = of.split()
    applicable = 1000 if measure == "productivity" else 10 * percent
    row = {"data": "original", "cue": "not", "n": 1000, "applicable": applicable}
    row["productive"] = 10 * percent
    return {"niven2019_table2": [row | {"split": name} for name in {split, "test"}]}


def accuracies(of: str, percent: float) -> Frames:
    """A table of models, in which a family's column has `percent`."""
    table, family, setup, column = of.split()
    row = {"runs": 20, "degenerate": 5, "n": 2000, "split": "test", "trained_on": "swapped"}
    row |= {"model": family, "setup": INPUTS[setup], "sd": 1.0, "others_sd": 1.0, "dev_sd": 1.0}
    return {f"niven2019_{table}": [row | {column: percent}]}


def adversarial(of: str, percent: float) -> Frames:
    """A Table 4 where BERT's runs that have learnt are right on `percent`."""
    row = {"runs": 20, "degenerate": 5, "n": 2000, "split": "test", "trained_on": of}
    row |= {"model": "BERT", "setup": "C, R, W", "others_mean": percent, "others_sd": 1.0}
    return {"niven2019_table4": [row]}


def easy(percent: float) -> Frames:
    """A table of easy points where BERT's have the cue more often by `percent`."""
    row = {"measure": "cue among always right", "setup": "C, R, W", "runs": "all", "n": 40}
    row |= {"source": "this study", "model": "BoV", "split": "dev", "n_points": 99, "n_runs": 20}
    share = percent / 100
    ends = {"bert_minus_low": share - 0.05, "bert_minus_high": share + 0.05}
    return {"niven2019_easy": [row | {"bert_minus": share} | ends]}


def frames(claim: Claim, fits: bool) -> Frames:
    """Products that bear a claim out, or contradict it."""
    near = claim.printed if claim.printed is not None else claim.value
    if claim.measure == "cue":
        return cue_counts(claim.of, near if fits else near - 20)
    if claim.measure == "degenerate_runs":
        row = {"model": "BERT", "setup": INPUTS["full"], "runs": 40}
        return {"niven2019_table3": [row | {"degenerate": 10 if fits else 40}]}
    if claim.measure == "easy_points":
        return easy(-20 if fits else 20)
    if claim.measure == "adversarial":
        return adversarial(claim.of, (50 if claim.rule == "within" else 40) if fits else 65)
    # On the adversarial set the paper's models are at chance, on the original points above it.
    other = 80 if "table4" in claim.of else 35
    return accuracies(claim.of, near if fits else other)


@pytest.mark.parametrize(("fits", "verdict"), [(True, REPRODUCED), (False, NOT_REPRODUCED)])
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_rule_can_hold_and_fail(tmp_path: Path, claim: Claim, fits: bool, verdict: str) -> None:
    if claim.measure == "peak_gap":
        # All of the input is right on 77% of 500 points; warrants on 71%, with reasons on 75%, with
        # claims on 73%, or each on half of them.
        counts = {"full": 385, "W": 355, "RW": 375, "CW": 365}
        counts |= {} if fits else dict.fromkeys(("W", "RW", "CW"), 250)
        points = {setup: [1] * right + [0] * (500 - right) for setup, right in counts.items()}
        runs = [(setup, 1, hits, False) for setup, hits in points.items()]
        found = peaks(tmp_path, *runs)
    else:
        found = products(tmp_path, **frames(claim, fits))
    (row,) = evaluate(claim, found, Comparability(claim.model, {}))
    assert row["verdict"] == verdict, row
