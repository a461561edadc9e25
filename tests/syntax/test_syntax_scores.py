"""Scores of a whole corpus: accuracies, intervals, held-out heads, Table 1."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModel

from tests.attention.builders import open_cache
from tests.core.builders import plain_ends
from tests.core.tiny_models import tokenizer
from tests.syntax.builders import WORDS, random_trees, run
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_trees, write_records
from workflow_scripts.core.data.wordpieces import to_words, word_attention
from workflow_scripts.core.errors import InputError
from workflow_scripts.syntax import counting, figures


def test_against_the_plain_model_in_float32(study: Path, tiny_model_dir: Path) -> None:
    """No cache, no batches, words tokenised one by one, counted in Python."""
    plain = AutoModel.from_pretrained(
        tiny_model_dir, attn_implementation="eager", trust_remote_code=False
    ).eval()
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


def test_intervals_draw_whole_documents(study: Path) -> None:
    """Each document's counts are added up before documents are sampled; halves are of documents."""
    trees = read_trees(study / "trees.jsonl")
    frame = tables.read(study / "scores")
    by_document = np.zeros((14, 2), dtype=int)  # right and all, for head 1-1 and `det`
    with open_cache(study / "cache.h5") as cache:
        for k, (tree, example) in enumerate(zip(trees, cache, strict=True)):
            attention = word_attention(example.pattern, example.word)
            if len(attention.words) == len(tree.words):
                member = counting.membership(tree, ["det"])
                right = counting.by_relation(counting.hits(attention, tree), member).correct
                by_document[k // 3] += right[0, 0, 0, 0], tree.relations.count("det")
    row = frame[frame["relation"] == "det"].iloc[0]
    assert (row["direction"], row["layer"], row["head"]) == ("dependent_to_head", 0, 0)
    expected = plain_ends(*by_document.T, 200, 1)
    np.testing.assert_allclose([row["ci_low"], row["ci_high"]], expected, atol=1e-12)
    assert row["n_documents"] == np.count_nonzero(by_document[:, 1])
    best = tables.read(study / "best").set_index("relation")
    half = np.random.default_rng(1).permutation(14)[7:]
    assert best.loc["det", "held_out_n"] == by_document[half, 1].sum()


def released_program(study: Path, layer: int, head: int, transposed: bool) -> float:
    """The released program's accuracy for all words, word by word, with ROOT at index 0."""
    right = total = 0
    with open_cache(study / "cache.h5") as cache:
        for tree, example in zip(read_trees(study / "trees.jsonl"), cache, strict=True):
            weights = to_words(example.pattern[layer, head], example.word)[1:-1, 1:-1].copy()
            if len(weights) != len(tree.words):
                continue
            weights = weights.T if transposed else weights
            np.fill_diagonal(weights, 0)
            predictions = np.argmax(weights, axis=-1) + 1
            for i, (h, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
                p = predictions[i]
                if relation == "poss" and tree.words[i + 1 : i + 2] == ("'s",):
                    p = predictions[i + 1]
                right += p == h + 1
                total += 1
    return right / total


def test_released_counting_against_the_released_program(study: Path) -> None:
    frame = tables.read(study / "released")
    assert set(frame["relation"]) == {counting.ALL_RELEASED}
    assert set(frame["direction"]) == {"dependent_to_head", "released"}
    for row in frame.to_dict("records"):
        expected = released_program(
            study, row["layer"], row["head"], transposed=row["direction"] == "released"
        )
        assert row["accuracy"] == pytest.approx(expected)


def test_split_words_and_special_tokens_in_the_scores(study: Path) -> None:
    frame = tables.read(study / "scores").set_index(["direction", "layer", "head", "relation"])
    trees = read_trees(study / "trees.jsonl")
    pieces = {word: len(tokenizer()(word, add_special_tokens=False)["input_ids"]) for word in WORDS}
    split = sum(
        pieces[word] > 1 and relation == "det"
        for tree in trees
        for word, relation in zip(tree.words, tree.relations, strict=True)
    )
    assert set(frame.xs("det", level="relation")["split"]) == {split}
    assert split > 0
    assert (frame["with_special"] <= frame["accuracy"]).all()
    assert (frame["with_special"] < frame["accuracy"]).any()


def test_table1(study: Path) -> None:
    figures.clark2019_table1(
        scores=study / "scores",
        released=study / "released",
        offsets=study / "offsets",
        best=study / "best",
        table=study / "table1",
        fewest=5,
        annotation="gold",
    )
    table = pd.read_csv(study / "table1")
    expected = ["all", counting.ALL_RELEASED, "pobj", "det", "nsubj", "poss"]
    assert table["relation"].tolist() == expected
    frame = tables.read(study / "scores")
    for row in table.drop(index=1).to_dict("records"):
        own = frame[frame["relation"] == row["relation"]]
        assert row["accuracy"] == pytest.approx(100 * own["accuracy"].max(), abs=0.06)
        of_direction = own[own["direction"] == row["direction"]]
        change = (of_direction["with_special"] - of_direction["accuracy"]).median()
        assert row["with_special_median_change"] == pytest.approx(100 * change, abs=0.06)
    assert set(table["annotation"]) == {"gold"}
    held_out = tables.read(study / "best").set_index("relation")["held_out_gain_p"]
    for row in table.to_dict("records"):  # not rounded to a digit, as the percentages are
        assert row["held_out_gain_p"] == pytest.approx(held_out[row["relation"]], rel=1e-5)
    assert table["paper_accuracy"].tolist()[:3] == [34.5, 34.5, 76.3]
    assert table["notebook_accuracy"].isna().tolist()[:2] == [True, False]


def test_trees_of_another_corpus_are_refused(study: Path, tmp_path: Path) -> None:
    write_records(tmp_path / "trees.jsonl", random_trees(39))
    with pytest.raises(InputError, match="not those of the treebank"):
        run(study, tmp_path / "trees.jsonl")
