"""A masked language model's loss with heads disabled, against transformers' own pass with hooks."""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForMaskedLM, PreTrainedModel

from tests.core.test_ablation_engine import Plainly
from tests.core.tiny_models import (
    ARCHITECTURES,
    HEADS,
    LAYERS,
    WIDTH,
    WITH_CLS,
    random_tokens,
    save_bert,
    write_card,
)
from workflow_scripts.ablation import next_token_attribution, next_token_sweep
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import IGNORED, Tokens
from workflow_scripts.core.model import causal_engine, running
from workflow_scripts.core.model.ablation_engine import one_head
from workflow_scripts.core.model.attention import open_attention, watching

MASK = 4
TEXTS = [
    ["the river runs through the old city", "a king was born near the town"],
    ["the dog saw a cat and ran by the water"],
    ["people of the first century built it of stone"],
]
RUN = {"n_segments": 0, "reference": 1, "max_tokens": 24, "seed": 3, "device": "cpu"}


@contextmanager
def without(model: PreTrainedModel, layer: int, head: int) -> Iterator[None]:
    """Within, one head's output is 0: hooked where BERT merges the heads of a layer."""

    def zeroed(_: torch.nn.Module, given: tuple) -> tuple:
        merged = given[0].clone()
        merged[..., head * WIDTH // HEADS : (head + 1) * WIDTH // HEADS] = 0
        return (merged, *given[1:])

    merge = model.bert.encoder.layer[layer].attention.output.dense
    hook = merge.register_forward_pre_hook(zeroed)
    yield
    hook.remove()


def nats(model: PreTrainedModel, text: Tokens) -> float:
    """The sum over a text's masked tokens, one by one, of minus the log of their chance."""
    inputs = {"input_ids": text.ids, "token_type_ids": text.segment}
    with torch.no_grad():
        given = {name: torch.tensor(row[None]).long() for name, row in inputs.items()}
        chances = model(**given).logits[0].double().softmax(-1)
    places = np.flatnonzero(text.labels != IGNORED)
    return float(sum(-chances[place, text.labels[place]].log() for place in places))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    write_card(folder, save_bert(folder / "bert", mlm=True))
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for at, texts in enumerate(TEXTS):
            line = {"id": str(at), "document": str(at), "source": f"f:{at}", "texts": texts}
            file.write(json.dumps(line) + "\n")
    return folder


def masked(study: Path, seed: int = RUN["seed"]) -> list[Tokens]:
    examples, card = read_examples(study / "corpus.jsonl"), read_card(study / "model.json")
    return causal_engine.Segments.from_examples(examples, card, RUN["max_tokens"], seed).tokens


def test_every_head_is_disabled_as_by_a_hook(study: Path) -> None:
    paths = study / "model.json", study / "corpus.jsonl"
    units = {"head": ["zero"], "layer": ["zero"]}
    next_token_sweep.main(*paths, study / "losses.parquet", units, pass_tokens=200, **RUN)
    found = tables.read(study / "losses.parquet").set_index(["unit", "layer", "head", "id"])
    model = AutoModelForMaskedLM.from_pretrained(study / "bert").eval()
    for text in masked(study):
        plain = found.loc["none", -1, -1, text.id]
        assert plain["n_tokens"] == (text.labels != IGNORED).sum()
        assert plain["nats"] == pytest.approx(nats(model, text), abs=1e-4)
        for layer, head in np.ndindex(LAYERS, HEADS):
            with without(model, layer, head):
                expected = nats(model, text)
            assert found.loc["head", layer, head, text.id]["nats"] == pytest.approx(
                expected, abs=1e-4
            )
    assert found.groupby("unit")["nats"].nunique().min() > 1


def test_attributions_are_of_the_same_masked_tokens(study: Path) -> None:
    paths = study / "model.json", study / "corpus.jsonl"
    next_token_attribution.main(*paths, study / "estimates.parquet", ["zero"], **RUN)
    found = tables.read(study / "estimates.parquet").set_index(["layer", "head", "id"])
    model = AutoModelForMaskedLM.from_pretrained(study / "bert").eval()
    (text, *_), step = masked(study), 0.02
    merge = model.bert.encoder.layer[1].attention.output.dense

    def shrunk(_: torch.nn.Module, given: tuple) -> tuple:
        merged = given[0].clone()
        merged[..., : WIDTH // HEADS] *= 1 - step
        return (merged, *given[1:])

    before = nats(model.double(), text)
    hook = merge.register_forward_pre_hook(shrunk)
    slope = (nats(model, text) - before) / step
    hook.remove()
    assert found.loc[1, 0, text.id]["attribution"] == pytest.approx(slope, rel=0.1, abs=1e-4)


def test_a_seed_masks_a_text_alike_wherever_it_stands(study: Path) -> None:
    first, again, other = masked(study), masked(study), masked(study, seed=4)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.ids, two.ids)
    assert any((one.labels != two.labels).any() for one, two in zip(first, other, strict=True))
    (long,) = random_tokens([402])
    share = (causal_engine._masked(long, MASK, 90, 1).labels != IGNORED).sum() / 400
    assert share == 0.15


@pytest.mark.parametrize("name", WITH_CLS)
def test_layers_run_from_a_head_up_as_the_whole_model(name: str) -> None:
    torch.manual_seed(0)
    config = copy.deepcopy(ARCHITECTURES[name])  # which open_attention changes
    model = AutoModelForMaskedLM.from_config(config, trust_remote_code=False)
    open_attention(model.eval())
    tokens = [causal_engine._masked(each, MASK, 90, 1) for each in random_tokens((9, 14, 6))]
    sets = one_head(LAYERS, HEADS)
    found = causal_engine.ablate(model, tokens, sets, "zero", pass_tokens=100)
    for (number, heads), (row, text) in product(enumerate(sets), enumerate(tokens)):
        with watching(model, Plainly(heads, "zero", None)), torch.no_grad():
            logits = model(**running.pad([text], model)).logits[0]
        expected = cross_entropy(logits, torch.from_numpy(text.labels), reduction="none").numpy()
        expected[text.labels == IGNORED] = np.nan
        np.testing.assert_allclose(found[number, row, : len(text)], expected, atol=1e-4)
