"""What a probe learns, control tasks, splits, and the job as a whole."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import write_card
from tests.probes.builders import HEADS, sentences
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import read_examples, to_example, write_examples
from workflow_scripts.core.data.trees import Tree, read_trees, write_trees
from workflow_scripts.core.data.vectors import Vectors, write_vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.corpora.stories import stories
from workflow_scripts.probes import (
    probing_classifiers,
    random_body,
    train_probes,
)
from workflow_scripts.probes.probe_scores import Answers, attachments
from workflow_scripts.probes.probe_sentences import control_heads, load, split
from workflow_scripts.probes.probing_classifiers import AttentionOnly
from workflow_scripts.probes.train_probes import TASKS

TABLES = ("scores", "counts", "curve", "rates")
CPU = torch.device("cpu")
SETTINGS = {
    "dev_share": 0.3,
    "batch_size": 4,
    "epochs": 2,
    "learning_rates": {
        "attention-only": [0.1],
        "attention-and-words": [0.00001, 0.05],
        "random-attention-and-words": [0.5],
        "distances-and-words": [0.02],
        "structural": [0.005, 0.0001],
    },
    "curve": [0.25, 0.5],
    "released_pairing": False,
    "hidden": 4,
    "structural_rank": 4,
    "bootstrap": 100,
}


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


@pytest.fixture(scope="module")
def study(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sentences of generated stories, their caches and vectors, and the finished job."""
    folder = tmp_path_factory.mktemp("probes")
    write_card(folder, tiny_model_dir)
    trees, documents = [], []
    for text in stories(6, seed=1):
        for start, end in zip(text.starts, [*text.starts[1:], len(text.words)], strict=True):
            heads = [head - start if head >= 0 else -1 for head in text.heads[start:end]]
            words, relations = text.words[start:end], text.relations[start:end]
            trees.append(
                Tree(f"t{len(trees)}", tuple(words), tuple(heads), tuple(relations), (), "s:1")
            )
            documents.append(text.document)
    write_trees(folder / "trees.jsonl", trees)
    pairs = zip(trees, documents, strict=True)
    write_examples(folder / "corpus.jsonl", [to_example(*pair) for pair in pairs])
    words = sorted({word.lower() for tree in trees for word in tree.words})
    rng = np.random.default_rng(0)
    write_vectors(words, rng.normal(size=(len(words), 6)), folder / "v", folder / "w")
    common = {"model": folder / "model.json", "corpus": folder / "corpus.jsonl", "max_tokens": 60}
    write_cache(folder / "cache.h5", folder / "model.json", folder / "corpus.jsonl", 60)
    random_body.main(attention_cache=folder / "random.h5", device="cpu", **common)
    run(folder)
    return folder


def run(folder: Path) -> None:
    train_probes.main(
        folder / "cache.h5",
        folder / "random.h5",
        folder / "model.json",
        folder / "corpus.jsonl",
        folder / "trees.jsonl",
        folder / "v",
        folder / "w",
        **{name: folder / f"{name}.parquet" for name in TABLES},
        probes=folder / "probes",
        settings=SETTINGS,
        max_tokens=60,
        device="cpu",
    )


def test_learning_rates_are_chosen_on_training_sentences_alone(study: Path) -> None:
    rates = tables.read(study / "rates.parquet")
    assert set(rates["probe"]) == {"attention-and-words", "structural"}  # where there is a choice
    scores = tables.read(study / "scores.parquet").set_index(["probe", "task"])
    for probe, rows in rates.groupby("probe"):
        best = rows.loc[rows["score"].idxmax()]
        assert rows["chosen"].sum() == 1
        assert rows.loc[rows["chosen"], "score"].item() == best["score"]
        for task in TASKS:
            assert scores.loc[(probe, task), "learning_rate"] == best["learning_rate"]
    structural = rates[rates["probe"] == "structural"]
    assert len(structural) == 2 * structural["layer"].nunique()
    chosen = structural.loc[structural["chosen"], "layer"].item()
    assert scores.loc[("structural", "real"), "layer"] == chosen


def test_sentences_are_the_caches_words(study: Path) -> None:
    trees = read_trees(study / "trees.jsonl")
    examples = read_examples(study / "corpus.jsonl")
    vectors = Vectors({"the": 0}, np.ones((1, 3), dtype=np.float32))
    with open_cache(study / "cache.h5") as cache:
        loaded = load(cache, trees, [example.document for example in examples], vectors)
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
