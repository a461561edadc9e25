"""The paper's numbers next to ours."""

import numpy as np
import pytest

from tests.arguments.test_tables import LARGE, RUNS
from workflow_scripts.arguments import niven2019_tables
from workflow_scripts.arguments.argument_scores import measure


@pytest.mark.parametrize(
    ("card", "system"), [(LARGE, "BERT (Large)"), (LARGE | {"architecture": "roberta"}, None)]
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
