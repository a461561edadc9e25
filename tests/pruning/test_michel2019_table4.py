"""Heads removed for good give the outputs of the gated model, and how their speed is measured."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from tests.core.tiny_models import HEADS, LAYERS, random_classifier, random_tokens
from workflow_scripts.claims import michel  # noqa: F401  which enters its measures
from workflow_scripts.claims.products import MEASURES, NotMeasured, Products
from workflow_scripts.core.data import tables
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.ablation_engine import ablate
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.classifiers import logits_of
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.pruning import michel2019_table4
from workflow_scripts.pruning.michel2019_table4 import remove_heads, whole_batches


def some_heads(share: float, seed: int = 1) -> np.ndarray:
    gone = np.random.default_rng(seed).random((LAYERS, HEADS)) < share
    gone[1] = share > 0.5  # a whole layer, or none of it
    return gone


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.1], ids=["none", "few", "many", "all"])
@pytest.mark.parametrize("name", ["bert", "roberta", "electra", "distilbert"])
def test_equals_the_gated_model(name: str, share: float) -> None:
    model, tokens = random_classifier(name), random_tokens((9, 23, 14))
    gone = some_heads(share)
    smaller = remove_heads(model, gone)
    actual = logits_of(smaller, tokens)
    open_attention(model)
    with watching(model, Gates(torch.from_numpy(~gone).float())):
        expected = logits_of(model, tokens)
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    np.testing.assert_allclose(ablate(model, tokens, gone[None], "zero")[0], actual, atol=2e-5)
    kept = sum(p.numel() for p in smaller.parameters())
    width, head = 32, 32 // HEADS
    of_one_head = 3 * (width * head + head) + head * width
    whole = sum(p.numel() for p in model.parameters())
    partly = gone[~gone.all(axis=1)].sum()
    assert whole - kept >= partly * of_one_head


@pytest.mark.parametrize("name", ["albert", "mpnet"])
def test_other_architectures_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"{name}: its heads cannot be removed"):
        remove_heads(random_classifier(name), np.zeros((LAYERS, HEADS), bool))


def test_batches_are_full() -> None:
    tokens = random_tokens((4, 5, 6, 7, 8))
    assert whole_batches(tokens, 1) == [[text] for text in tokens]
    assert whole_batches(tokens, 4) == [tokens[:4], [tokens[4], *tokens[:3]]]
    assert whole_batches(tokens, 12) == [[*tokens, *tokens, *tokens[:2]]]


def test_a_model_whose_heads_stay_is_timed_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model, tokens = random_classifier("albert"), random_tokens((4, 5))
    sampler = SimpleNamespace(sample=lambda split, n: (tokens, None))
    monkeypatch.setattr(
        michel2019_table4, "classifier_and_sampler", lambda *_: (open_attention(model), sampler)
    )
    heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    order = pd.DataFrame(heads, columns=["layer", "head"]).assign(strategy="importance", step=1)
    tables.write(order, tmp_path / "order.parquet")
    speed = tmp_path / "tables/michel2019-table4.csv"
    speed.parent.mkdir()
    michel2019_table4.main(
        *(tmp_path, tmp_path, tmp_path / "order.parquet", speed),
        **{"task": "mrpc", "sample_seed": 1, "share": 0.5, "examples": 2, "repeats": 2},
        **{"max_tokens": 16, "device": "cpu"},
    )
    rows = pd.read_csv(speed)
    assert (rows["original"] > 0).all() and rows["pruned"].isna().all()
    assert "albert: its heads cannot be removed" in caplog.text
    products = Products([speed])
    with pytest.raises(NotMeasured, match="cannot be removed"):
        list(MEASURES["speed_gain"].numbers(products, batch_size=1))
