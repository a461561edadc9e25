"""Heads of a decoder as antecedent selectors, against plain loops."""

from pathlib import Path

import numpy as np
import pytest

from tests.core.decoder_patterns import DECODER, HEADS, LAYERS, pieces, write_cache
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Document, Mention, read_documents
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.measures.forms import Study, Tables
from workflow_scripts.coreference import (
    clark2019_table2,
    coreference_examples,
    coreference_scores,
    measures,
)
from workflow_scripts.corpora import coreference_corpus


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated stories, of words of several pieces, and random attention to earlier tokens."""
    folder = tmp_path_factory.mktemp("decoder") / "small" / "coreference"
    folder.mkdir(parents=True)
    files = {name: folder / name for name in ("documents", "annotation", "counts")}
    coreference_corpus.main(**files, source={"generate": 8}, name="s", max_tokens=80)
    documents = read_documents(folder / "annotation")
    words = [pieces(document.words, seed) for seed, document in enumerate(documents)]
    ids = [document.id for document in documents]
    np.savez(folder / "patterns.npz", *write_cache(folder / "cache.h5", words, ids))
    write_card(DECODER, folder / "model.json")
    coreference_scores.main(
        attention=folder / "cache.h5",
        model=folder / "model.json",
        annotation=folder / "annotation",
        corpus=folder / "documents",
        **{name: folder / f"{name}.parquet" for name in ("scores", "rules", "best")},
        mentions=folder / "mentions.csv",
        bootstrap=100,
    )
    return folder


def questions(document: Document, first: int) -> list[tuple[Mention, set[int], bool]]:
    """Each coreferent mention, the head words of its antecedents, and whether it is counted."""
    found = []
    for mention in document.mentions:
        before = [
            other
            for other in document.mentions
            if other.end <= mention.start and other.head != mention.head
            if other.chain == mention.chain
        ]
        usable = {m.head for m in before if not m.start <= first < m.end}
        if before:
            found.append((mention, usable, bool(usable) and not mention.start <= first))
    return found


@pytest.mark.parametrize("candidates", ["words", "mentions"])
def test_scores_are_those_of_plain_loops(study: Path, candidates: str) -> None:
    documents = read_documents(study / "annotation")
    right, chance, n, n_all = np.zeros((LAYERS, HEADS)), 0.0, 0, 0
    for seed, pattern in enumerate(np.load(study / "patterns.npz").values()):
        document, word = documents[seed], pieces(documents[seed].words, seed)
        first = word[0]
        heads = {m.head for m in document.mentions if not m.start <= first < m.end}
        for mention, antecedents, counted in questions(document, first):
            n_all += 1
            if not counted:
                continue
            n += 1
            choice = range(mention.head) if candidates == "words" else heads
            choice = sorted(k for k in choice if k < mention.head and k != first)
            chance += len(antecedents) / len(choice)
            asks = max(t for t, w in enumerate(word) if w == mention.head)
            for layer, head in np.ndindex(LAYERS, HEADS):
                row = pattern[layer, head, asks].astype(float)
                given = {k: sum(row[t] for t, w in enumerate(word) if w == k) for k in choice}
                right[layer, head] += max(given, key=given.get) in antecedents
    frame = tables.read(study / "scores.parquet")
    frame = frame[(frame["candidates"] == candidates) & (frame["type"] == "all")]
    assert frame["n"].eq(n).all()
    assert n < n_all
    np.testing.assert_allclose(frame["accuracy"].to_numpy().reshape(LAYERS, HEADS), right / n)
    np.testing.assert_allclose(frame["uniform"], chance / n)
    np.testing.assert_allclose(frame["coverage"], n / n_all)


def test_coverage_and_chance_stand_with_every_number(study: Path) -> None:
    read = [tables.read(study / f"{name}.parquet") for name in ("scores", "rules", "best")]
    rows = clark2019_table2.table2(*read)
    assert rows.loc[rows["system"] == "best head", ["uniform", "coverage"]].notna().all(axis=None)
    paths = [study / f"{name}.parquet" for name in ("scores", "rules")]
    found = Tables(DECODER, study.parent, paths)
    forms = measures.forms(found, Study({"coreference": "stories"}, {}))
    assert all("of the coreferent mentions." in form.about for form in forms)


def test_examples_draw_earlier_antecedents(study: Path) -> None:
    read = {"attention": study / "cache.h5", "model": study / "model.json"}
    read |= {"annotation": study / "annotation", "scores": study / "scores.parquet"}
    coreference_examples.main(**read, examples=study / "examples", n_examples=2)
    drawn = tables.read(study / "examples")
    gold = drawn[drawn["gold"]]
    assert len(gold)
    assert (gold["key"] < gold["query"]).all()
    for _, panel in drawn.groupby("drawing"):
        others = panel[panel["key_token"] == coreference_examples.OTHER]
        assert (others["key"] == panel["key"].max()).all()
        sums = panel[panel["query_token"] != coreference_examples.OTHER].groupby("query")["weight"]
        np.testing.assert_allclose(sums.sum(), 1, atol=2e-3)
