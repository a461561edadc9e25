"""What a probe learns, control tasks, splits, and the job as a whole."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors import safe_open

from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import write_card
from tests.probes.builders import HEADS, sentence, sentences
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import (
    Tree,
    read_examples,
    read_trees,
    to_example,
    write_examples,
    write_trees,
)
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.vectors import Vectors, write_vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.plots import colours
from workflow_scripts.corpora.stories import stories
from workflow_scripts.probes import (
    clark2019_probe_pairs,
    clark2019_table3,
    figures,
    probing_classifiers,
    random_body,
    train_probes,
)
from workflow_scripts.probes.probe_scores import Answers, attachments
from workflow_scripts.probes.probe_sentences import control_heads, load, split, without_tenth
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


def test_a_word_is_its_own_candidate_only_where_asked() -> None:
    case = sentence(5, 0)
    batch = probing_classifiers.collate([case, sentence(3, 1)], [case.heads, np.array([0, 1, 1])])
    probe = AttentionOnly(HEADS)
    own = torch.arange(5)
    scores = probing_classifiers.masked_scores(probe, batch, itself=False)
    assert torch.isinf(scores[0, own, own + 1]).all()
    assert torch.isinf(scores[1, :3, 4:]).all()
    assert torch.isfinite(probing_classifiers.masked_scores(probe, batch, itself=True)[0]).all()


def test_control_heads_depend_on_the_word_type_alone() -> None:
    words = ["The", "cat", "saw", "the", "dog", "."]
    heads_of_words = control_heads(words, 1)
    assert (heads_of_words == control_heads(words, 1)).all()
    shuffled = ["dog", "the", ".", "saw", "cat", "The"]
    again = control_heads(shuffled, 1)
    for k, word in enumerate(words, start=1):
        here, there = heads_of_words[k - 1], again[shuffled.index(word)]
        assert {k: "itself", 1: "first", 6: "last"}.get(here) is not None
        kind = "itself" if here == k and k not in (1, 6) else None
        if kind:
            assert there == shuffled.index(word) + 1
    many = [f"w{k}" for k in range(3000)]
    heads = control_heads(many, 2)
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


def test_the_job_scores_and_saves_every_probe(study: Path) -> None:
    frame = tables.read(study / "scores.parquet")
    assert set(frame["probe"]) == set(clark2019_table3.ROWS)
    assert (frame["score"].between(0, 1) & (frame["ci_low"] <= frame["ci_high"])).all()
    assert frame["n"][frame["measure"] == "UAS"].nunique() == 1
    saved = {path.name for path in (study / "probes").iterdir()}
    names = set(clark2019_table3.PAPER) - {"right-branching"}
    assert saved == {f"{name}.{task}.safetensors" for name in names for task in TASKS}
    with safe_open(study / "probes/attention-only.real.safetensors", "np") as file:
        assert file.get_tensor("weight").shape == (2 * 12,)
        assert json.loads(file.metadata()["settings"]) == SETTINGS


def test_counts_add_up_to_the_scores(study: Path) -> None:
    counts = tables.read(study / "counts.parquet")
    keys = ["probe", "task", "measure"]
    assert not counts.duplicated([*keys, "document"]).any()
    summed = counts.groupby(keys)[["correct", "total"]].sum()
    for row in tables.read(study / "scores.parquet").itertuples():
        both = summed.loc[(row.probe, row.task, row.measure)]
        assert (row.score, row.n) == (both["correct"] / both["total"], both["total"])
    edges = summed.xs("UUAS", level="measure").xs("real", level="task")["total"]
    assert set(edges.index) == set(clark2019_table3.PAPER)
    assert edges.nunique() == 1


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


def test_settings_are_chosen_on_a_tenth_that_is_not_scored() -> None:
    cases = sentences(70)
    train, dev = split(cases, 0.25, seed=1)
    inner, held_out = without_tenth(train)
    assert len(held_out) == len(train) // 10
    assert [case.tree.id for case in held_out + inner] == [case.tree.id for case in train]
    assert not {case.tree.id for case in held_out} & {case.tree.id for case in dev}


def test_curves_end_at_the_scores(study: Path) -> None:
    curve, scores = (tables.read(study / f"{name}.parquet") for name in ("curve", "scores"))
    real = scores[scores["task"] == "real"].set_index("probe")
    trained = set(clark2019_table3.PAPER) - {"right-branching"}
    assert set(curve["probe"]) == trained
    for probe, rows in curve.groupby("probe"):
        assert len(rows) == 3
        last = rows.loc[rows["train_sentences"].idxmax()]
        assert last["train_sentences"] == real.loc[probe, "train_sentences"]
        assert last["score"] == real.loc[probe, "score"]
    sizes = curve.groupby("probe")["train_sentences"].agg(tuple)
    assert sizes.nunique() == 1  # the same sentences for every probe
    assert list(sizes.iloc[0]) == sorted(sizes.iloc[0])


def test_the_job_is_deterministic(study: Path, tmp_path: Path) -> None:
    for name in ("cache.h5", "random.h5", "model.json", "corpus.jsonl", "trees.jsonl", "v", "w"):
        (tmp_path / name).symlink_to(study / name)
    run(tmp_path)
    for name in TABLES:
        again = tables.read(tmp_path / f"{name}.parquet")
        pd.testing.assert_frame_equal(tables.read(study / f"{name}.parquet"), again)


def test_table3(study: Path) -> None:
    clark2019_table3.main(study / "scores.parquet", study / "table.csv", annotation="silver")
    table = pd.read_csv(study / "table.csv").set_index("probe")
    assert list(table.index) == list(clark2019_table3.ROWS)
    assert table.loc["attention-and-words", "paper_score"] == 77
    frame = tables.read(study / "scores.parquet").set_index(["probe", "task"])["score"]
    real, control = (100 * frame["attention-only", task] for task in ("real", "control"))
    assert table.loc["attention-only", "selectivity"] == pytest.approx(real - control, abs=0.06)
    assert np.isnan(table.loc["right-branching", "selectivity"])
    assert np.isnan(table.loc["uniform-attention-bound", "paper_score"])
    assert (
        table["learning_rate"].dropna().isin([0.1, 0.00001, 0.05, 0.5, 0.02, 0.005, 0.0001]).all()
    )
    assert (table["n_documents"] == table["n_documents"].iloc[0]).all()


def test_the_other_products_of_the_job(study: Path) -> None:
    clark2019_probe_pairs.main(
        study / "counts.parquet", study / "pairs.csv", annotation="silver", bootstrap=100
    )
    pairs = pd.read_csv(study / "pairs.csv").set_index(["measure", "probe", "other"])
    scores = tables.read(study / "scores.parquet").set_index(["probe", "task"])["score"]
    gap = scores["attention-and-words", "real"] - scores["attention-only", "real"]
    row = pairs.loc[("UAS", "attention-and-words", "attention-only")]
    assert row["difference"] == pytest.approx(100 * gap, abs=0.06)
    assert row["paper_difference"] == 16
    files = {kind: study / f"curve.{kind}" for kind in ("svg", "pdf", "png")}
    figures.clark2019_probe_curve(study / "curve.parquet", **files)
    text = files["svg"].read_text(encoding="utf-8")
    assert all(look.name in text for look in colours.PARSERS.values())


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


def test_the_model_and_its_random_body_do_not_share_a_cache(study: Path) -> None:
    card = read_card(study / "model.json")
    cards = {"cache.h5": card, "random.h5": random_body.random_card(card, seed=1)}
    for name, other in zip(cards, reversed(cards), strict=True):
        Cache(study / name, cards[name]).close()
        with pytest.raises(InputError, match="was made by another model"):
            Cache(study / name, cards[other])


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
