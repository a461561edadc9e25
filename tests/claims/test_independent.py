"""Every claims table's numbers, intervals and verdicts, computed by other code a second time."""

from functools import cache
from pathlib import Path

import pytest

from tests.claims.independent.check import ENCODERS, MEASURES, RECOMPUTED, checked, claims_in
from tests.claims.independent.study import NAMES, Study
from tests.claims.judged import judged
from tests.claims.made_up_study import DECODER, MODEL, made_up_study
from tests.default_study import DEMO, needs_current
from tests.default_study import MODEL as OF_DEMO
from tests.parsed_rules import parsed
from workflow_scripts.claims import claim_verdicts
from workflow_scripts.claims.published import NEEDS

GENERATED = dict.fromkeys((*NEEDS, *NAMES.values(), "wnli"), "generated")
# The size of model that a study passes for, its seeds, what of the data is not real, whether the
# translator is the paper's own, and how many numbers there are at least.
STUDIES = [
    # One of three seeds has learnt nothing of ARCT, the single one has.
    ("BERT-large", (1, 2, 3), {}, True, 180),
    ("BERT-base", (1, 2, 3), GENERATED, False, 180),
    ("", (1,), {}, False, 60),
]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory):
    """A function that makes up the results of a study of some seeds, once."""
    return cache(lambda *seeds: made_up_study(tmp_path_factory.mktemp("study"), seeds))


def test_every_measure_serves_a_claim_and_is_computed_a_second_time() -> None:
    assert claim_verdicts.MEASURES.keys() == MEASURES == RECOMPUTED.keys()


@pytest.mark.parametrize(("size", "seeds", "data", "own", "least"), STUDIES)
def test_a_made_up_study(
    made_up, tmp_path: Path, size: str, seeds: tuple, data: dict, own: bool, least: int
) -> None:
    results = made_up(*seeds)
    table = judged(results, MODEL, tmp_path, size, data, translator=own)
    found = checked(table, Study(results, MODEL), size or MODEL, data, translator=own)
    assert found.keys() == {claim["measure"] for claim in claims_in(*ENCODERS)}
    assert sum(map(len, found.values())) >= least  # the others are not measured


def test_a_made_up_decoder(made_up, tmp_path: Path) -> None:
    table = judged(made_up(1), DECODER, tmp_path, files=("decoders",))
    found = checked(table, Study(made_up(1), DECODER), DECODER, {}, ("decoders",))
    assert found.keys() == {claim["measure"] for claim in claims_in("decoders")}


def test_the_default_study(tmp_path: Path) -> None:
    needs_current(DEMO / OF_DEMO / "tables/claims.csv", "claim_verdicts")
    data = parsed()[0].rules["claim_verdicts"].params["data"]
    table = judged(DEMO, OF_DEMO, tmp_path, "", data)
    found = checked(table, Study(DEMO, OF_DEMO), OF_DEMO, data)
    assert sum(map(len, found.values())) >= 145
