"""Every claims table's numbers, intervals and verdicts, computed by other code a second time."""

from functools import cache
from pathlib import Path

import pytest

from tests.claims.independent.check import ENCODERS, MEASURES, RECOMPUTED, checked, claims_in
from tests.claims.independent.study import NAMES, Study
from tests.claims.judged import judged
from tests.claims.made_up_study import DECODER, MODEL, made_up_study
from tests.default_study import DEMO, study_before
from tests.default_study import MODEL as OF_DEMO
from tests.parsed_rules import parsed
from workflow_scripts.claims import claim_verdicts
from workflow_scripts.claims.published import NEEDS

# The sizes of model that the study's passes for, what of the data is not real, and whether the
# translator is the paper's own.
GENERATED = dict.fromkeys((*NEEDS, *NAMES.values(), "wnli"), "generated")
STUDIES = [("BERT-large", {}, True), ("BERT-base", GENERATED, False)]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory):
    """A function that makes up the results of a study of some seeds, once."""
    return cache(lambda *seeds: made_up_study(tmp_path_factory.mktemp("study"), seeds))


def test_every_measure_serves_a_claim_and_is_computed_a_second_time() -> None:
    assert claim_verdicts.MEASURES.keys() == MEASURES == RECOMPUTED.keys()


@pytest.mark.parametrize(("size", "data", "own"), STUDIES)
def test_a_made_up_study(made_up, tmp_path: Path, size: str, data: dict, own: bool) -> None:
    """Of three seeds, of which one has learnt nothing of ARCT."""
    results = made_up(1, 2, 3)
    table = judged(results, MODEL, tmp_path, size, data, translator=own)
    found = checked(table, Study(results, MODEL), size or MODEL, data, translator=own)
    assert found.keys() == {claim["measure"] for claim in claims_in(*ENCODERS)}
    assert sum(map(len, found.values())) >= 180  # the others are not measured


def test_a_made_up_study_of_one_seed(made_up, tmp_path: Path) -> None:
    """Of a seed that has learnt ARCT."""
    table = judged(made_up(1), MODEL, tmp_path)
    assert len(checked(table, Study(made_up(1), MODEL), MODEL, {})) > 60


def test_a_made_up_decoder(made_up, tmp_path: Path) -> None:
    table = judged(made_up(1), DECODER, tmp_path, files=("decoders",))
    found = checked(table, Study(made_up(1), DECODER), DECODER, {}, ("decoders",))
    assert found.keys() == {claim["measure"] for claim in claims_in("decoders")}


def test_the_default_study(tmp_path: Path) -> None:
    claims = DEMO / OF_DEMO / "tables/claims.csv"
    results = study_before("claim_verdicts", claims, tmp_path / "study")
    data = parsed()[0].rules["claim_verdicts"].params["data"]
    table = judged(results, OF_DEMO, tmp_path, "", data)
    found = checked(table, Study(results, OF_DEMO), OF_DEMO, data)
    assert sum(map(len, found.values())) >= 150
