"""The claims of a finished study, whose tables are the chapters' own, computed a second time."""

from pathlib import Path

from tests.claims.independent.check import RECOMPUTED, checked
from tests.claims.independent.study import Study
from tests.claims.judged import judged
from tests.workflow.tiny_study import TinyStudy


def test_claims_of_a_finished_study(tiny_study: TinyStudy, tmp_path: Path) -> None:
    """As if its model were of the papers' size."""
    results = tiny_study.folder / "results/tiny"
    table = judged(results, "tiny", tmp_path, "BERT-base")
    found = checked(table, Study(results, "tiny"), "BERT-base", {})
    assert sum(map(len, found.values())) >= 120
    assert len(found) > len(RECOMPUTED) / 2
