"""The claims of a finished study, whose tables are the chapters' own, computed a second time."""

from pathlib import Path

import pytest

from tests.claims.independent.check import RECOMPUTED, checked
from tests.claims.independent.study import Study
from tests.claims.judged import judged
from tests.workflow.tiny_study import TinyStudy


@pytest.mark.parametrize("size", ["", "BERT-base"])
def test_claims_of_a_finished_study(tiny_study: TinyStudy, tmp_path: Path, size: str) -> None:
    results = tiny_study.folder / "results/tiny"
    table = judged(results, "tiny", tmp_path, size)
    found = checked(table, Study(results, "tiny"), size or "tiny", {})
    assert sum(map(len, found.values())) >= 120
    assert len(found) > len(RECOMPUTED) / 2
