"""The small model of the tutorial is one that a study can read."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from workflow_scripts.core.model import models

ROOT = Path(__file__).parents[1]
PARAGRAPHS = [f"The river number {k} flows to the old city of the north ." for k in range(200)]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs/tutorial_model.py"))


def test_inputs_are_the_running_text_in_two_halves(script: dict[str, Any], tmp_path: Path) -> None:
    tokenizer = script["train_tokenizer"](PARAGRAPHS, tmp_path)
    inputs = script["to_inputs"](PARAGRAPHS, tokenizer)
    length = inputs.shape[1]
    assert length <= script["LENGTH"]
    special = [tokenizer.cls_token_id, tokenizer.sep_token_id]
    places = [0, (length - 1) // 2, length - 1]
    expected = np.array([special[0], special[1], special[1]])
    assert (inputs[:, places] == expected).all()
    text = tokenizer(" ".join(PARAGRAPHS), add_special_tokens=False, verbose=False)["input_ids"]
    running = inputs[~np.isin(inputs, special)]
    assert running.tolist() == text[: len(running)]


def test_pieces_have_one_order(script: dict[str, Any], tmp_path: Path) -> None:
    tokenizer = script["train_tokenizer"](PARAGRAPHS, tmp_path)
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    n = len(script["SPECIAL"])
    assert pieces[:n] == list(script["SPECIAL"])
    assert pieces[n:] == sorted(pieces[n:])
    assert tokenizer.tokenize("the old river") == ["the", "old", "river"]


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
