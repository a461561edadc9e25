"""Figure 5: sentences on which heads are shown, and what is marked."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Tree, read_trees
from workflow_scripts.syntax import counting, syntax_examples


def test_figure5(study: Path) -> None:
    frame = draw_examples(study, study / "examples", relations=["det", "nothing", "poss"])
    assert frame["drawing"].nunique() == 4
    assert frame.groupby("drawing")["highlighted"].any().all()
    sums = frame.groupby(["drawing", "query"])["weight"].sum()
    np.testing.assert_allclose(sums, 1, atol=5e-3)


def draw_examples(study: Path, out: Path, relations: list[str]) -> pd.DataFrame:
    read = {"attention": study / "cache.h5", "model": study / "model.json"}
    read |= {"trees": study / "trees.jsonl", "scores": study / "scores"}
    syntax_examples.main(**read, examples=out, relations=relations, n_examples=2)
    return tables.read(out)


def test_the_shortest_sentences_are_drawn_where_all_are_long() -> None:
    parts = ((n, ("a",) * n, (-1,) * n, ("det",) * n) for n in (40, 20, 30))
    trees = [Tree(str(n), *each, ("",) * n, "") for n, *each in parts]
    assert syntax_examples.choose_sentences(trees, "det", 2, seed=1) == [1, 2]
    assert syntax_examples.choose_sentences(trees, "nsubj", 2, seed=1) == []


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
        gold = rows[rows["gold"]]
        wanted = {
            (k, tree.heads[k])
            for k in positions
            if tree.heads[k] >= 0 and tree.relations[k] != "punct"
        }
        found = set(zip(gold["query"] - 1, gold["key"] - 1, strict=True))
        if rows["direction"].iloc[0] == "head_to_dependent":
            found = {pair[::-1] for pair in found}
        assert found == {(int(counting.stand_ins(tree)[k]), head) for k, head in wanted}
