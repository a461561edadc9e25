"""Estimates bound what files really take."""

from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.core.data.cache import CacheWriter
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.preflight.estimates import (
    Amount,
    Corpus,
    Shape,
    Sizes,
    cache_amount,
    cache_bytes,
    peak,
    translator_bytes,
)
from workflow_scripts.preflight.models import read_header
from workflow_scripts.translation.translator_training import Recipe, new_translator

TRANSLATOR = {"vocabulary": 30, "hidden": 8, "feed_forward": 12, "layers": 3, "heads": 2}
SHAPE = Shape(layers=2, heads=3, weights=1000, max_positions=12)
CONFIG = {
    "checkpoints": {"finetune": {"epochs": 3, "every_epoch": ["sst2"]}},
    "arguments": {"keep": ["full", "W"]},
    "probes": {"treebank": "trees"},
    "corpora": {"vectors": {"own": {"train": "text", "dimensions": 5}, "glove": {"path": "x"}}},
    "atlas": {"megabytes": 2},
    "translation": {"train": TRANSLATOR | {"epochs": 4, "every_epoch": True}},
}
SIZES = Sizes(
    results="results/s",
    corpora={"trees": Corpus(10, 8), "sst2": Corpus(4, 8), "large": Corpus(None, 8)},
    models={"m": SHAPE, "later": None},
    config=CONFIG,
    n_vectors={"glove": 77},
)
WEIGHTS = 1000 + 2_000_000
CACHE = 10 * 6 * 64 * 2 + 10 * (8 * 9 + 64) + 20_000


def write_cache(path: Path, lengths: list[int]) -> int:
    """A real cache of examples with these numbers of tokens; its size."""
    tokens = []
    for number, length in enumerate(lengths):
        ids, segment = np.zeros(length, np.int32), np.zeros(length, np.int8)
        tokens.append(Tokens(f"example-{number:05d}", ids, ids, segment, 1))
    with CacheWriter(path, tokens, SHAPE.layers, SHAPE.heads, {}) as writer:
        for number, length in enumerate(lengths):
            writer.write(number, np.zeros((SHAPE.layers, SHAPE.heads, length, length)))
    return path.stat().st_size


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_the_bytes_of_a_cache_bound_the_real_file(
    lengths: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    real = write_cache(tmp_path_factory.mktemp("cache") / "a.h5", lengths)
    estimated = cache_bytes(lengths, SHAPE.layers, SHAPE.heads)
    assert real <= estimated <= real + 20_000 + 64 * len(lengths)


def test_the_bound_of_a_corpus_takes_the_longest_inputs(tmp_path: Path) -> None:
    corpus = Corpus(5, 20, {"m": [3, 5]})
    amount = cache_amount(corpus, SHAPE, "m")
    assert write_cache(tmp_path / "a.h5", [12] * 5) <= amount.most
    fixed = 5 * 64 + 20_000
    assert amount.most == 5 * (6 * 144 * 2 + 12 * 9) + fixed  # the model has 12 positions
    assert amount.expected == 5 * (6 * (9 + 25) / 2 * 2 + 4 * 9) + fixed
    assert cache_amount(corpus, SHAPE, "other").expected == amount.most
    assert cache_amount(Corpus(None, 20), SHAPE, "m") == Amount(None, None)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("m/attention/trees.h5", CACHE),
        ("m/attention/trees.shards/2-of-4.h5", CACHE / 4),
        ("m/probes/random_body.h5", CACHE),
        ("m/attention/sst2.pretrained.1.h5", 4 * 6 * 64 * 2 + 4 * (8 * 9 + 64) + 20_000),
        ("m/attention/large.h5", None),
        ("m/checkpoints/sst2.pretrained.1", WEIGHTS),
        ("m/checkpoints/mrpc.random.3", WEIGHTS),
        ("m/checkpoints/sst2.pretrained.1.epochs", 2 * WEIGHTS),
        ("m/checkpoints/mrpc.pretrained.1.epochs", 0),
        ("m/arguments/bert.original.2", 2 * WEIGHTS),
        ("m/arguments/bert.negated.2", 0),
        ("later/attention/trees.h5", None),
        ("later/checkpoints/sst2.random.1", None),
        ("later/checkpoints/sst2.random.1.json", 60_000),
        ("m/figures/fig.svg", 60_000),
        ("corpora/own.vectors.safetensors", 4 * 5 * 10_000),
        ("corpora/glove.vectors.safetensors", 77),
        ("atlas.html", 2e6),
        ("translation/1.checkpoint", translator_bytes(TRANSLATOR) + 500_000),
        ("translation/12.epochs", 3 * (translator_bytes(TRANSLATOR) + 500_000)),
        ("translation/1.card.json", 60_000),
    ],
)
def test_amounts_by_hand(path: str, expected: float | None) -> None:
    assert SIZES.amount(f"results/s/{path}").expected == expected


def test_the_bytes_of_a_translator_are_those_of_its_weights(tmp_path: Path) -> None:
    rest = {"seed": 1, "epochs": 1, "batch_size": 1, "learning_rate": 0.1}
    made = new_translator(["the dog sees a cat near the old river"], Recipe(**TRANSLATOR, **rest))
    assert len(made.tokenizer) == TRANSLATOR["vocabulary"]
    made.model.save_pretrained(tmp_path)
    shapes = read_header(tmp_path).values()
    assert translator_bytes(TRANSLATOR) == 4 * sum(map(prod, shapes))


def test_a_training_job_keeps_its_state_twice() -> None:
    assert SIZES.scratch(["finetune", "extract"]) == 6000
    assert SIZES.scratch(["extract"]) == 0


def test_the_peak_counts_what_is_removed_later() -> None:
    unknown = Amount(None, 7)
    events = [
        ("add", Amount(5, 6)),
        ("add", unknown),
        ("remove", Amount(5, 6)),
        ("add", Amount(1, 2)),
    ]
    left, highest = peak(events)
    assert (left, highest) == (Amount(1, 9), Amount(5, 13))
