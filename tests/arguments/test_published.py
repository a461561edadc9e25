"""The paper's numbers next to ours, and the same from the authors' own runs where they are here."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.arguments.test_tables import LARGE, RUNS
from workflow_scripts.arguments import niven2019_tables
from workflow_scripts.arguments.argument_scores import measure


@pytest.fixture
def authors_runs() -> Path:
    """The folder of the authors' runs next to the checkout; the test is skipped without it."""
    folder = Path(__file__).parents[3] / "shared/papers/niven2019-runs"
    if not folder.is_dir():
        pytest.skip("no runs of the authors next to the checkout")
    return folder


@pytest.mark.parametrize(
    ("card", "system"),
    [
        (LARGE, "BERT (Large)"),
        ({"architecture": "bert", "n_layers": 12, "hidden_size": 768}, "BERT (Base)"),
        ({"architecture": "bert", "n_layers": 6, "hidden_size": 384}, None),
        (LARGE | {"architecture": "roberta"}, None),
    ],
)
def test_published_numbers_stand_next_to_the_model_that_has_them(
    card: dict[str, str | int], system: str | None
) -> None:
    assert niven2019_tables.system_of(card) == system
    scores = measure(RUNS, {"bert": 0.6})
    negated = measure(RUNS.assign(trained_on="negated"), {"bert": 0.6})
    first = niven2019_tables.table1(scores, "mine", system).set_index("model")
    third = niven2019_tables.table3(scores, "test", system).set_index(["model", "setup"])
    fourth = niven2019_tables.table4(negated, "test", system).set_index(["model", "setup"])
    own = first.loc["BERT (mine)", "paper_test_mean"], third.loc[("BERT", "C, R, W"), "paper_mean"]
    printed = {"BERT (Large)": 67.1, "BERT (Base)": 62.3}
    for name, number in printed.items():
        assert (name in first.index) == (name != system)
        if name != system:
            assert first.loc[name, "paper_test_mean"] == number
            assert third.loc[(name, "C, R, W"), "paper_mean"] == number
            assert np.isnan(third.loc[(name, "C, R, W"), "mean"])
    assert own == pytest.approx((printed.get(system, np.nan),) * 2, nan_ok=True)
    adversarial = fourth.loc[("BERT", "C, R, W"), "paper_mean"]
    assert adversarial == pytest.approx(50.4 if system == "BERT (Large)" else np.nan, nan_ok=True)
    assert (("BERT (Large)", "W") in fourth.index) == (system != "BERT (Large)")


def test_counts_of_degenerate_runs_are_those_of_the_authors_runs(authors_runs: Path) -> None:
    names = {"BERT (Large)": "bert_large", "BERT (Base)": "bert_base", "BoV": "bov"}
    names["BiLSTM"] = "bilstm"
    suffixes = {"full": "", "W": "_w", "RW": "_rw", "CW": "_cw"}
    for (system, setup), (n, degenerate) in niven2019_tables.RUNS.items():
        runs = pd.read_csv(authors_runs / f"{names[system]}{suffixes[setup]}.accs.csv")
        assert len(runs) == n
        if degenerate is not None:
            assert (runs["train"] < 0.8).sum() == degenerate
        mean, sd, median, largest = niven2019_tables.TABLE3[system, setup]
        test = 100 * runs["test"]
        off = 0.25 if system == "BiLSTM" else 0.12  # a few are printed so far off
        assert test.mean() == pytest.approx(mean, abs=off)
        assert test.std(ddof=0) == pytest.approx(sd, abs=0.51)
        assert test.median() == pytest.approx(median, abs=off)
        assert test.max() == pytest.approx(largest, abs=0.12)
    for (system, setup), (n, degenerate) in niven2019_tables.RUNS4.items():
        runs = pd.read_csv(authors_runs / f"{names[system]}_adv{suffixes[setup]}.accs.csv")
        assert (len(runs), (runs["train"] < 0.8).sum()) == (n, degenerate)
    large = pd.read_csv(authors_runs / "bert_large.accs.csv")
    others = 100 * large[large["train"] >= 0.8]["test"]
    mean, sd = niven2019_tables.OTHERS["BERT (Large)", "full"]
    assert others.mean() == pytest.approx(mean, abs=0.15)
    assert others.std(ddof=0) == pytest.approx(sd, abs=0.5)
