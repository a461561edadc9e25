"""Passages for Figure 5: whole sentences in which a mention finds its antecedent."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.attention.builders import write_cache
from tests.core.tiny_models import write_card
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import (
    Document,
    Mention,
    read_documents,
    write_records,
)
from workflow_scripts.coreference import coreference_examples
from workflow_scripts.corpora import coreference_corpus
from workflow_scripts.syntax import figures

WORDS = "Anna met the old dog . She liked it . It ran off . Then all was quiet here today .".split()


def test_passages_are_whole_sentences_that_fit() -> None:
    assert [list(p)[:: len(p) - 1] for p in coreference_examples.passages(WORDS)] == [
        [0, 13],
        [6, 20],
        [10, 20],
        [14, 20],
    ]
    assert coreference_examples.passages(["a"] * 30) == []


def test_drawn_weights_are_of_the_whole_text() -> None:
    """[CLS] and [SEP] stay, and the words outside the passage are one unit: rows sum to 1."""
    mentions = (Mention(0, 1, 0, "a", "proper"), Mention(6, 7, 6, "a", "pronoun"))
    document = Document("x", tuple(WORDS), (), (), (), mentions, "x:1")
    word = np.array([-1, *(k for k in range(21) if k != 17), -1])  # `quiet` vanished
    pattern = np.full((22, 22), 1 / 22)
    pattern[7] = 0.01  # She: token 7
    pattern[7, 0], pattern[7, 1], pattern[7, 21] = 0.5, 0.2, 0.11
    frame = coreference_examples.draw(pattern, word, document, range(0, 10), False)
    names = frame[frame["query"] == 0].sort_values("key")["key_token"].tolist()
    assert names == ["[CLS]", *WORDS[:10], coreference_examples.OTHER, "[SEP]"]
    she = frame[frame["query"] == 1 + 6].set_index("key_token")["weight"]
    assert she[["[CLS]", "Anna", "[SEP]"]].tolist() == pytest.approx([0.5, 0.2, 0.11])
    assert she[coreference_examples.OTHER] == pytest.approx(0.01 * 10)
    assert she.sum() == pytest.approx(1)
    assert frame.loc[frame["highlighted"], "query_token"].unique().tolist() == ["She"]
    gold = frame[frame["gold"]]
    assert list(zip(gold["query_token"], gold["key_token"], strict=True)) == [("She", "Anna")]


def test_an_antecedent_of_another_word_counts_first() -> None:
    rows = [("she", "She", 0.9, True), ("she", "Anna", 0.2, True), ("she", "dog", 0.5, False)]
    drawing = pd.DataFrame(rows, columns=["query_token", "key_token", "weight", "gold"])
    assert coreference_examples.strength(drawing) == (0.2, 0.9)


@pytest.fixture(scope="module")
def study(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stories, their cache, and scores by which head 2-1 is best among all words."""
    folder = tmp_path_factory.mktemp("examples")
    write_card(folder, tiny_model_dir)
    paths = {name: folder / f"{name}.jsonl" for name in ("documents", "annotation")}
    counts = folder / "counts.csv"
    coreference_corpus.main(
        **paths, counts=counts, source={"generate": 6}, name="s", max_tokens=128
    )
    write_cache(folder / "cache.h5", folder / "model.json", paths["documents"], 128)
    heads = [(0, 0, "words", 0.2), (1, 0, "words", 0.3), (0, 1, "mentions", 0.9)]
    scores = pd.DataFrame(heads, columns=["layer", "head", "candidates", "accuracy"])
    tables.write(scores.assign(type="all"), folder / "scores")
    return folder


def run(study: Path, annotation: Path, out: Path) -> pd.DataFrame:
    coreference_examples.main(
        attention=study / "cache.h5",
        model=study / "model.json",
        annotation=annotation,
        scores=study / "scores",
        examples=out,
        n_examples=2,
    )
    return tables.read(out)


def test_figure5_has_the_panels(study: Path, tmp_path: Path) -> None:
    run(study, study / "annotation.jsonl", tmp_path / "examples")
    paths = {kind: tmp_path / f"fig5.{kind}" for kind in ("svg", "pdf", "png")}
    syntax = tables.read(tmp_path / "examples").assign(title="det, 50%")
    tables.write(syntax, tmp_path / "syntax")
    figures.clark2019_fig5(tmp_path / "syntax", **paths, coreference=tmp_path / "examples")
    drawn = paths["svg"].read_text()
    assert drawn.count("30% without [CLS], [SEP]") == 2
    assert drawn.count("det, 50%") == 2


def test_without_a_passage_there_is_nothing_to_draw(study: Path, tmp_path: Path) -> None:
    documents = read_documents(study / "annotation.jsonl")
    bare = [Document(**{**vars(document), "mentions": ()}) for document in documents]
    write_records(tmp_path / "annotation.jsonl", bare)
    assert run(study, tmp_path / "annotation.jsonl", tmp_path / "examples").empty
