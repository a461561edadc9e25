"""Attributions against finite differences, and their agreement with exact effects."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import spearmanr
from transformers import PreTrainedModel

from tests.core.test_causal_engine import GPT2, opened
from tests.core.tiny_models import random_classifier, random_tokens
from workflow_scripts.ablation.ablation_attribution import compared, estimates_of
from workflow_scripts.ablation.ablation_modes import Effects
from workflow_scripts.ablation.classifier_attribution import Losses, attribution_table, attributions
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import (
    Watcher,
    n_heads,
    n_layers,
    open_attention,
    watching,
)
from workflow_scripts.core.model.interventions import example_losses, replacement_of
from workflow_scripts.core.stats.agreement import ranks
from workflow_scripts.pruning.importance import gradients

MODES = ("zero", "mean", "position", "resample")
LENGTHS = (9, 16, 5, 12)
STEP = 1e-4


class Moved(Watcher):
    """Moves one head's output a step of its way to another."""

    def __init__(self, layer: int, head: int, instead: torch.Tensor | float, step: float) -> None:
        self.place, self.instead, self.step = (layer, head), instead, step

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if layer != self.place[0]:
            return output
        moved, head = output.clone(), output[:, self.place[1]]
        moved[:, self.place[1]] = head + self.step * (self.instead - head)
        return moved


def classifier() -> tuple[PreTrainedModel, list[Tokens], Losses]:
    model = open_attention(random_classifier("bert", 2).double())
    labels = torch.tensor([1, 0, 1, 1])

    def of(inputs: dict[str, torch.Tensor], batch: Sequence[int]) -> torch.Tensor:
        return example_losses(model(**inputs).logits, labels[batch])

    return model, random_tokens(LENGTHS), of


def decoder() -> tuple[PreTrainedModel, list[Tokens], Losses]:
    model = opened(GPT2).double()  # Llama's norms are in float32

    def of(inputs: dict[str, torch.Tensor], _: Sequence[int]) -> torch.Tensor:
        # token_losses computes in float32, which is too coarse for differences
        logits = model(**inputs, use_cache=False).logits
        ids, real = inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:]
        each = torch.nn.functional.cross_entropy(
            logits[:, :-1].transpose(1, 2), ids, reduction="none"
        )
        return (each * real).sum(1)

    return model, random_tokens(LENGTHS), of


@pytest.mark.parametrize("kind", [classifier, decoder])
def test_attributions_are_slopes_towards_the_replacement(kind) -> None:
    model, tokens, of = kind()
    others = random_tokens((11, 7, 20), seed=5)
    instead = {mode: replacement_of(mode, model, tokens, others, 1) for mode in MODES}
    found = attributions(model, tokens, of, instead, batch_tokens=64)
    alone = attributions(model, tokens, of, instead, batch_tokens=1)
    np.testing.assert_allclose(found, alone, atol=1e-6)  # padding has no effect
    assert np.abs(found).min(axis=(1, 2, 3)).max() > 0
    for at, mode in enumerate(MODES):
        for text in range(len(tokens)):
            inputs = running.pad([tokens[text]], model)
            outputs = (
                instead[mode] and instead[mode].outputs_for([text], len(tokens[text])).double()
            )
            for layer, head in ((0, 1), (n_layers(model) - 1, n_heads(model) - 1)):
                other = 0.0 if outputs is None else outputs[:, layer, head]
                ends = []
                for step in (STEP, -STEP):
                    with torch.no_grad(), watching(model, Moved(layer, head, other, step)):
                        ends.append(float(of(inputs, [text]).sum()))
                slope = (ends[0] - ends[1]) / (2 * STEP)
                assert found[at, layer, head, text] == pytest.approx(slope, abs=2e-6, rel=1e-4)


def test_sizes_in_mode_zero_are_michels_importance() -> None:
    model = random_classifier("bert", 2)
    tokens, labels = random_tokens(LENGTHS), np.array([1, 0, 1, 1])

    def of(inputs: dict[str, torch.Tensor], batch: Sequence[int]) -> torch.Tensor:
        return example_losses(model(**inputs).logits, torch.from_numpy(labels[batch]))

    expected = gradients(model, tokens, labels)["paper"]
    found = attributions(model, tokens, of, {"zero": None}, 64)[0]
    np.testing.assert_allclose(np.abs(found), np.moveaxis(expected, 0, -1), atol=1e-6)


def test_estimates_follow_the_order_of_the_sweep_and_its_documents() -> None:
    values = np.arange(12.0).reshape(1, 1, 3, 4) - 5
    frame = attribution_table(values, ["zero"], ["a", "b", "c", "d"])
    texts = pd.DataFrame({"id": list("dbac"), "document": list("xxyz"), "n_tokens": [3, 1, 2, 4]})
    found = estimates_of(frame, texts, 50, 1)
    assert found["zero"].shape == (51, 3)
    np.testing.assert_allclose(found["zero"][0], values[0, 0].sum(1) / 10)
    np.testing.assert_allclose(found["importance"][0], np.abs(values[0, 0]).sum(1) / 10)
    with pytest.raises(KeyError):
        estimates_of(frame[frame["id"] != "a"], texts, 50, 1)


def effects(exact: np.ndarray, sizes: np.ndarray | None = None) -> Effects:
    heads = pd.DataFrame({"layer": 0, "head": range(exact.shape[1])})
    labels = {"task": "sst2", "seed": 1, "of": "loss", "n": 40, "n_documents": 40}
    none = np.ones((1, exact.shape[1]))
    sizes = (np.abs(exact) if sizes is None else sizes)[None]
    halves = [[ranks(np.stack([part, part])) for part in (exact[:1], exact[1:])]]
    return Effects(labels, heads, ["zero"], exact[None], none, halves, 0.01, sizes=sizes)


def test_agreement_by_hand() -> None:
    rng = np.random.default_rng(0)
    exact = rng.normal(size=(101, 20))
    zero = exact + rng.normal(size=(101, 20))
    estimates = {"zero": zero, "mean": zero, "importance": np.abs(zero)}
    sizes = np.abs(rng.normal(size=(101, 20)))
    found = list(compared(effects(exact, sizes), estimates))
    compared_with = [(row["estimate"], row["against"]) for row, _ in found]  # mean was not swept
    assert compared_with == [("zero", "effect"), ("importance", "effect"), ("importance", "size")]
    for number, of in ((1, exact), (2, sizes)):
        rho = spearmanr(estimates["importance"][0], of[0]).statistic
        assert found[number][0]["rho"] == pytest.approx(rho)
    row, heads = found[0]
    assert row["rho"] == pytest.approx(spearmanr(zero[0], exact[0]).statistic)
    assert row["reliability"] == pytest.approx(1)  # both halves are alike
    assert row["opposite"] == np.mean(np.sign(zero[0]) != np.sign(exact[0]))
    assert row["shared"] == len(set(np.argsort(-zero[0])[:2]) & set(np.argsort(-exact[0])[:2]))
    assert np.isnan(found[1][0]["opposite"])
    first = set(np.argsort(-zero[0])[:4])
    assert set(heads.index[heads["first"]]) == first
    costliest = set(np.argsort(-exact[0])[:2])
    assert (row["top"], row["first"], row["top_missed"]) == (2, 4, len(costliest - first))
