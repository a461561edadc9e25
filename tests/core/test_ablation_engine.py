"""The ablation engine gives the plain model's logits, whatever is disabled and however batched."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.core.tiny_models import HEADS, LAYERS, random_classifier, random_tokens
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import ablation_engine, running
from workflow_scripts.core.model.ablation_engine import MODES, ablate
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.classifiers import logits_of
from workflow_scripts.core.model.interventions import FROM_TEXTS, ByPosition, Replacement
from workflow_scripts.core.model.layers import layers_of

LAYERED = ("bert", "roberta", "electra", "distilbert", "mpnet")
TOLERANCE = 2e-5
PADDED = (9, 23, 14, 5, 17, 23)
EVEN = (12, 12, 12)


def any_sets(seed: int = 3) -> np.ndarray:
    """Sets that span layers, one of them twice, the empty one and all heads."""
    rng = np.random.default_rng(seed)
    sampled = rng.random((6, LAYERS, HEADS)) < rng.uniform(0.1, 0.9, (6, 1, 1))
    none, every = np.zeros((1, LAYERS, HEADS), bool), np.ones((1, LAYERS, HEADS), bool)
    return np.concatenate([sampled, sampled[:1], none, every])


UNITS = {
    "one head": ablation_engine.one_head(LAYERS, HEADS),
    "one layer": ablation_engine.one_layer(LAYERS, HEADS),
    "all but one": ablation_engine.all_but_one(LAYERS, HEADS),
    "any set": any_sets(),
}


class Plainly(Watcher):
    """Disables heads head by head, in plain loops, apart from the watchers of the package."""

    def __init__(self, heads: np.ndarray, mode: str, instead: torch.Tensor | None) -> None:
        """`instead` has the outputs of the modes that are given them, [layer, head, token, dim]."""
        self.heads, self.mode, self.instead = heads, mode, instead

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        pattern = pattern.clone()
        for head in range(HEADS):
            if self.mode == "uniform" and self.heads[layer, head]:
                pattern[:, head] = 1 / pattern.shape[-1]
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        output = output.clone()
        for head in range(HEADS):
            if self.mode == "zero" and self.heads[layer, head]:
                output[:, head] = 0
            if self.mode in FROM_TEXTS and self.heads[layer, head]:
                for token in range(output.shape[2]):
                    of_token = token if self.instead.shape[2] > 1 else 0
                    output[:, head, token] = self.instead[layer, head, of_token]
        return output


def plainly(
    model: PreTrainedModel,
    tokens: list[Tokens],
    disabled: np.ndarray,
    mode: str,
    instead: Replacement | None,
) -> np.ndarray:
    """One example and one variant at a time, unpadded."""
    open_attention(model)
    logits = np.empty((len(disabled), len(tokens), 3), np.float32)
    for variant, row in np.ndindex(len(disabled), len(tokens)):
        outputs = instead and instead.outputs_for([row], len(tokens[row]))[0]
        with watching(model, Plainly(disabled[variant], mode, outputs)), torch.no_grad():
            logits[variant, row] = model(**running.pad([tokens[row]], model)).logits[0]
    return logits


class Random:
    """Random outputs for each of 8 texts, its own at each of 23 tokens or one for all tokens."""

    def __init__(self, layers: int, heads: int, dim: int, n_tokens: int) -> None:
        generator = torch.Generator().manual_seed(5)
        self.outputs = torch.randn(8, layers, heads, n_tokens, dim, generator=generator)

    def outputs_for(self, rows: list[int], n_tokens: int) -> torch.Tensor:
        return self.outputs[rows, :, :, :n_tokens]


def some_outputs(mode: str, layers: int = LAYERS, heads: int = HEADS, dim: int = 8) -> Any:
    """A replacement for the modes that take one: `mean` has one token, and the same for all."""
    if mode == "mean":
        overall = Random(layers, heads, dim, 1).outputs[0, :, :, 0]
        return ByPosition(overall[:, :, None][:, :, :0], overall)
    return Random(layers, heads, dim, 23) if mode in FROM_TEXTS else None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "unit", "lengths", "pairs"),
    [
        ("bert", "one head", PADDED, True),
        *((name, "any set", PADDED, True) for name in LAYERED),
        *((name, "any set", EVEN, False) for name in ("bert", "mpnet")),
    ],
)
def test_equals_the_plain_model(
    name: str, unit: str, mode: str, lengths: tuple[int, ...], pairs: bool
) -> None:
    model, tokens = random_classifier(name), random_tokens(lengths, pairs)
    instead = some_outputs(mode)
    assert layers_of(model) is not None
    actual = ablate(model, tokens, UNITS[unit], mode, instead)
    expected = plainly(model, tokens, UNITS[unit], mode, instead)
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE)
    changed = np.abs(actual - logits_of(model, tokens)).max(axis=(1, 2))
    assert ((changed > 1e-4) == UNITS[unit].any(axis=(1, 2))).all()


@pytest.mark.parametrize("mode", ["uniform", "resample"])
@pytest.mark.parametrize("pass_tokens", [1, 100, 10_000])
def test_every_limit_gives_the_same(pass_tokens: int, mode: str) -> None:
    model, tokens = random_classifier("bert"), random_tokens(PADDED)
    instead = some_outputs(mode)
    disabled = np.concatenate(list(UNITS.values()))
    expected = ablate(model, tokens, disabled, mode, instead)
    actual = ablate(model, tokens, disabled, mode, instead, pass_tokens=pass_tokens)
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE)


@pytest.mark.parametrize("pass_tokens", [1, 1536, 200_000])
def test_bfloat16_is_close_to_float32_however_batched(pass_tokens: int) -> None:
    """Bounds are about twice the highest differences measured with four seeds."""
    model, heads = random_classifier("bert"), UNITS["one head"][::3]
    tokens = random_tokens((*PADDED, 40, 31) * 2)
    exact, rough = (
        ablate(model, tokens, heads, "zero", pass_tokens=pass_tokens, precision=precision)
        for precision in ("float32", "bfloat16")
    )
    share = np.abs(rough - exact) / exact.std(axis=(0, 1))  # of each label
    assert 1e-3 < share.mean() < 0.05  # not float32 under another name
    assert share.max() < 0.2


def test_no_pass_exceeds_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = random_classifier("bert"), random_tokens(PADDED)
    seen = []
    original = ablation_engine._head_outputs

    def watched(classifier, depth, hidden, real):
        seen.append(hidden.shape[0] * hidden.shape[1])
        return original(classifier, depth, hidden, real)

    monkeypatch.setattr(ablation_engine, "_head_outputs", watched)
    ablate(model, tokens, UNITS["one head"], "zero", pass_tokens=160)
    assert 80 < max(seen) <= 160


@pytest.mark.parametrize("name", ["albert", "modernbert", "deberta", "deberta-v2"])
@pytest.mark.parametrize("mode", ["uniform", "zero", "resample"])
def test_other_architectures_run_the_whole_model(name: str, mode: str) -> None:
    model, tokens = random_classifier(name), random_tokens(PADDED)
    instead = some_outputs(mode)
    assert layers_of(model) is None
    actual = ablate(model, tokens, UNITS["any set"], mode, instead)
    expected = plainly(model, tokens, UNITS["any set"], mode, instead)
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE)


def test_units() -> None:
    assert UNITS["one head"].shape == (LAYERS * HEADS, LAYERS, HEADS)
    assert UNITS["one head"][HEADS + 2].sum() == UNITS["one head"][HEADS + 2, 1, 2] == 1
    assert UNITS["one layer"][1].sum() == UNITS["one layer"][1, 1].sum() == HEADS
    left = UNITS["all but one"][HEADS + 2]
    assert left.sum() == HEADS - 1 == left[1].sum()
    assert not left[1, 2]


def test_modules_that_changed_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokens = random_classifier("bert"), random_tokens(EVEN)
    layer = model.bert.encoder.layer[1]
    monkeypatch.setattr(layer, "forward", lambda hidden, *_, **__: hidden)
    with pytest.raises(RuntimeError, match="bert layer by layer: logits differ by"):
        ablate(model, tokens, UNITS["one head"], "zero")
