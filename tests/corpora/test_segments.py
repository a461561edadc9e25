"""Segments of two consecutive paragraphs: pairing, sampling, counting, and wrong input."""

import bz2
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora import segments
from workflow_scripts.corpora.articles import Article, Paragraph


def run(folder: Path, source: dict, **settings: Any) -> tuple[list, list, dict[str, int]]:
    options = {"n_segments": 5, "min_words": 3, "training_share": 0.3, "name": "c", "seed": 1}
    paths = {name: folder / name for name in ("segments", "training", "counts")}
    segments.main(**paths, source=source, **(options | settings))
    counts = pd.read_csv(paths["counts"])
    return (
        read_examples(paths["segments"]),
        read_examples(paths["training"]),
        dict(zip(counts["what"], counts["n"], strict=True)),
    )


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    documents = [
        "\n".join(f"doc {d} paragraph {p} has some words" for p in range(5)) for d in range(6)
    ]
    path = tmp_path / "plain.txt"
    path.write_text("\n\n".join(documents), encoding="utf-8")
    return path


def article(*texts: str) -> Article:
    return Article("t", [Paragraph(text, f"f:{k}") for k, text in enumerate(texts)])


def test_only_consecutive_paragraphs_are_paired() -> None:
    counts: Counter[str] = Counter()
    read = article("a a a", "b b b", "c c c", "d", "e e e", "f f f", "g g g")
    pairs = segments.pair_up(read, 3, counts)
    assert [(a.text[0], b.text[0]) for _, a, b in pairs] == [("a", "b"), ("e", "f")]
    assert counts["paragraphs too short"] == 1
    assert counts["paragraphs without a partner"] == 2


def test_pairs_training_and_counts(plain: Path, tmp_path: Path) -> None:
    chosen, training, counts = run(tmp_path, {"path": str(plain), "format": "plain"})
    assert len(chosen) == 5
    for example in chosen + training:
        first, second = (text.split()[:4] for text in example.texts)
        assert first[1] == second[1]
        assert int(second[3]) == int(first[3]) + 1
    assert not {segment.document for segment in chosen} & {segment.document for segment in training}
    assert len({segment.id for segment in chosen + training}) == len(chosen) + len(training)
    assert counts["paragraphs read"] == 30
    assert counts["pairs"] == 12
    assert counts["paragraphs read"] == (
        2 * counts["pairs"]
        + counts["paragraphs too short"]
        + counts["paragraphs without a partner"]
    )
    assert counts["pairs"] == (
        counts["segments analysed"]
        + counts["pairs kept for training"]
        + counts["pairs not sampled"]
    )
    assert chosen[0].source.startswith(f"{plain}:")


WIKITEXT = (
    " = First =\r\n\r\n one @-@ two words here \r\n\r\n = = Part = =\r\n"
    " and 1 @,@ 000 more words \r\n"
    " = Second =\r\n text of the second \r\n more of the second \r\n"
)


def test_wikitext(tmp_path: Path) -> None:
    (tmp_path / "wiki.raw").write_text(WIKITEXT, encoding="utf-8", newline="")
    source = {"path": str(tmp_path / "wiki.raw")}
    chosen, _, counts = run(tmp_path, source, training_share=0)
    assert [segment.document for segment in chosen] == ["First", "Second"]
    assert chosen[0].texts == ("one-two words here", "and 1,000 more words")
    assert counts["lines that are no paragraph"] == 3
    assert chosen[0].source.endswith("wiki.raw:3")


DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/"><siteinfo/>
<page><title>River</title><ns>0</ns><id>1</id><revision><id>9</id><text>
'''River''' flows for {{convert|12|km|mi}} in [[Town|the town]] &amp;nbsp;daily.
== Heading ==
* a list item that is long
&lt;ref&gt;A note that is left out.&lt;/ref&gt;
: An indented quotation of ''some'' words ( ).
{| class="wikitable"
| cell one || cell two
|}
A third paragraph of the article, of four.
A fourth paragraph of the article, of four.
</text></revision></page>
<page><title>Rivers</title><ns>0</ns><id>2</id>
<revision><id>8</id><text>#REDIRECT [[River]]</text></revision></page>
<page><title>Talk:River</title><ns>1</ns><id>3</id>
<revision><id>7</id><text>Talk of the page.</text></revision></page>
</mediawiki>"""


@pytest.mark.parametrize("packed", [False, True])
def test_dump(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("dump.xml.bz2" if packed else "dump.xml")
    raw = DUMP.encode()
    path.write_bytes(bz2.compress(raw) if packed else raw)
    chosen, _, counts = run(tmp_path, {"path": str(path)}, training_share=0)
    assert [segment.texts for segment in chosen] == [
        ("River flows for 12 km in the town daily.", "An indented quotation of some words."),
        (
            "A third paragraph of the article, of four.",
            "A fourth paragraph of the article, of four.",
        ),
    ]
    assert counts["articles read"] == 1
    assert chosen[0].source == f"{path.name}: River, paragraph 1"


def test_hub_datasets_from_a_local_directory(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    row = {"title": "First", "text": "one two three\n\nfour five six\n"}
    (folder / "train.jsonl").write_text(json.dumps(row), encoding="utf-8")
    chosen, _, _ = run(tmp_path, {"hub": str(folder), "split": "train"}, training_share=0)
    assert (chosen[0].document, chosen[0].texts) == ("First", ("one two three", "four five six"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"good line here\nbad \xff byte here\n", r"bad.txt:2: byte 0xff at column 5 is not UTF-8"),
        (b"\n\n\n", "corpus c is empty"),
        (b"one two three\n\nfour five six\n", "no article of the corpus c has two paragraphs"),
    ],
)
def test_wrong_texts(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        run(tmp_path, {"path": str(path)})
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_dump_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(DUMP.encode())[:-40])
    with pytest.raises(InputError, match=r"dump.xml.bz2: not a complete MediaWiki dump"):
        run(tmp_path, {"path": str(path)})


def test_real_wikitext(real_data: Path, tmp_path: Path) -> None:
    source = {"path": str(real_data / "wikitext")}
    _, _, counts = run(tmp_path, source, n_segments=200, min_words=30)
    assert counts["articles read"] == 62
    assert counts["segments analysed"] == 200


def test_real_wikipedia_of_the_default_study(tmp_path: Path) -> None:
    source = {
        "package": "gensim/test/test_data/enwiki-latest-pages-articles1."
        "xml-p000000010p000030302-shortened.bz2"
    }
    chosen, training, _ = run(tmp_path, source, n_segments=300, min_words=30)
    assert len(chosen) == 300
    texts = [text for segment in chosen + training for text in segment.texts]
    for mark in ("[[", "]]", "{{", "}}", "''", "<ref", "&nbsp;", "|", "()"):
        assert not [text for text in texts if mark in text], mark
