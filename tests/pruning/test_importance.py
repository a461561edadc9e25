"""Importance, against finite differences in the gates and a loop over single examples."""

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.core.tiny_models import HEADS, LAYERS, WITH_CLS, random_classifier, random_tokens
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.interventions import Gates, example_losses
from workflow_scripts.pruning.importance import (
    VARIANTS,
    Definition,
    gradients,
    importance_of,
)

LENGTHS = (9, 23, 14, 5)
LABELS = np.array([2, 0, 1, 1])
# Their rotations, and DeBERTa's norms, are float32 even in a float64 model.
STEPS = dict.fromkeys(("modernbert", "deberta", "deberta-plain"), (1e-3, 5e-3))


def loss_at(model: PreTrainedModel, text: Tokens, label: float, xi: torch.Tensor) -> float:
    with watching(model, Gates(xi)), torch.no_grad():
        logits = model(**running.pad([text], model)).logits
    return example_losses(logits, torch.tensor([label])).item()


@pytest.mark.parametrize(("name", "gone"), [*((name, None) for name in WITH_CLS), ("bert", (1, 2))])
def test_equals_finite_differences(name: str, gone: tuple[int, int] | None) -> None:
    model = open_attention(random_classifier(name).double())
    tokens, (step, tolerance) = random_tokens(LENGTHS), STEPS.get(name, (1e-5, 1e-4))
    pruned = np.zeros((LAYERS, HEADS), bool)
    if gone:
        pruned[gone] = True
    actual = gradients(model, tokens, LABELS, pruned)["paper"]
    at = torch.from_numpy(1.0 - pruned)
    for example, layer, head in np.ndindex(actual.shape):
        ends = []
        for sign in (1, -1):
            xi = at.clone()
            xi[layer, head] += sign * step
            ends.append(loss_at(model, tokens[example], LABELS[example], xi))
        slope = abs(ends[0] - ends[1]) / (2 * step)
        assert actual[example, layer, head] == pytest.approx(
            slope, rel=tolerance, abs=tolerance / 10
        )


@pytest.mark.parametrize("n_labels", [3, 1], ids=["classes", "scores"])
def test_a_batch_gives_what_single_examples_give(n_labels: int) -> None:
    model, tokens = random_classifier("bert", n_labels), random_tokens(LENGTHS)
    labels = LABELS if n_labels > 1 else np.array([0.5, 2.2, 4.8, 1.0])
    together = gradients(model, tokens, labels)
    for limit in (1, 30):
        smaller = gradients(model, tokens, labels, batch_tokens=limit)
        for variant in together:
            np.testing.assert_allclose(smaller[variant], together[variant], rtol=1e-3, atol=1e-6)
    for row, text in enumerate(tokens):
        alone = gradients(model, [text], labels[row : row + 1])
        for variant, values in together.items():
            np.testing.assert_allclose(values[row], alone[variant][0], rtol=1e-3, atol=1e-6)


def test_the_released_variant_sums_over_tokens() -> None:
    """Independent: a gate for every token, whose gradients are taken one by one."""
    model, tokens = open_attention(random_classifier("bert").double()), random_tokens(LENGTHS)
    actual = gradients(model, tokens, LABELS)
    for row, text in enumerate(tokens):
        gates = torch.ones(LAYERS, HEADS, len(text), dtype=torch.float64, requires_grad=True)

        class PerToken(Watcher):
            def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
                return output * gates[layer][None, :, :, None]  # noqa: B023 - used at once

        with watching(model, PerToken()):
            logits = model(**running.pad([text], model)).logits
        example_losses(logits, torch.tensor([LABELS[row]])).sum().backward()
        np.testing.assert_allclose(actual["released"][row], gates.grad.abs().sum(-1), atol=1e-9)
        np.testing.assert_allclose(actual["paper"][row], gates.grad.sum(-1).abs(), atol=1e-9)


def test_importance_is_the_mean_over_examples() -> None:
    model, tokens = random_classifier("bert"), random_tokens(LENGTHS)
    raw = gradients(model, tokens, LABELS)
    plain = importance_of(model, tokens, LABELS, Definition("paper", normalise=False))
    np.testing.assert_allclose(plain, raw["paper"].mean(axis=0), rtol=1e-5)
    released = importance_of(model, tokens, LABELS, Definition("released", normalise=False))
    total = raw["released"].sum(axis=0)
    np.testing.assert_allclose(released[:-1], total[:-1] / sum(LENGTHS), rtol=1e-5)
    np.testing.assert_allclose(released[-1], total[-1] / len(LENGTHS), rtol=1e-5)
    unit = importance_of(model, tokens, LABELS, Definition("paper", normalise=True))
    np.testing.assert_allclose((unit**2).sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_heads_that_are_gone_add_nothing_to_their_layers_norm(variant: str) -> None:
    model, tokens = random_classifier("bert"), random_tokens(LENGTHS)
    gone = np.zeros((LAYERS, HEADS), bool)
    gone[0, 1] = gone[2, :3] = True
    raw = importance_of(model, tokens, LABELS, Definition(variant, normalise=False), gone)
    unit = importance_of(model, tokens, LABELS, Definition(variant, normalise=True), gone)
    assert not raw[gone].any()
    assert not unit[gone].any()
    for layer, head in np.argwhere(~gone):
        left = [raw[layer, other] for other in range(HEADS) if not gone[layer, other]]
        assert unit[layer, head] == pytest.approx(raw[layer, head] / np.linalg.norm(left))
    # A closed gate has a gradient in the paper's formula, which the norm would else contain.
    gradient = gradients(model, tokens, LABELS, gone)["paper"].mean(axis=0)
    assert gradient[gone].min() > 0
