"""On a GPU disabling heads, extraction and translation give what the CPU gives.

Skipped where torch sees no GPU.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from tests.core import test_causal_engine as decoders
from tests.core.test_ablation_engine import LAYERED, PADDED, UNITS
from tests.core.tiny_models import random_classifier, random_tokens
from tests.core.tiny_translators import HEADS, KINDS, save
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.model import (
    ablation_engine,
    causal_engine,
    translators,
)
from workflow_scripts.core.model.attention import open_attention, sublayers
from workflow_scripts.core.model.extraction import extract
from workflow_scripts.core.model.interventions import FROM_TEXTS, Disabled, replacement_of
from workflow_scripts.core.model.translators import Languages, targets_of
from workflow_scripts.translation.decoding import forced_losses, translate

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU")
TOLERANCE = 5e-5
CARD = {"name": "tiny", "weights": "random"}
CPU, GPU = torch.device("cpu"), torch.device("cuda")


def on_both(
    make: Callable[[], PreTrainedModel], run: Callable[[PreTrainedModel], Any]
) -> tuple[Any, Any]:
    """What `run` gives with the model that `make` makes on the CPU, and on the GPU."""
    return run(make()), run(make().to(GPU))


@pytest.mark.parametrize("mode", ablation_engine.MODES)
@pytest.mark.parametrize("name", [*LAYERED, "modernbert"])
def test_logits_of_ablated_classifiers(name: str, mode: str) -> None:
    tokens, disabled = random_tokens(PADDED), np.concatenate(list(UNITS.values()))

    def run(model: PreTrainedModel) -> np.ndarray:
        instead = replacement_of(mode, model, tokens, tokens, 1) if mode in FROM_TEXTS else None
        return ablation_engine.ablate(model, tokens, disabled, mode, instead, pass_tokens=250)

    expected, actual = on_both(lambda: random_classifier(name), run)
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE)
    assert np.ptp(expected, axis=0).max() > 1e-3  # something was disabled


@pytest.mark.parametrize("mode", ablation_engine.MODES)
@pytest.mark.parametrize("name", decoders.CONFIGS)
def test_losses_of_ablated_decoders(name: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(causal_engine.UNEMBEDDED, "gpu", 16)  # fewer tokens than there are
    tokens = decoders.some_tokens()

    def run(model: PreTrainedModel) -> np.ndarray:
        instead = replacement_of(mode, model, tokens, tokens, 1) if mode in FROM_TEXTS else None
        return causal_engine.ablate(model, tokens, decoders.SETS, mode, instead, pass_tokens=100)

    expected, actual = on_both(lambda: decoders.opened(decoders.CONFIGS[name]), run)
    np.testing.assert_allclose(actual, expected, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_attention_caches(name: str, tmp_path: Path) -> None:
    tokens = random_tokens(PADDED) if name == "bert" else decoders.some_tokens()

    def make() -> PreTrainedModel:
        return random_classifier("bert") if name == "bert" else decoders.opened(decoders.LLAMA)

    def run(model: PreTrainedModel) -> list[np.ndarray]:
        path = tmp_path / f"{model.device.type}.h5"
        extract(open_attention(model), tokens, path, CARD, batch_tokens=60)
        with Cache(path, CARD) as cache:
            return [example.pattern.astype(np.float32) for example in cache]

    for expected, actual in zip(*on_both(make, run), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-3)  # float16


@pytest.mark.parametrize("beams", [1, 4])
def test_translations_and_their_losses(
    beams: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, found, left = save(tmp_path / "marian", "marian"), [], []
    keep = Disabled.keep
    monkeypatch.setattr(Disabled, "keep", lambda *given: (left.append(1), keep(*given)))
    card = translators.describe(folder, "marian", Languages(**KINDS["marian"][2]))
    search = {"beams": beams, "length_penalty": 1.3, "max_new_tokens": 10}
    for device in (CPU, GPU):
        translator = translators.load_translator(folder, card, search, device)
        config = translator.model.generation_config
        config.no_repeat_ngram_size = 1
        config.eos_token_id = [*range(4, translator.model.config.vocab_size, 5)]
        shape = len(sublayers(translator.model)), HEADS
        heads = np.random.default_rng(2).random((6, *shape)) < 0.4
        texts = ["the dog sees a cat.", "a man runs.", "a cat"]
        sources = translators.sources_of(translator, texts)
        ids = translate(translator, sources, heads, pass_rows=16)
        losses = forced_losses(translator, sources, targets_of(translator, texts), heads, 16)
        found.append((ids, losses))
    assert found[0][0] == found[1][0]
    assert len(left) > 2  # sentences left a pass before others
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-4)
