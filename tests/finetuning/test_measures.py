"""Similarity, features, links and maps, against slow versions and values computed by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.attention.builders import write_cache
from tests.finetuning.builders import TABLES, caches, measured
from workflow_scripts.core.data import cards, tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.examples import read_examples, write_examples
from workflow_scripts.core.data.trees import read_trees
from workflow_scripts.core.errors import InputError
from workflow_scripts.finetuning import figures, finetuning_maps, finetuning_tables, map_measures
from workflow_scripts.finetuning.token_kinds import LABELS, sentences_of, word_links


def test_similarity_against_a_loop(study: dict[str, Path], frames: dict[str, pd.DataFrame]) -> None:
    actual = frames["similarity"].set_index(["layer", "head"])["similarity"]
    for layer, head in ((0, 0), (2, 3), (1, 2)):
        slow = []
        for before, after in zip(*caches(study), strict=True):
            a, b = (x.pattern[layer, head].astype(float).ravel() for x in (before, after))
            slow.append(sum(a * b) / (sum(a * a) ** 0.5 * sum(b * b) ** 0.5))
        assert actual[layer, head] == pytest.approx(np.mean(slow), abs=1e-9)
    assert actual.max() < 0.9999


def test_the_same_model_is_like_itself(study: dict[str, Path], tmp_path: Path) -> None:
    both = study | {"tuned": study["body"], "card": study["model"]}
    frames = measured(both, tmp_path)
    np.testing.assert_allclose(frames["similarity"]["similarity"], 1, atol=1e-9)
    for name in TABLES[1:]:
        before, after = (
            frames[name][frames[name]["stage"] == stage].drop(columns="stage")
            for stage in finetuning_tables.STAGES
        )
        pd.testing.assert_frame_equal(before, after.reset_index(drop=True))


def test_a_cache_of_another_corpus_is_refused(study: dict[str, Path], tmp_path: Path) -> None:
    examples = read_examples(study["examples"])
    write_examples(tmp_path / "e.jsonl", examples[::-1])
    write_cache(tmp_path / "other.h5", study["card"], tmp_path / "e.jsonl")
    with pytest.raises(InputError, match=r"other\.h5: the examples are not those of .*jsonl"):
        measured(study | {"tuned": tmp_path / "other.h5"}, tmp_path)


def test_attention_to_a_kind_by_hand() -> None:
    pattern = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.0, 0.9, 0.1]])[None, None]
    chosen = np.array([True, True, False])
    to_tokens = map_measures.attention_to_tokens(pattern)
    # Columns sum to 0.6 and 1.8; the larger one over three tokens.
    assert map_measures.largest_attention(to_tokens["all"], chosen)[0, 0] == pytest.approx(0.6)
    assert map_measures.largest_attention(to_tokens["cls"], chosen)[0, 0] == pytest.approx(0.5)
    nothing = np.zeros(3, dtype=bool)
    assert np.isnan(map_measures.largest_attention(to_tokens["all"], nothing)).all()


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
    trees = read_trees(study["annotation"])
    total = 0
    for far in (False, True):
        means = []
        for example, tree in zip(caches(study)[0], trees, strict=True):
            values = []
            for verb, subject in word_links(tree, sentences_of(tree), LABELS["paper"])[
                "verb-subject"
            ]:
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


def test_neighbours_by_hand() -> None:
    pattern = np.array([[0.2, 0.8, 0.0], [0.5, 0.0, 0.5], [0.0, 0.1, 0.9]])[None, None]
    assert map_measures.neighbours(pattern)[0, 0] == pytest.approx((0.8 + 0.5 + 0.5 + 0.1) / 3)


def test_the_strongest_heads_of_the_table() -> None:
    rows = [
        {"task": "RTE", "stage": "pretrained", "link": "verb-subject", "far": False, "seed": seed}
        | {"layer": 0, "head": head, "attention": value, "ci_low": 0.0, "ci_high": 1.0}
        | {"n": 5, "links": 6, "neighbours": 0.1, "neighbours_low": 0, "neighbours_high": 0.2}
        for seed in (1, 2)
        for head, value in enumerate((0.1, 0.7, 0.3 * seed, 0.2))
    ]
    actual = figures.top_heads(
        pd.DataFrame(rows), figures.LINK_GROUPS, "attention", figures.LINK_COLUMNS, n=2
    )
    assert actual["head"].tolist() == ["1-2", "1-3"]
    assert actual["attention"].tolist() == pytest.approx([0.7, 0.45])


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


def test_which_example_is_sampled() -> None:
    lengths = np.array([50, 12, 60, 11])
    assert {finetuning_maps.choose(lengths, 20, seed) for seed in range(20)} == {1, 3}
    assert finetuning_maps.choose(lengths, 5, 1) == 3


def test_the_features_table_and_figure(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    features_frame = frames["features"]
    tables.write(features_frame, tmp_path / "f.parquet")
    out = {name: tmp_path / name for name in ("svg", "pdf", "png", "table")}
    figures.kovaleva2019_features([tmp_path / "f.parquet"], **out)
    assert out["png"].read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(out["table"]).set_index("kind")
    frame = features_frame[(features_frame["query"] == "all") & (features_frame["kind"] == "verb")]
    means = frame.set_index(["stage", "layer", "head"])["attention"]
    gains = means["fine-tuned"] - means["pretrained"]
    layer, head = gains.idxmax()
    assert table.loc["verb", "head"] == f"{layer + 1}-{head + 1}"
    assert table.loc["verb", "gain"] == pytest.approx(gains.max(), rel=1e-4)
    assert table.loc["verb", "pretrained"] == pytest.approx(means["pretrained"].mean(), rel=1e-4)
    assert table.loc["negation", ["n", "n_without"]].tolist() == [1, 2]
    shares = frame.groupby("stage")["share"].mean()
    actual = table.loc["verb", ["pretrained_share", "fine-tuned_share"]].astype(float).tolist()
    assert actual == pytest.approx(shares[["pretrained", "fine-tuned"]].tolist(), rel=1e-4)


def test_stacked_shares_make_up_all_attention(
    frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    frame = frames["features"]
    chosen = frame[(frame["query"] == "cls") & (frame["stage"] == "fine-tuned")]
    shares = figures.by_layer(chosen)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-3)
    nouns = chosen[(chosen["kind"] == "noun") & (chosen["layer"] == 2)]
    assert shares.loc[2, "noun"] == pytest.approx(nouns["share"].mean())
    assert shares.loc["tokens", "noun"] == pytest.approx(nouns["tokens"].iloc[0])
    tables.write(frame, tmp_path / "f.parquet")
    out = {name: tmp_path / name for name in ("svg", "pdf", "png")}
    figures.kovaleva2019_shares([tmp_path / "f.parquet"], **out)
    assert out["png"].read_bytes().startswith(b"\x89PNG")


def test_the_mosaic_keeps_every_map() -> None:
    patterns = np.random.default_rng(1).random((2, 3, 5, 5))
    image, pitch = figures.mosaic(patterns)
    assert image.shape == (2 * pitch, 3 * pitch)
    np.testing.assert_array_equal(
        image[pitch : pitch + 5, 2 * pitch : 2 * pitch + 5], patterns[1, 2]
    )
    assert np.isnan(image[5:pitch]).all()


@pytest.mark.parametrize(("shape", "columns"), [((6, 12), 1), ((24, 16), 2)])
def test_both_grids_of_maps_fit_a_page(shape: tuple[int, int], columns: int) -> None:
    grid_columns, cell = figures.arrangement(*shape)
    n_layers, n_heads = shape
    assert grid_columns == columns
    assert cell * n_heads * grid_columns <= figures.ROOM[0] + 1e-9
    assert cell * n_layers * (2 // grid_columns) <= figures.ROOM[1] + 1e-9
