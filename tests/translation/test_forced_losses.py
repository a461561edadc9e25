"""Teacher-forced losses of stacked variants equal those by hand, token by token."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.core.tiny_translators import KINDS, SOURCES, TARGETS, save
from tests.translation.test_decoding import Plainly, some_variants
from workflow_scripts.core.model import translators
from workflow_scripts.core.model.attention import watching
from workflow_scripts.core.model.translators import Languages, Translator, pad_sources
from workflow_scripts.translation.decoding import forced_losses

SEARCH = {"beams": 2, "length_penalty": 1.0, "max_new_tokens": 12}


@pytest.fixture(params=KINDS)
def translator(request: pytest.FixtureRequest, tmp_path: Path) -> Translator:
    name = request.param
    card = translators.describe(save(tmp_path, name), name, Languages(**KINDS[name][2]))
    return translators.load_translator(tmp_path, card, SEARCH, torch.device("cpu"))


def by_hand(translator: Translator, source: list[int], target: list[int]) -> float:
    """The decoder is given one more token of the target in each step."""
    model, total = translator.model, 0.0
    inputs = pad_sources(translator, [source])
    with torch.no_grad():
        encoded = model.get_encoder()(**inputs)
    first = model.generation_config.decoder_start_token_id
    # mBART's language is what its decoder reads first, and what its labels end with.
    given = [target[-1] if target[-1] == first else first, *target][: len(target)]
    for place, token in enumerate(target):
        seen = torch.tensor([given[: place + 1]])
        with torch.no_grad():
            read = {"encoder_outputs": encoded, "attention_mask": inputs["attention_mask"]}
            logits = model(**read, decoder_input_ids=seen).logits[0, -1].double()
        total -= (logits - logits.logsumexp(0))[token].item()
    return total


@pytest.mark.parametrize("mode", ["zero", "uniform"])
def test_equal_losses_by_hand(translator: Translator, mode: str) -> None:
    sources = translators.sources_of(translator, SOURCES)
    targets = translators.targets_of(translator, TARGETS)
    variants = some_variants(translator, 6)
    expected = np.empty((len(variants), len(sources)))
    for variant, heads in enumerate(variants):
        with watching(translator.model, Plainly(heads, mode)):
            pairs = zip(sources, targets, strict=True)
            expected[variant] = [by_hand(translator, *pair) for pair in pairs]
    for pass_rows in (1, 25, 60, 10_000):
        losses = forced_losses(translator, sources, targets, variants, pass_rows, mode)
        np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert (np.abs(expected[1:] - expected[0]).max(axis=1) > 1e-3).all()


def test_without_variants_it_is_the_model(translator: Translator) -> None:
    sources = translators.sources_of(translator, SOURCES)
    targets = translators.targets_of(translator, TARGETS)
    losses = forced_losses(translator, sources, targets, None, 100)
    expected = [by_hand(translator, *pair) for pair in zip(sources, targets, strict=True)]
    np.testing.assert_allclose(losses, [expected], rtol=1e-5)
