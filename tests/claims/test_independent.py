"""Every claims table's numbers, intervals and verdicts, computed by other code a second time."""

import ast
import csv
from pathlib import Path

import pytest

from tests.claims.independent.check import CLAIMS, RECOMPUTED, checked
from tests.claims.independent.study import Study
from tests.claims.judged import judged
from tests.claims.made_up_study import MODEL as MADE_UP
from tests.claims.made_up_verdicts import results_of, verdicts_on
from tests.default_study import DEMO, MODEL, study_before
from tests.parsed_rules import parsed
from workflow_scripts.claims.published import NEEDS

SEEDS = (1, 2, 3)
# The sizes of model that the study's passes for, and what of the data is not real.
STUDIES = [("", {}), ("BERT-base", {}), ("BERT-large", {}), ("", {"arct": "generated"})]


def test_the_second_computation_has_no_code_of_the_first() -> None:
    for path in Path(__file__).with_name("independent").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([node.module] if isinstance(node, ast.ImportFrom) else
                         [alias.name for alias in node.names])
        }  # fmt: skip
        assert [name for name in names if "workflow_scripts" in str(name)] == [], path


def test_every_measure_is_computed_a_second_time() -> None:
    with CLAIMS.open(encoding="utf-8", newline="") as file:
        assert {claim["measure"] for claim in csv.DictReader(file)} == RECOMPUTED.keys()


@pytest.fixture(scope="module")
def made_up() -> Path:
    """The results of a made-up study of three seeds, of which one has learnt nothing of ARCT."""
    return results_of(*SEEDS)


@pytest.mark.parametrize(("size", "data"), STUDIES)
def test_a_made_up_study(made_up: Path, tmp_path: Path, size: str, data: dict[str, str]) -> None:
    as_it_is = not size and not data
    table = verdicts_on(*SEEDS) if as_it_is else judged(made_up, MADE_UP, tmp_path, size, data)
    found = checked(table, Study(made_up, MADE_UP), size or MADE_UP, data)
    assert found.keys() == set(RECOMPUTED)
    assert sum(map(len, found.values())) >= 180  # the others are not measured


def test_generated_data_get_no_verdict(made_up: Path, tmp_path: Path) -> None:
    """Where all data are generated a verdict remains on claims alone that need no data."""
    tasks = ("mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb", "cola", "wnli")
    data = dict.fromkeys((*NEEDS, *tasks), "generated")
    table = judged(made_up, MADE_UP, tmp_path, "BERT-base", data)
    open_to = table[table["verdict"].isin(["not comparable", "not measured"])]
    assert set(open_to["rule_met"].dropna()) == {"yes", "no", "undecided"}
    with CLAIMS.open(encoding="utf-8", newline="") as file:
        needs = {claim["id"]: claim["needs"] for claim in csv.DictReader(file)}
    assert {needs[id_] for id_ in set(table["id"]) - set(open_to["id"])} <= {"", "own-head"}


def test_a_made_up_study_of_one_seed() -> None:
    found = checked(verdicts_on(1), Study(results_of(1), MADE_UP), MADE_UP, {})
    assert found.keys() == set(RECOMPUTED)


def test_changed_claims_are_found(made_up: Path) -> None:
    """The check above fails where it should."""
    table, study = verdicts_on(*SEEDS), Study(made_up, MADE_UP)
    (row,) = table.index[table["id"] == "clark-table1-dobj"]
    for column in ("ours", "ci_low", "ci_high", "verdict"):
        wrong = "reproduced" if column == "verdict" else table.loc[row, column] + 0.1
        changed = table.copy()
        changed.loc[row, column] = wrong
        with pytest.raises(AssertionError, match="clark-table1-dobj"):
            checked(changed, study, MADE_UP, {})


@pytest.mark.parametrize("size", ["", "BERT-base", "BERT-large"])
def test_the_default_study(tmp_path: Path, size: str) -> None:
    """With what its data are, and as if a model of the papers had been run on real ones."""
    results = study_before("claim_verdicts", DEMO / MODEL / "tables/claims.csv", tmp_path / "study")
    data = {} if size else parsed()[0].rules["claim_verdicts"].params["data"]
    table = judged(results, MODEL, tmp_path, size, data)
    found = checked(table, Study(results, MODEL), size or MODEL, data)
    assert sum(map(len, found.values())) >= 150
