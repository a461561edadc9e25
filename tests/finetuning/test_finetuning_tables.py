"""Similarity, features, links, shared words and maps, against slow versions and values by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.finetuning.builders import caches
from workflow_scripts.core.data import cards, tables
from workflow_scripts.core.data.annotations import read_examples, read_trees
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.finetuning import finetuning_maps, finetuning_tables
from workflow_scripts.finetuning.token_kinds import LABELS, word_links, words_of_kinds


def test_similarity_against_a_loop(study: dict[str, Path], frames: dict[str, pd.DataFrame]) -> None:
    actual = frames["similarity"].set_index(["layer", "head"])["similarity"]
    for layer, head in ((0, 0), (2, 3), (1, 2)):
        slow = []
        for before, after in zip(*caches(study), strict=True):
            a, b = (x.pattern[layer, head].astype(float).ravel() for x in (before, after))
            slow.append(sum(a * b) / (sum(a * a) ** 0.5 * sum(b * b) ** 0.5))
        assert actual[layer, head] == pytest.approx(np.mean(slow), abs=1e-9)
    assert actual.max() < 0.9999


def test_features_against_a_loop(study: dict[str, Path], frames: dict[str, pd.DataFrame]) -> None:
    of_all = frames["features"][frames["features"]["query"] == "all"]
    frame = of_all.set_index(["stage", "kind", "layer", "head"])["attention"]
    trees = read_trees(study["annotation"])
    for stage, examples in zip(("pretrained", "fine-tuned"), caches(study), strict=True):
        for layer, head in ((0, 1), (2, 2)):
            sums = []
            for example, tree in zip(examples, trees, strict=True):
                nouns = [
                    index
                    for index, word in enumerate(example.word)
                    if word >= 0 and tree.tags[word].startswith("NN")
                ]
                length = len(example.ids)
                columns = [
                    sum(float(example.pattern[layer, head, query, key]) for query in range(length))
                    for key in nouns
                ]
                sums.append(max(columns) / length)
            assert frame[stage, "noun", layer, head] == pytest.approx(np.mean(sums), abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "words", "n"), [("pronoun", {"she", "he", "it"}, 3), ("negation", {"not"}, 1)]
)
def test_shares_against_a_loop(
    kind: str, words: set, n: int, study: dict[str, Path], frames: dict[str, pd.DataFrame]
) -> None:
    frame = frames["features"].set_index(["stage", "query", "kind", "layer", "head"])
    trees = read_trees(study["annotation"])
    for stage, examples in zip(("pretrained", "fine-tuned"), caches(study), strict=True):
        sums, firsts, tokens = [], [], []
        for example, tree in zip(examples, trees, strict=True):
            keys = [k for k, w in enumerate(example.word) if w >= 0 and tree.words[w] in words]
            rows = example.pattern[1, 2].astype(float)
            sums.append(sum(row[key] for row in rows for key in keys) / len(rows))
            firsts.append(sum(rows[0, key] for key in keys))
            tokens.append(len(keys) / len(rows))
        for query, values in (("all", sums), ("cls", firsts)):
            row = frame.loc[stage, query, kind, 1, 2]
            assert row["n"] == n  # examples without the kind count as 0 in the share
            assert row["share"] == pytest.approx(np.mean(values), abs=1e-6)
            assert row["share_low"] <= row["share"] <= row["share_high"]
            assert row["tokens"] == pytest.approx(np.mean(tokens))


def test_links_against_a_loop(study: dict[str, Path], frames: dict[str, pd.DataFrame]) -> None:
    frame = frames["links"]
    keyed = frame.set_index(["stage", "far", "link", "layer", "head"])["attention"]
    trees, texts = read_trees(study["annotation"]), read_examples(study["examples"])
    total = 0
    for far in (False, True):
        means = []
        for example, tree, text in zip(caches(study)[0], trees, texts, strict=True):
            values = []
            kinds = words_of_kinds(tree, text, LABELS["paper"])
            for verb, subject in word_links(tree, kinds, LABELS["paper"])["verb-subject"]:
                a = [k for k, word in enumerate(example.word) if word == verb]
                b = [k for k, word in enumerate(example.word) if word == subject]
                if far and min(abs(x - y) for x in a for y in b) < 2:
                    continue
                values.append(max(float(example.pattern[1, 3, x, y]) for x in a for y in b))
            total += len(values)
            if values:
                means.append(sum(values) / len(values))
        actual = keyed["pretrained", far, "verb-subject", 1, 3]
        assert actual == pytest.approx(np.mean(means), abs=1e-6)
        counted = frame[(frame["link"] == "verb-subject") & (frame["far"] == far)]["links"]
        assert counted.nunique() == 1
    assert frame.groupby("far")["links"].max()[False] >= frame.groupby("far")["links"].max()[True]
    assert total == (frame[frame["link"] == "verb-subject"].groupby("far")["links"].first().sum())


def test_maps_of_one_example(study: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    names = ("body", "tuned", "model", "card")
    finetuning_maps.main(
        **{name: study[name] for name in names}, maps=out, most_tokens=64, task="rte", seed=2
    )
    frame = tables.read(out)
    chosen = frame["example"].unique()
    assert len(chosen) == 1
    with Cache(study["tuned"], cards.read_card(study["card"])) as cache:
        example = cache[cache.ids.index(chosen[0])]
    tuned = frame[frame["stage"] == "fine-tuned"]
    weights = tuned.sort_values(["layer", "head", "query", "key"])["weight"].to_numpy()
    np.testing.assert_array_equal(weights, example.pattern.astype(np.float32).ravel())


def test_which_words_are_shared() -> None:
    words = "The cat saw the dog . A Cat , the end .".split()
    numbers = finetuning_tables.shared_spellings(words, 6)
    groups = [{words[k].lower() for k in np.flatnonzero(numbers == n)} for n in set(numbers) - {-1}]
    assert sorted(map(sorted, groups)) == [["cat"], ["the"]]
    assert (numbers == numbers[0]).sum() == 3  # The, the, the
    assert (finetuning_tables.shared_spellings(["one", "text"], 2) == -1).all()


def test_attention_to_copies_by_hand() -> None:
    # [CLS] cat sat [SEP] cat ran [SEP]
    ordinary = np.array([0, 1, 1, 0, 1, 1, 0], dtype=bool)
    segment = np.array([0, 0, 0, 0, 1, 1, 1])
    spelling = np.array([-1, 0, -1, -1, 0, -1, -1])
    pattern = np.zeros((1, 1, 7, 7))
    pattern[0, 0, 1] = [0.1, 0.1, 0.1, 0.1, 0.4, 0.1, 0.1]  # cat: 0.4 to cat, 0.1 to ran
    pattern[0, 0, 4] = [0.2, 0.2, 0.3, 0.3, 0.0, 0.0, 0.0]  # cat: 0.2 to cat, 0.3 to sat
    copies, others = finetuning_tables.to_copies(pattern, spelling, segment, ordinary)
    assert copies[0, 0] == pytest.approx((0.4 + 0.2) / 2)
    assert others[0, 0] == pytest.approx((0.1 + 0.3) / 2)
    shared, rest = finetuning_tables.to_shared(pattern, spelling, ordinary)
    assert shared[0, 0] == pytest.approx((0.1 + 0.2 + 0.4) / 7 / 2)  # columns 1 and 4
    assert rest[0, 0] == pytest.approx((0.1 + 0.3 + 0.1) / 7 / 2)  # columns 2 and 5
    nothing = np.full(7, -1)
    assert finetuning_tables.to_copies(pattern, nothing, segment, ordinary) is None
    assert finetuning_tables.to_shared(pattern, nothing, ordinary) is None


def test_the_table_against_a_loop(study: dict[str, Path], frames: dict[str, pd.DataFrame]) -> None:
    frame = frames["shared"].set_index(["stage", "measure", "layer", "head"])
    trees = read_trees(study["annotation"])
    layer, head = 2, 1
    for stage, examples in zip(("pretrained", "fine-tuned"), caches(study), strict=True):
        copies, others = [], []
        for example, tree in zip(examples, trees, strict=True):
            weights = example.pattern[layer, head].astype(float)
            words = {k: tree.words[w] for k, w in enumerate(example.word) if w >= 0}
            of_example = []
            for query, word in words.items():
                across = [k for k in words if example.segment[k] != example.segment[query]]
                same = [weights[query, k] for k in across if words[k] == word != "."]
                different = [weights[query, k] for k in across if words[k] != word or word == "."]
                if same and different:
                    of_example.append((np.mean(same), np.mean(different)))
            if of_example:
                copies.append(np.mean([a for a, _ in of_example]))
                others.append(np.mean([b for _, b in of_example]))
        row = frame.loc[stage, "copy", layer, head]
        assert row["n"] == len(copies) > 0
        assert row["attention"] == pytest.approx(np.mean(copies), abs=1e-9)
        assert row["others"] == pytest.approx(np.mean(others), abs=1e-9)
        assert row["excess"] == pytest.approx(row["attention"] - row["others"], abs=1e-9)
        assert row["ci_low"] <= row["excess"] <= row["ci_high"]


def test_neighbours_by_hand() -> None:
    pattern = np.array([[0.2, 0.8, 0.0], [0.5, 0.0, 0.5], [0.0, 0.1, 0.9]])[None, None]
    assert finetuning_tables.neighbours(pattern)[0, 0] == pytest.approx((0.8 + 0.5 + 0.5 + 0.1) / 3)
