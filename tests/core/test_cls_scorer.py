"""Scorers: a linear layer on the final [CLS] vector, saved, read back and ablated."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

from tests.core.tiny_models import ARCHITECTURES, HEADS, LAYERS, enlarge, random_tokens, save_bert
from workflow_scripts.core.model import ablation_engine
from workflow_scripts.core.model.classifiers import (
    Scorer,
    load_scorer,
    logits_of,
    new_scorer,
    save_scorer,
)

TOKENS = random_tokens((9, 23, 14, 5))


def scorer_of(name: str, pooler: bool = False) -> Scorer:
    torch.manual_seed(0)
    body = enlarge(
        AutoModel.from_config(copy.deepcopy(ARCHITECTURES[name]), trust_remote_code=False)
    )
    return Scorer(body, pooler).eval()


@pytest.mark.parametrize("pooler", [False, True])
def test_saved_and_read_back(tmp_path: Path, pooler: bool) -> None:
    directory = save_bert(tmp_path / "body")
    scorer = new_scorer(directory, seed=3, pooler=pooler).eval()
    save_scorer(scorer, tmp_path / "saved")
    again = load_scorer(tmp_path / "saved", torch.device("cpu"))
    assert again.pooler is pooler
    np.testing.assert_array_equal(logits_of(again, TOKENS), logits_of(scorer, TOKENS))
    other = new_scorer(directory, seed=4, pooler=pooler).eval()
    assert not np.array_equal(logits_of(other, TOKENS), logits_of(scorer, TOKENS))


@pytest.mark.parametrize("mode", ["zero", "uniform"])
@pytest.mark.parametrize(
    ("name", "pooler"),
    [("bert", False), ("bert", True), ("roberta", False), ("electra", False), ("distilbert", False),
     ("albert", False), ("mpnet", False)],
)  # fmt: skip
def test_the_ablation_engine_gives_the_whole_scorers_logits(
    name: str, pooler: bool, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = scorer_of(name, pooler)
    disabled = np.concatenate(
        [np.zeros((1, LAYERS, HEADS), bool), ablation_engine.one_head(LAYERS, HEADS)]
    )
    found = ablation_engine.ablate(scorer, TOKENS, disabled, mode)
    monkeypatch.setattr(ablation_engine, "layers_of", lambda _: None)
    expected = ablation_engine.ablate(scorer_of(name, pooler), TOKENS, disabled, mode)
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert np.abs(expected[1:] - expected[0]).max() > 1e-3
