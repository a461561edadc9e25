"""Heads of a decoder as parsers, against plain loops over pairs of words."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core.decoder_patterns import DECODER, HEADS, LAYERS, pieces, write_cache
from tests.syntax.builders import random_trees, run
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import (
    ROOT,
    Tree,
    is_punctuation,
    to_example,
    write_records,
)
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.measures.forms import Study, Tables
from workflow_scripts.syntax import figures, measures, syntax_examples
from workflow_scripts.syntax.measures import best_heads, columns

TREES = random_trees(9)


WORDS = [pieces(tree.words, seed) for seed, tree in enumerate(TREES)]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decoder") / "small" / "syntax"
    folder.mkdir(parents=True)
    patterns = write_cache(folder / "cache.h5", WORDS, [tree.id for tree in TREES])
    np.savez(folder / "patterns.npz", *patterns)
    write_records(folder / "trees.jsonl", TREES)
    write_records(folder / "corpus.jsonl", [to_example(tree, tree.id) for tree in TREES])
    write_card(DECODER, folder / "model.json")
    run(folder, folder / "trees.jsonl", released_direction=True)
    for name in ("scores", "offsets"):
        (folder / name).rename(folder / f"{name}.parquet")
    return folder


def asked(tree: Tree, direction: str) -> list[tuple[int, int, str]]:
    """Each dependency as (asker, answer, relation); a possessor's 's stands for it."""
    pairs = []
    for k, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head == ROOT:
            continue
        stands = k
        if relation == "poss" and k + 1 < len(tree.words) and tree.words[k + 1] == "'s":
            stands = k + 1
        ends = (stands, head) if direction == "dependent_to_head" else (head, stands)
        pairs.append((*ends, relation))
    return pairs


def relations_of(tree: Tree, relation: str, k: int) -> list[str]:
    return [relation] if is_punctuation(tree.words[k], relation) else [relation, "all"]


def plainly(study: Path) -> pd.DataFrame:
    """A row for each question, head and relation, counted in Python."""
    patterns = np.load(study / "patterns.npz").values()
    rows = []
    for tree, word, pattern in zip(TREES, WORDS, patterns, strict=True):
        weights, first = pattern.astype(float), word[0]
        dependents = [k for k, head in enumerate(tree.heads) if head != ROOT]
        for direction in ("dependent_to_head", "head_to_dependent"):
            questions = zip(dependents, asked(tree, direction), strict=True)
            for k, (asker, answer, relation) in questions:
                counted = answer < asker and answer != first
                candidates = [j for j in range(asker) if j != first]
                about = {"direction": direction, "counted": counted, "distance": answer - asker}
                about |= {"chance": 1 / len(candidates) if counted else 0}
                for layer, head in np.ndindex(LAYERS, HEADS):
                    right = with_special = False
                    if counted:
                        row = weights[layer, head, max(t for t, w in enumerate(word) if w == asker)]
                        given = {
                            j: sum(row[t] for t, w in enumerate(word) if w == j) for j in candidates
                        }
                        right = max(given, key=given.get) == answer
                        rest = max(row[t] for t, w in enumerate(word) if w == first)
                        with_special = right and given[answer] > rest
                    found = {"layer": layer, "head": head, "right": right, "special": with_special}
                    for name in relations_of(tree, relation, k):
                        rows.append(about | found | {"relation": name})
    return pd.DataFrame(rows)


def test_scores_are_those_of_plain_loops(study: Path) -> None:
    plain, scores = plainly(study), tables.read(study / "scores.parquet")
    keys = ["direction", "layer", "head", "relation"]
    assert len(scores) == 2 * LAYERS * HEADS * plain["relation"].nunique()
    for row in scores.to_dict("records"):
        same = plain[(plain[keys] == [row[key] for key in keys]).all(axis=1)]
        counted = same[same["counted"]]
        assert row["n"] == len(counted)
        assert row["coverage"] == pytest.approx(len(counted) / len(same))
        assert row["accuracy"] == pytest.approx(counted["right"].mean())
        assert row["with_special"] == pytest.approx(counted["special"].mean())
        assert row["uniform"] == pytest.approx(counted["chance"].mean())


def test_the_baseline_is_a_negative_offset_of_the_same_questions(study: Path) -> None:
    plain, offsets = plainly(study), tables.read(study / "offsets.parquet")
    assert set(offsets["offset"]) == {-1, -2, -3}
    one = plain[plain["counted"] & (plain["layer"] == 0) & (plain["head"] == 0)]
    for row in offsets.to_dict("records"):
        same = one[(one["relation"] == row["relation"]) & (one["direction"] == row["direction"])]
        assert row["accuracy"] == pytest.approx((same["distance"] == row["offset"]).mean())


def test_each_direction_of_a_relation_is_a_row_with_its_coverage(study: Path) -> None:
    scores, offsets = (tables.read(study / f"{name}.parquet") for name in ("scores", "offsets"))
    rows = figures.table1(scores, offsets, tables.read(study / "best"), 1)
    assert rows.groupby("relation")["direction"].nunique().eq(2).all()
    assert rows["coverage"].between(0, 100).all()
    both = rows.groupby("relation")["coverage"].sum()
    assert (both <= 100 + 1e-9).all()  # each pair is asked in one direction at most
    assert "paper_accuracy" not in rows  # the paper's is over pairs on either side
    assert (rows["offset"] < 0).all()
    assert tables.read(study / "released").empty


def test_the_measures_state_the_coverage(study: Path) -> None:
    paths = [study / f"{name}.parquet" for name in ("scores", "offsets")]
    found = Tables(DECODER, study.parent, paths)
    forms = list(measures.forms(found, Study({"syntax": "trees"}, {})))
    ids = [form.id for form in forms]
    assert len(set(ids)) == len(ids)
    assert {"syntax.best", "syntax.det.dependent_to_head"} <= set(ids)
    assert all("of the treebank's pairs" in form.about for form in forms[1:])
    assert columns(found, {"fewest": 1})["above"].notna().all()
    assert best_heads(found, {"relations": ["det"], "fewest": 1})["baseline"].notna().all()


def test_examples_mark_the_pairs_that_are_counted(study: Path) -> None:
    read = {"attention": study / "cache.h5", "model": study / "model.json"}
    read |= {"trees": study / "trees.jsonl", "scores": study / "scores.parquet"}
    syntax_examples.main(**read, examples=study / "examples", relations=["det"], n_examples=2)
    drawn = tables.read(study / "examples")
    gold = drawn[drawn["gold"]]
    assert len(gold)
    assert (gold["key"] < gold["query"]).all()
    assert drawn["title"].str.contains("without the first word").all()
