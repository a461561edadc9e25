"""A number of models that the study trains states their seeds; of several seeds there is one."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from tests.claims.judged import CLAIMS, judged
from tests.claims.made_up_verdicts import verdicts_on
from tests.default_study import DEMO, MODEL, study_before
from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import read

OF_DATA = {"cue", "adjacent_links"}  # of the data sets themselves
TRAINED = {
    claim.id: claim.measure
    for claim in read(CLAIMS, MEASURES)
    if {"task", "arct"} & set(claim.needs) and claim.measure not in OF_DATA
}
# With the third seed a model of ARCT is degenerate, and left out of some means.
ALL_LEARN = (1, 2, 4)


def of_trained(table: pd.DataFrame) -> pd.DataFrame:
    """The measured cases of models that the study trains."""
    return table[table["id"].isin(TRAINED) & (table["verdict"] != "not measured")]


@pytest.mark.parametrize("seeds", [ALL_LEARN, ALL_LEARN[:1]])
def test_several_seeds_are_one_case(seeds: Sequence[int]) -> None:
    table = verdicts_on(*seeds)
    assert not table[["id", "case"]].duplicated().any()
    rows = of_trained(table)
    assert {TRAINED[id_] for id_ in rows["id"]} == set(TRAINED.values())
    other = rows.loc[rows["seeds"] != len(seeds), ["id", "case", "seeds"]]
    assert other.empty, other
    assert set(table.loc[table["id"] == "kovaleva-fine-tuning-average", "seeds"]) == {len(seeds)}


@pytest.mark.parametrize("seeds", [(1, 2, 3), (3,)])
def test_a_degenerate_run_is_no_seed_of_those_that_learn(seeds: Sequence[int]) -> None:
    """Where no run has learnt, the number is of all, and not comparable."""
    table = verdicts_on(*seeds)
    seeds_of = table.groupby("id")["seeds"].unique().map(list)
    learnt = max(1, len(seeds) - 1)
    for id_, n in (
        ("niven-adversarial", learnt),
        ("niven-learnt-bert", learnt),
        ("niven-table3-bert-full", len(seeds)),
    ):
        assert seeds_of[id_] == [n], id_


def test_every_case_of_the_default_study_states_its_seeds(tmp_path: Path) -> None:
    results = study_before("claim_verdicts", DEMO / MODEL / "tables/claims.csv", tmp_path / "study")
    table = judged(results, MODEL, tmp_path)
    assert not table[["id", "case"]].duplicated().any()
    rows = of_trained(table)
    assert len(rows) > 60
    assert list(rows.loc[~(rows["seeds"] >= 1), "id"]) == []
