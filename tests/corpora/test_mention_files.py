"""Readers of coreference files: what they accept, and one clear error for what they do not."""

from pathlib import Path

import pytest

from tests.bad_input.formats import ONTONOTES
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora.mention_files import Span, Text, texts_of

GUM = (
    "# begin document one\n0\tAnna\t(1\n1\tKeller\t1)\n2\tsaw\t_\n3\ther\t(2(1)\n4\tdog\t2)\n"
    "5\t.\t_\n# end document\n\n"
)
TREES = (
    "# newdoc id = one\n1\tAnna\t_\tNNP\tNNP\t_\t2\tnn\t_\t_\n"
    "2\tKeller\t_\tNNP\tNNP\t_\t3\tnsubj\t_\t_\n"
    "3\tsaw\t_\tVBD\tVBD\t_\t0\troot\t_\t_\n4\ther\t_\tPRP$\tPRP$\t_\t5\tposs\t_\t_\n"
    "5\tdog\t_\tNN\tNN\t_\t3\tdobj\t_\t_\n\n1\t.\t_\t.\t.\t_\t0\troot\t_\t_\n\n"
)
HEADER = "# newdoc id = one\n# global.Entity = GRP-etype-infstat-salience-centering-minspan-link\n"
HER_DOG = "(2-animal-new-n-cf2-2-sgl(1-person-giv-n-cf1-1-ana)"
ENTITIES = ["(1-person-new-n-cf1-2-coref", "1)", "", HER_DOG, "2)"]


def conllu() -> str:
    """The same sentence with `Entity=` in its last column."""
    rows = TREES.splitlines()[1:6]
    cells = [f"SpaceAfter=No|Entity={entity}" if entity else "_" for entity in ENTITIES]
    body = [row.rsplit("\t", 1)[0] + "\t" + cell for row, cell in zip(rows, cells, strict=True)]
    return HEADER + "\n".join(body) + "\n\n"


def read(tmp_path: Path, text: str | bytes, name: str, **options: str) -> list[Text]:
    file = tmp_path / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(texts_of(file, options.pop("form", "auto"), **options))


def test_heads_of_minspan_and_of_the_treebank(tmp_path: Path) -> None:
    (document,) = read(tmp_path, conllu(), "one.conllu")
    assert [span.head for span in sorted(document.spans, key=lambda s: (s.start, s.end))] == [
        1,
        3,
        4,
    ]
    trees = tmp_path / "trees.conllx"
    trees.write_text(TREES)
    (with_trees,) = read(tmp_path, GUM, "one.conll", trees=str(trees))
    assert with_trees.heads == [1, 2, -1, 4, 2, -1]
    assert with_trees.starts == [0, 5]
    assert with_trees.tags[3] == "PRP$"


def test_blanks_within_words_are_kept(tmp_path: Path) -> None:
    (document,) = read(tmp_path, conllu().replace("\tKeller", "\tvan\u00a0Keller"), "one.conllu")
    assert document.words == ["Anna", "van Keller", "saw", "her", "dog"]
    (document,) = read(tmp_path, GUM.replace("Keller", "van  Keller"), "one.conll")
    assert document.words[:3] == ["Anna", "van Keller", "saw"]
    (document,) = read(tmp_path, ONTONOTES.replace("Anna", "An\u202fna"), "a_gold_conll")
    assert "An na" in document.words


def test_each_document_is_read_once(tmp_path: Path) -> None:
    """Folders of CoNLL-2012 hold each document twice, with gold and with automatic annotation."""
    for name in ("train/one.v4_auto_conll", "train/one.v4_gold_conll"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(ONTONOTES)
    (text,) = texts_of(tmp_path, "auto")
    assert text.source == f"{tmp_path}/train/one.v4_gold_conll:1"
    (tmp_path / "train/one.v4_auto_conll").rename(tmp_path / "one.v4_auto_conll")
    message = r"gold_conll:1: a second document \(one\); part 000, as in .*auto_conll:1; keep one"
    with pytest.raises(InputError, match=message):
        list(texts_of(tmp_path, "auto"))


def test_the_innermost_mention_of_a_chain_is_closed_first(tmp_path: Path) -> None:
    text = "0\ta\t(1\n1\tb\t(1\n2\tc\t1)\n3\td\t1)\n"
    (document,) = read(tmp_path, text, "one.conll", form="gum")
    assert document.spans == [Span(1, 3, "1"), Span(0, 4, "1")]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (GUM.replace("1\tKeller\t1)", "1\tKeller"), "one.conll", r"one.conll:3: 2 columns"),
        (GUM.replace("0\tAnna\t(1", "0\tAnna\t(1(("), "one.conll", r":2: '\(1\(\(' is not a list"),
        (GUM.replace("1\tKeller", "x\tKeller"), "one.conll", r":3: index x, 1 expected"),
        (conllu().replace("\t3\tnsubj", "\t30\tnsubj"), "one.conllu", r":4: head 30 is outside"),
        (ONTONOTES.replace("Anna", "[WORD]"), "a_gold_conll", r":2: a skeleton .* skeleton2conll"),
        ("a b c\n", "one.conll", r"one.conll:1: unknown columns"),
        ("", "one.conll", r"one.conll: empty"),
    ],
)
def test_malformed_input_is_named(
    tmp_path: Path, text: str | bytes, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, name)


def test_trees_must_be_of_the_same_documents_and_tokens(tmp_path: Path) -> None:
    trees = tmp_path / "trees.conllx"
    trees.write_text(TREES.replace("Keller", "Kellner"))
    with pytest.raises(InputError, match=r"word 1 of one is not that of its tree"):
        read(tmp_path, GUM, "one.conll", trees=str(trees))
    trees.write_text(TREES.replace("id = one", "id = other"))
    with pytest.raises(InputError, match="no tree of one"):
        read(tmp_path, GUM, "one.conll", trees=str(trees))
