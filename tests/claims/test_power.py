"""The power of rules against exact values, and the reasons that are computed from tables."""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.claims.judged import CLAIMS
from tests.claims.test_verdicts import CLAIM, interval, row
from workflow_scripts.claims.claim_verdicts import Comparability, evaluate
from workflow_scripts.claims.michel import _all_free, _small_losses
from workflow_scripts.claims.numbers import share, share_number
from workflow_scripts.claims.power import DRAWS, Z, power
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import INCONCLUSIVE, NOT_TESTED, Measured

HEADS = {"layer": [0, 0], "head": [0, 1]}


def near(exact: float) -> object:
    """Within four standard errors of the simulation."""
    return pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / DRAWS) + 1e-9)


@pytest.mark.parametrize("n", [20, 100, 400])
def test_the_power_of_a_share_is_the_binomial_one(n: int) -> None:
    claim = replace(CLAIM, paper_value=60.0)
    comes_out = [k for k in range(n + 1) if share(k, n)[0] > 50]
    exact = sum(stats.binom.pmf(k, n, 0.6) for k in comes_out)
    assert power(claim, share_number(n // 3, n, "heads")) == near(exact)


@pytest.mark.parametrize(("half", "exact"), [(1.0, 0.975), (4.0, stats.norm.sf(Z / 2))])
def test_the_power_of_a_loss_without_any(half: float, exact: float) -> None:
    """Above -2 by its lower end: half = 1 leaves 1.96 standard errors of room, half = 4 lacks 2."""
    claim = replace(CLAIM, value=-2.0)
    assert power(claim, interval(-7 - half, -7 + half, expected=0.0)) == near(exact)


@pytest.mark.parametrize("half", [0.3, 0.8, 1.0, 1.9])
def test_the_power_of_a_count_of_heads_without_effect(half: float) -> None:
    """A head counts if it surely loses less than 1.4 points; 65 of 72 are above 89.7%."""
    claim = CLAIMS["michel-most-heads"]
    rows = pd.DataFrame({"effect": np.linspace(-3, 3, 72)})
    rows = rows.assign(ci_low=rows["effect"] - half, ci_high=rows["effect"] + half)
    one = stats.norm.sf(max(-1.4 + half, stats.norm.ppf(0.005) * half / Z), scale=half / Z)
    counted = Measured(50.0, 0.0, 100.0, 72, "heads", drawn=partial(_all_free, rows, 0.01, 1.4))
    assert power(claim, counted) == near(stats.binom.sf(64, 72, one))


def test_the_power_of_a_count_of_layers() -> None:
    """Above 75.7% are 5 of 6 layers."""
    half = np.full(6, 1.2)
    one = stats.norm.sf(-0.2, scale=1.2 / Z)
    number = Measured(0.0, 0.0, 100.0, 6, drawn=partial(_small_losses, half, half, 1.4))
    found = power(CLAIMS["michel-single-head"], number)
    assert found == near(stats.binom.sf(4, 6, one))


def test_a_claim_of_a_number_holds_at_this_number() -> None:
    """Within 5 of 0: an estimate +- 4 covers 0 in 95% of samples, one +- 6 is too wide."""
    claim = replace(CLAIM, rule="within", value=0.0, to=5.0)
    found = [power(claim, interval(9 - half, 9 + half)) for half in (4.0, 6.0)]
    assert found == [near(0.95), 0]


def test_a_rule_that_rarely_comes_out_is_underpowered() -> None:
    claim = replace(CLAIM, paper_value=60.0)
    for half, reason in (
        (7.0, "interval too wide"),
        (15.0, "underpowered: the rule comes out in 2"),
    ):
        found = row(claim, interval(51 - half, 51 + half))
        assert (found["verdict"], found["lies"]) == (INCONCLUSIVE, "too wide")
        assert found["because"].startswith(reason), half
    assert row(CLAIM, interval(36, 66))["power"] is None  # the paper has no number
    assert row(claim, interval(36, 49))["because"] == ""  # what it finds stands


def test_a_value_shows_on_another_model_what_it_is_judged_by() -> None:
    value = replace(CLAIM, kind="value", rule="within", to=3.0)
    assert row(value, interval(49, 51))["rule"].startswith("none")
    beaten = replace(value, reference=40.0)
    shown = [row(beaten, interval(*ends)) for ends in ((49, 51), (41, 45), (45, 49))]
    assert {one["rule"] for one in shown} == {"within 3 of 50 %, and above 40, its baseline"}
    assert [one["lies"] for one in shown] == ["inside", "outside", "too wide"]
    close = row(replace(value, reference=49.5), interval(49, 51))  # not clear of the baseline
    assert (close["lies"], close["verdict"]) == ("too wide", INCONCLUSIVE)
    assert row(beaten, interval(49, 51), "the paper's model")["rule"] == "within 3 of 50 %"


def judged(folder: Path, id_: str, **tables: pd.DataFrame) -> list[dict]:
    """The rows of a claim by tables of a study, whose arguments are <chapter>__<name>."""
    paths = []
    for name, frame in tables.items():
        chapter, _, table = name.partition("__")
        file = f"{table.replace('_', '-')}.csv" if chapter == "tables" else f"{table}.parquet"
        paths.append(folder / chapter / file)
        paths[-1].parent.mkdir(exist_ok=True)
        write = frame.to_csv if chapter == "tables" else frame.to_parquet
        write(paths[-1], index=False)
    return evaluate(CLAIMS[id_], Products(paths), Comparability("other", {}))


def of_tokens(cls: float, sep: float) -> pd.DataFrame:
    """Attention to special tokens of two heads; the first gives these shares, the second less."""
    rows = [
        pd.DataFrame(HEADS | {"target": token, "attention": [of, of / 2], "n": 9})
        for token, of in {"cls": cls, "sep": sep, "sep_to_sep": 0.95}.items()
    ]
    rows = pd.concat(rows, ignore_index=True)
    of_units = {"sums": [[of] * 9 for of in rows["attention"]], "counts": [[1] * 9] * len(rows)}
    return rows.assign(
        ci_low=rows["attention"] - 0.01, ci_high=rows["attention"] + 0.01, **of_units
    )


@pytest.mark.parametrize(("sep", "absent"), [(0.08, True), (0.5, True), (0.6, False)])
def test_no_head_rests_on_sep(tmp_path: Path, sep: float, absent: bool) -> None:
    weights = of_tokens(0.7, sep)
    (found,) = judged(tmp_path, "clark-sep-to-sep", surface__special_tokens=weights)
    (norms,) = judged(
        tmp_path,
        "kobayashi-sep",
        surface__special_tokens=weights,
        mixing__special_tokens=of_tokens(0.1, sep / 2),
    )
    for one in (found, norms):
        reason = f"premise absent: no head rests on [SEP], at most {100 * sep:.1f}% by 1-1"
        assert (one["verdict"] == NOT_TESTED, one["because"] == reason) == (absent, absent)
    assert norms["verdict"] == (NOT_TESTED if absent else "carries over")


def test_no_head_rests_on_any_token(tmp_path: Path) -> None:
    both = {
        "surface__special_tokens": of_tokens(0.4, 0.3),
        "mixing__special_tokens": of_tokens(0.2, 0.1),
    }
    (found,) = judged(tmp_path, "kobayashi-no-op", **both)
    assert found["because"].startswith("premise absent")
    both["surface__special_tokens"] = of_tokens(0.6, 0.3)
    (found,) = judged(tmp_path, "kobayashi-no-op", **both)
    assert (found["ours"], found["verdict"]) == (pytest.approx(20), "carries over")


@pytest.mark.parametrize(("diagonal", "absent"), [(2, True), (3, False)])
def test_a_model_with_too_few_diagonal_heads(tmp_path: Path, diagonal: int, absent: bool) -> None:
    shares = [0.9] * diagonal + [0.1] * (6 - diagonal)
    heads = {"layer": [0, 0, 0, 1, 1, 1], "head": [0, 1, 2, 0, 1, 2], "neighbours": shares}
    heads |= {"neighbours_low": shares, "neighbours_high": shares, "attention": 0.2, "links": 9}
    about = {"link": "verb-subject", "stage": "fine-tuned", "far": False}
    every = pd.DataFrame(heads | about | {"task": "sst2", "seed": 1})
    printed = every.iloc[:3].assign(task="SST-2", head=["1-1", "1-2", "1-3"])
    tables = {"tables__kovaleva2019_links": printed, "finetuning__sst2.1.links": every}
    (found,) = judged(tmp_path, "kovaleva-links-diagonal", **tables)
    assert found["because"] == (
        "premise absent: 2 heads have diagonal maps, not 3" if absent else ""
    )
