"""Stacked variants give what one variant and sentence at a time give: translations, losses."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.core.tiny_translators import HEADS, KINDS, SOURCES, TARGETS, save
from workflow_scripts.core.model import translators
from workflow_scripts.core.model.attention import Watcher, sublayers, watching
from workflow_scripts.core.model.translators import Languages, Translator, pad_sources
from workflow_scripts.translation.decoding import forced_losses, translate

CAP = 10
TEXTS = ["the dog sees a cat.", "a man runs.", "a cat", "the man sees the dog, and the cat runs."]
Load = Callable[[str, int], Translator]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Loads a tiny random translator by kind and number of beams.

    Random models repeat themselves and never end: of these every fifth token is an end, and none is
    repeated, so that outputs are of all lengths.
    """

    def loaded(name: str, beams: int) -> Translator:
        folder = save(tmp_path_factory.mktemp("translators") / name, name)
        card = translators.describe(folder, name, Languages(**KINDS[name][2]))
        search = {"beams": beams, "length_penalty": 1.3, "max_new_tokens": CAP}
        made = translators.load_translator(folder, card, search, torch.device("cpu"))
        config = made.model.generation_config
        config.no_repeat_ngram_size = 1
        config.eos_token_id = [*range(4, made.model.config.vocab_size, 5), config.eos_token_id]
        return made

    return loaded


class Plainly(Watcher):
    """Disables heads one by one, apart from the watchers of the package."""

    def __init__(self, heads: np.ndarray, mode: str) -> None:
        self.heads, self.mode = np.argwhere(heads).tolist(), mode

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        pattern = pattern.clone()
        for place, head in self.heads:
            if place == layer and self.mode == "uniform":
                queries, keys = pattern.shape[2:]
                seen = torch.ones(queries, keys)  # nothing is padded
                seen = seen.tril(keys - queries) if real.ndim == 3 else seen
                pattern[:, head] = seen / seen.sum(-1, keepdim=True)
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        output = output.clone()
        for place, head in self.heads:
            if place == layer and self.mode == "zero":
                output[:, head] = 0
        return output


def some_variants(translator: Translator, n: int = 6, seed: int = 2) -> np.ndarray:
    """None, one head of each type, all but one of a sublayer, and sets across types."""
    order = sublayers(translator.model)
    heads = np.random.default_rng(seed).random((n, len(order), HEADS)) < 0.4
    heads[:5] = False
    for variant, kind in enumerate(("encoder", "encoder-decoder", "decoder"), start=1):
        heads[variant, [place.type for place in order].index(kind), variant] = True
    heads[4, -1, 1:] = True
    return heads


def plainly(
    translator: Translator, sources: list[list[int]], variants: np.ndarray, mode: str
) -> list[list[list[int]]]:
    """One variant and one sentence at a time."""
    ids = []
    for heads in variants:
        with watching(translator.model, Plainly(heads, mode)), torch.inference_mode():
            made = [translator.model.generate(**pad_sources(translator, [s])) for s in sources]
        ids.append([row[0, 1:].tolist() for row in made])
    return ids


@pytest.mark.parametrize(
    ("name", "beams"),
    [
        ("marian", 1),
        ("marian", 5),
        ("bart", 4),
        ("mbart", 2),
        ("mbart50", 3),
        ("m2m100", 2),
        ("t5", 4),
    ],
)
def test_equals_one_at_a_time(name: str, beams: int, load: Load) -> None:
    translator = load(name, beams)
    sources = translators.sources_of(translator, TEXTS)
    assert len({len(source) for source in sources}) > 2  # padded
    variants = some_variants(translator)
    expected = plainly(translator, sources, variants, "zero")
    for pass_rows in (9, 1000):
        found = translate(translator, sources, variants, pass_rows)
        assert found == expected
    assert len({len(tokens) for row in expected for tokens in row}) > 2
    assert len({str(row) for row in expected}) > len(variants) / 2


@pytest.mark.parametrize("name", ["bart", "t5"])
def test_uniform_attention(name: str, load: Load) -> None:
    translator = load(name, 4)
    sources = translators.sources_of(translator, TEXTS)
    variants = some_variants(translator)
    expected = plainly(translator, sources, variants, "uniform")
    assert translate(translator, sources, variants, 70, "uniform") == expected
    assert expected != plainly(translator, sources, variants, "zero")


def test_no_pass_exceeds_its_limit_and_encoders_are_shared(load: Load) -> None:
    translator = load("marian", 4)
    sources = translators.sources_of(translator, TEXTS)
    variants = some_variants(translator)
    encoded, decoded = [], []
    model = translator.model
    hooks = [
        model.get_encoder().register_forward_hook(lambda *call: encoded.append(len(call[-1][0]))),
        model.get_decoder().register_forward_hook(lambda *call: decoded.append(len(call[-1][0]))),
    ]
    translate(translator, sources, variants, 50)
    assert 24 < max(decoded) <= 50
    encoded.clear()
    translate(translator, sources, variants, 1000)
    assert encoded == [len(sources) * 3]  # of 6 variants 4 leave the encoder as it is
    assert max(decoded) == len(sources) * len(variants) * 4
    assert min(decoded) < max(decoded) / 2  # those that are done leave
    for hook in hooks:
        hook.remove()


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
    for pass_rows in (25, 10_000):
        losses = forced_losses(translator, sources, targets, variants, pass_rows, mode)
        np.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert (np.abs(expected[1:] - expected[0]).max(axis=1) > 1e-3).all()
