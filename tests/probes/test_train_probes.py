"""What a probe learns, control tasks, splits, and what is read of a cache."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import write_card
from tests.probes.builders import HEADS, sentences
from tests.syntax.builders import random_trees
from workflow_scripts.core.data.annotations import (
    to_example,
    write_records,
)
from workflow_scripts.core.data.vectors import Vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.probes import probing_classifiers, random_body
from workflow_scripts.probes.probe_scores import Answers, attachments
from workflow_scripts.probes.probe_sentences import control_heads, load, split, without_tenth
from workflow_scripts.probes.probing_classifiers import AttentionOnly

CPU = torch.device("cpu")


def fitted(seed: int = 1) -> tuple[AttentionOnly, float]:
    train, dev = sentences(80), sentences(40, seed=1)
    torch.manual_seed(0)
    probe = AttentionOnly(HEADS)
    batches = probing_classifiers.Batches(train, [case.heads for case in train], 8)
    recipe = Recipe(seed=seed, epochs=15, batch_size=8, learning_rate=0.3)
    probing_classifiers.fit(probe, batches, recipe, CPU)
    heads = [case.heads for case in dev]
    scored = probing_classifiers.Batches(dev, heads, len(dev))
    predicted = probing_classifiers.predictions(probe, scored, CPU)
    order = scored.order
    answers = Answers([dev[k] for k in order], predicted, [heads[k] for k in order])
    return probe, attachments(answers).share


def test_attention_only_finds_the_head_that_sees() -> None:
    probe, score = fitted()
    weight = probe.weight.detach().numpy()
    assert weight.argmax() == 2  # this head, from dependent to head
    assert score > 0.75
    again, same = fitted()
    assert score == same
    torch.testing.assert_close(probe.weight, again.weight, rtol=0, atol=0)


def test_control_heads_depend_on_the_word_type_alone() -> None:
    words = ["The", "cat", "saw", "the", "dog", "."]
    shuffled = ["dog", "the", ".", "saw", "cat", "The"]
    here, there = control_heads(words, 1), control_heads(shuffled, 1)
    for k, word in enumerate(words, start=1):
        assert here[k - 1] in (1, k, 6)
        if here[k - 1] == k and k not in (1, 6):  # itself
            assert there[shuffled.index(word)] == shuffled.index(word) + 1
    heads = control_heads([f"w{k}" for k in range(3000)], 2)
    shares = [(heads == 1).mean(), (heads == 3000).mean()]
    assert shares == pytest.approx([1 / 3, 1 / 3], abs=0.04)


def test_split_keeps_documents_whole() -> None:
    cases = sentences(70)
    train, dev = split(cases, 0.25, seed=1)
    assert len(train) + len(dev) == 70
    assert not {case.document for case in train} & {case.document for case in dev}
    assert 0.2 < len(dev) / 70 < 0.5
    with pytest.raises(InputError, match="one document"):
        split([cases[0]], 0.2, seed=1)


def test_settings_are_chosen_on_a_tenth_that_is_not_scored() -> None:
    cases = sentences(70)
    train, dev = split(cases, 0.25, seed=1)
    inner, held_out = without_tenth(train)
    assert len(held_out) == len(train) // 10
    assert [case.tree.id for case in held_out + inner] == [case.tree.id for case in train]
    assert not {case.tree.id for case in held_out} & {case.tree.id for case in dev}


def test_sentences_are_the_caches_words(tiny_model_dir: Path, tmp_path: Path) -> None:
    card, trees = write_card(tmp_path, tiny_model_dir), random_trees(3)
    write_records(tmp_path / "corpus.jsonl", [to_example(tree, "d") for tree in trees])
    vectors = Vectors({"the": 0}, np.ones((1, 3), dtype=np.float32))
    with open_cache(write_cache(tmp_path / "a.h5", card, tmp_path / "corpus.jsonl")) as cache:
        loaded = load(cache, trees, ["d"] * 3, vectors)
        pattern = cache[0].pattern.astype(np.float32)
        word = cache[0].word
    first = loaded[0]
    assert first.attention.shape == (12, len(trees[0].words), len(trees[0].words))
    piece = np.flatnonzero(word == 2)
    to_cls = pattern[:, :, piece, 0].mean(axis=2).reshape(-1)
    np.testing.assert_allclose(first.edges[0][:, 2], to_cls, atol=1e-3)
    from_sep = pattern[:, :, -1, piece].sum(axis=2).reshape(-1)
    np.testing.assert_allclose(first.edges[3][:, 2], from_sep, atol=1e-3)
    assert first.vectors.sum() == 3 * sum(word.lower() == "the" for word in first.tree.words)


def test_random_body_keeps_embeddings_only(tiny_model_dir: Path) -> None:
    body = models.load_body(tiny_model_dir, CPU)
    twin = random_body.randomise(body, seed=1)
    random_weights = dict(twin.named_parameters())
    for name, value in body.named_parameters():
        same = torch.equal(value, random_weights[name])
        constant = value.std() == 0 or value.numel() == 1  # biases and layer norms start the same
        if name.startswith("embeddings."):
            assert same, name
        elif not constant:
            assert not same, name
    again = dict(random_body.randomise(body, seed=1).named_parameters())
    assert all(torch.equal(value, again[name]) for name, value in random_weights.items())
