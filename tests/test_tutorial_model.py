"""The tutorials: a study can read their small model, and their studies can be planned."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import planned_jobs
from workflow_scripts.core.model import models

ROOT = Path(__file__).parents[1]
PARAGRAPHS = [f"The river number {k} flows to the old city of the north ." for k in range(200)]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs/tutorial_model.py"))


@pytest.fixture(scope="module")
def folder(script: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the small model in build/mine."""
    path = tmp_path_factory.mktemp("tutorial")
    main = script["main"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(main.__globals__, "read_paragraphs", lambda: PARAGRAPHS)
        patch.setattr(torch, "set_num_threads", lambda n: None)
        main(path / "build/mine", steps=2, seed=1)
    return path


def test_a_study_can_read_the_model(script: dict[str, Any], folder: Path) -> None:
    mine = folder / "build/mine"
    card = models.describe(mine, "mine", {"path": str(mine)})
    assert (card["n_layers"], card["n_heads"], card["max_positions"]) == (4, 4, script["LENGTH"])
    assert None not in card["special"].values()
    assert card["punctuation"]
    assert "bidirectional" not in card


@pytest.mark.parametrize("page", ["encoder", "decoder", "own-task"])
def test_the_study_of_a_page_can_be_planned(page: str, folder: Path) -> None:
    text = (ROOT / f"docs/tutorial-{page}.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    study = folder / f"{page}.yaml"
    study.write_text(block, encoding="utf-8")
    rules = {job["rule"] for job in planned_jobs.plan(study, folder)["jobs"]}
    assert "atlas_page" in rules
