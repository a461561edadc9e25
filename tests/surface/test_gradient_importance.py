"""Gradient importance against finite differences, and the classes of tokens."""

import copy

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.core.tiny_models import ARCHITECTURES, enlarge
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.mlm import IGNORED
from workflow_scripts.core.model.running import pad
from workflow_scripts.surface.gradient_importance import average, importance, target_masks


def tokens(length: int, seed: int) -> tuple[Tokens, np.ndarray]:
    rng = np.random.default_rng(seed)
    ids = rng.integers(5, 40, size=length).astype(np.int32)
    labels = np.full(length, IGNORED)
    labels[[1, length - 2]] = ids[[1, length - 2]]
    word = np.arange(length, dtype=np.int32)
    return Tokens(str(seed), ids, word, np.zeros(length, dtype=np.int8), length), labels


@pytest.fixture
def model() -> torch.nn.Module:
    from transformers import AutoModelForMaskedLM

    torch.manual_seed(0)
    config = copy.deepcopy(ARCHITECTURES["bert"])  # opening changes it
    body = enlarge(AutoModelForMaskedLM.from_config(config, trust_remote_code=False)).eval()
    return open_attention(body.requires_grad_(False).double())


class Nudge(Watcher):
    """Adds a small number to one weight of the pattern."""

    def __init__(self, index: tuple[int, int, int, int], step: float) -> None:
        self.index, self.step = index, step

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        nudged_layer, head, query, key = self.index
        if layer == nudged_layer:
            pattern = pattern.clone()
            pattern[0, head, query, key] += self.step
        return pattern


def loss_with(model: torch.nn.Module, example: Tokens, labels: np.ndarray, nudge: Nudge) -> float:
    with torch.no_grad(), watching(model, nudge):
        logits = model(**pad([example], model)).logits[0]
    return functional.cross_entropy(logits, torch.from_numpy(labels)).item()


def test_against_finite_differences(model: torch.nn.Module) -> None:
    example, labels = tokens(9, seed=3)
    (actual,) = importance(model, [example], [labels])
    step = 1e-5
    for index in [(0, 0, 2, 4), (0, 3, 8, 0), (1, 1, 1, 1), (1, 2, 5, 7), (2, 0, 1, 3)]:
        up = loss_with(model, example, labels, Nudge(index, step))
        down = loss_with(model, example, labels, Nudge(index, -step))
        assert actual[index] == pytest.approx(abs(up - down) / (2 * step), rel=1e-3, abs=1e-8)


def test_the_batch_changes_nothing(model: torch.nn.Module) -> None:
    cases = [tokens(9, 1), tokens(5, 2), tokens(12, 3)]
    together = importance(model, [example for example, _ in cases], [labels for _, labels in cases])
    for (example, labels), actual in zip(cases, together, strict=True):
        (alone,) = importance(model, [example], [labels])
        np.testing.assert_allclose(actual, alone, rtol=1e-6, atol=1e-12)


def test_classes_leave_out_masked_positions() -> None:
    ids = np.array([1, 9, 3, 3, 2], dtype=np.int32)
    example = Tokens("x", ids, np.array([-1, 0, 1, 2, -1]), np.zeros(5, dtype=np.int8), 3)
    labels = np.array([IGNORED, 9, IGNORED, 3, IGNORED])
    actual = target_masks(example, labels, {"special": {"cls": 1, "sep": 2}, "punctuation": [3]})
    assert actual["cls"].tolist() == [True, False, False, False, False]
    assert actual["sep"].tolist() == [False, False, False, False, True]
    assert actual["punctuation"].tolist() == [False, False, True, False, False]
    assert actual["unmasked"].tolist() == [True, False, True, False, True]


def test_average() -> None:
    gradient = np.arange(32.0).reshape(2, 1, 4, 4)
    keys = np.array([True, False, False, True])
    expected = [np.mean([0, 3, 4, 7, 8, 11, 12, 15]), np.mean([16, 19, 20, 23, 24, 27, 28, 31])]
    assert average(gradient, keys)[:, 0].tolist() == expected
    assert np.isnan(average(gradient, np.zeros(4, dtype=bool))).all()
