"""The small model of the tutorial is one that a study can read."""

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

from workflow_scripts.core.model import models

ROOT = Path(__file__).parents[1]
PARAGRAPHS = [f"The river number {k} flows to the old city of the north ." for k in range(200)]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs/tutorial_model.py"))


def test_a_study_can_read_the_model(
    script: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = script["main"]
    monkeypatch.setitem(main.__globals__, "read_paragraphs", lambda: PARAGRAPHS)
    monkeypatch.setattr(torch, "set_num_threads", lambda n: None)
    main(tmp_path / "mine", steps=2, seed=1)
    card = models.describe(tmp_path / "mine", "mine", models.Source(path=str(tmp_path / "mine")))
    assert (card["n_layers"], card["n_heads"], card["max_positions"]) == (4, 4, script["LENGTH"])
    assert None not in card["special"].values()
    assert card["punctuation"]
    assert "bidirectional" not in card
