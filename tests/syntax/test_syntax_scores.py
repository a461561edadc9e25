"""Scores of a whole corpus: accuracies, intervals, held-out heads, Table 1 and Figure 5."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModel

from tests.attention.builders import write_cache
from tests.core.tiny_models import tokenizer, write_card
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import to_example, write_examples
from workflow_scripts.core.data.trees import Tree, read_trees, write_trees
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.syntax import (
    clark2019_fig5,
    clark2019_table1,
    counting,
    syntax_examples,
    syntax_scores,
)

WORDS = ["the", "river", "flows", "through", "an", "old", "city", "kings", "'s", ".", "builtby"]
LABELS = ["det", "nsubj", "poss", "pobj", "punct"]


def random_trees(n: int) -> list[Tree]:
    rng = np.random.default_rng(5)
    trees = []
    for number in range(n):
        length = int(rng.integers(6, 12))
        root = int(rng.integers(length))
        heads = [
            -1 if k == root else int((k + rng.integers(1, length)) % length) for k in range(length)
        ]
        relations = ["root" if k == root else str(rng.choice(LABELS)) for k in range(length)]
        words = tuple(str(word) for word in rng.choice(WORDS, size=length))
        trees.append(
            Tree(f"t{number}", words, tuple(heads), tuple(relations), ("",) * length, "f:1")
        )
    return trees


@pytest.fixture(scope="module")
def study(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random treebank, its attention cache and its scores."""
    folder = tmp_path_factory.mktemp("syntax")
    write_card(folder, tiny_model_dir)
    trees = random_trees(40)
    write_trees(folder / "trees.jsonl", trees)
    write_examples(folder / "corpus.jsonl", [to_example(tree, "d") for tree in trees])
    write_cache(folder / "cache.h5", folder / "model.json", folder / "corpus.jsonl", 60)
    run(folder, folder / "trees.jsonl", released_direction=True)
    return folder


def run(folder: Path, trees: Path, **options: object) -> None:
    settings = {"largest_offset": 3, "released_direction": False, "bootstrap": 200} | options
    syntax_scores.main(
        attention=folder / "cache.h5",
        model=folder / "model.json",
        trees=trees,
        scores=folder / "scores",
        offsets=folder / "offsets",
        best=folder / "best",
        sentences=folder / "sentences",
        **settings,
    )


def test_against_the_plain_model_in_float32(study: Path, tiny_model_dir: Path) -> None:
    """No cache, no batches, words tokenised one by one, counted in Python."""
    plain = AutoModel.from_pretrained(tiny_model_dir, attn_implementation="eager").eval()
    hits: dict[tuple, list[bool]] = {}
    for tree in read_trees(study / "trees.jsonl"):
        pieces = [tokenizer()(word, add_special_tokens=False)["input_ids"] for word in tree.words]
        ids = [2, *[piece for word in pieces for piece in word], 3]
        with torch.no_grad():
            maps = plain(torch.tensor([ids]), output_attentions=True).attentions
        starts = np.cumsum([1, *[len(word) for word in pieces]])
        positions = [range(a, b) for a, b in pairwise(starts)]
        for layer, pattern in enumerate(maps):
            for head, weights in enumerate(pattern[0].numpy()):
                word_level = [
                    [np.mean([sum(weights[q, k] for k in to) for q in of]) for to in positions]
                    for of in positions
                ]
                for i, (h, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
                    if h < 0:
                        continue
                    n = len(tree.words)
                    s = relation == "poss" and i + 1 < n and tree.words[i + 1] == "'s"
                    d = i + 1 if s else i
                    others = [j for j in range(n) if j != d]
                    hit = max(others, key=lambda j: word_level[d][j]) == h
                    hits.setdefault((layer, head, relation), []).append(hit)
    frame = tables.read(study / "scores")
    frame = frame[frame["direction"] == "dependent_to_head"]
    for (layer, head, relation), values in hits.items():
        rows = frame[
            (frame["layer"] == layer) & (frame["head"] == head) & (frame["relation"] == relation)
        ]
        assert rows["n"].item() == len(values)
        assert rows["accuracy"].item() == pytest.approx(np.mean(values), abs=1.5 / len(values))


def test_intervals_and_totals(study: Path) -> None:
    frame = tables.read(study / "scores")
    assert set(frame["direction"]) == set(counting.DIRECTIONS)
    assert set(frame["relation"]) == {"all", *LABELS}
    assert (frame["ci_low"] <= frame["accuracy"] + 1e-9).all()
    assert (frame["accuracy"] <= frame["ci_high"] + 1e-9).all()
    sizes = frame.groupby("relation")["n"].first()
    assert sizes["all"] == sizes[["det", "nsubj", "poss", "pobj"]].sum()


def test_bootstrap_equals_drawing_by_hand() -> None:
    rng = np.random.default_rng(0)
    total = rng.integers(1, 6, size=(50, 1))
    correct = rng.binomial(total, 0.4).reshape(50, 1, 1, 1, 1)
    _, low, high = head_accuracy.accuracy(correct, total, draws=4000, seed=1)
    drawn = []
    for _ in range(4000):
        chosen = rng.integers(50, size=50)
        drawn.append(correct[chosen].sum() / total[chosen].sum())
    expected = np.percentile(drawn, [2.5, 97.5])
    np.testing.assert_allclose([low.item(), high.item()], expected, atol=0.01)


def test_the_held_out_head_is_chosen_without_its_half() -> None:
    """Heads that are right by chance are no better than chance on the other half."""
    rng = np.random.default_rng(0)
    total = np.full((400, 1), 1)
    correct = rng.binomial(1, 0.5, size=(400, 1, 1, 200, 1))
    counts = syntax_scores.Counts(["all"], correct, np.zeros((400, 6, 1)), total, 0)
    best = syntax_scores.held_out(counts, seed=1).iloc[0]
    assert correct.mean(axis=0).max() > 0.55
    assert best["held_out_accuracy"] == pytest.approx(0.5, abs=0.08)
    assert best["held_out_n"] == 200


def test_table1(study: Path) -> None:
    clark2019_table1.main(
        scores=study / "scores",
        offsets=study / "offsets",
        best=study / "best",
        table=study / "table1",
        fewest=5,
        annotation="gold",
    )
    table = pd.read_csv(study / "table1")
    assert table["relation"].tolist() == ["all", "pobj", "det", "nsubj", "poss"]
    frame = tables.read(study / "scores")
    for row in table.to_dict("records"):
        own = frame[frame["relation"] == row["relation"]]
        assert row["accuracy"] == pytest.approx(100 * own["accuracy"].max(), abs=0.06)
        assert row["ci_low"] <= row["accuracy"] <= row["ci_high"]
    assert set(table["annotation"]) == {"gold"}


def test_figure5(study: Path) -> None:
    syntax_examples.main(
        attention=study / "cache.h5",
        model=study / "model.json",
        trees=study / "trees.jsonl",
        scores=study / "scores",
        examples=study / "examples",
        relations=["det", "nothing", "poss"],
        n_examples=2,
    )
    frame = tables.read(study / "examples")
    assert frame["drawing"].nunique() == 4
    assert frame.groupby("drawing")["highlighted"].any().all()
    sums = frame.groupby(["drawing", "query"])["weight"].sum()
    np.testing.assert_allclose(sums, 1, atol=5e-3)
    paths = {kind: study / f"fig5.{kind}" for kind in ("svg", "pdf", "png")}
    clark2019_fig5.main(examples=study / "examples", **paths)
    assert "det, " in paths["svg"].read_text()


def draw_examples(study: Path, out: Path, **options: object) -> pd.DataFrame:
    settings = {"trees": study / "trees.jsonl", "relations": ["det"], "n_examples": 2} | options
    paths = {"attention": study / "cache.h5", "model": study / "model.json"}
    syntax_examples.main(**paths, scores=study / "scores", examples=out, **settings)
    return tables.read(out)


def test_figure5_of_a_treebank_without_the_relations(study: Path, tmp_path: Path) -> None:
    """What counts for all is marked: neither the root nor punctuation."""
    frame = draw_examples(study, tmp_path / "examples", relations=["nothing"])
    assert frame["title"].str.startswith("all, ").all()
    trees = {tree.id: tree for tree in read_trees(study / "trees.jsonl")}
    for name, rows in frame.groupby("example"):
        tree = trees[name]
        queries = rows.groupby("query")[["query_token", "highlighted"]].first()
        positions = range(len(tree.words))
        attending = counting.stand_ins(tree)
        if rows["direction"].iloc[0] == "head_to_dependent":
            attending = tree.heads
        expected = {
            attending[k] for k in positions if tree.heads[k] >= 0 and tree.relations[k] != "punct"
        }
        marked = queries["highlighted"].to_numpy()[1:-1]
        assert [k in expected for k in positions] == marked.tolist()


def test_figure5_without_a_sentence_to_draw(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syntax_examples, "SHORTEST", 99)
    with pytest.raises(InputError, match=r"no sentence of 99 to 16 words to draw"):
        draw_examples(study, tmp_path / "examples")


def test_trees_of_another_corpus_are_refused(study: Path, tmp_path: Path) -> None:
    write_trees(tmp_path / "trees.jsonl", random_trees(39))
    with pytest.raises(InputError, match="not those of the treebank"):
        run(study, tmp_path / "trees.jsonl")
