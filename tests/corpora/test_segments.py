"""Formats of running text, and its segments: windows, pairs, counts, and wrong input."""

import bz2
import json
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora import segments
from workflow_scripts.corpora.articles import (
    TEMPLATES,
    Article,
    Paragraph,
    clean_markup,
    format_of,
)


def run(folder: Path, source: dict, **settings: Any) -> tuple[list, list, dict[str, int]]:
    options = {"cut": "pairs", "n_segments": 5, "max_tokens": 12, "min_words": 3, "name": "c"}
    options |= {"training_share": 0.3, "seed": 1}
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
    assert [(a.text[0], b.text[0]) for _, (a, b) in pairs] == [("a", "b"), ("e", "f")]
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


def test_paragraphs_as_pandas_quotes_them_are_counted(tmp_path: Path) -> None:
    rows = ["text", '"She said ""no"" and left"', 'He said "no" and', "No more of it"]
    (tmp_path / "a.tsv").write_text("\n".join(rows), encoding="utf-8")
    _, _, counts = run(tmp_path, {"path": str(tmp_path / "a.tsv")}, cut="windows")
    assert counts["paragraphs quoted as CSV, read as they are"] == 1


def test_rare_words_that_a_corpus_replaced_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for words, n in ((WIKITEXT, 0), (WIKITEXT.replace("words", "<unk>"), 2)):
        (tmp_path / "wiki.raw").write_text(words, encoding="utf-8", newline="")
        counts = run(tmp_path, {"path": str(tmp_path / "wiki.raw")}, training_share=0)[2]
        assert counts.get("words <unk> analysed", 0) == n
    assert "wiki.raw: words <unk>: 2, which stand for others" in caplog.text


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


PLAIN = "One is here.\nTwo is here.\n\nThree is here.\n"
BOOK = "A line of a\nbook. It\nends here.\n\n\nAnd another\nparagraph.\n"
ROW = "\t_" * 8
SENTENCE = f"1-2\tDon't{ROW}\n1\tDo{ROW}\n2\tn't{ROW}\n2.1\tgo{ROW}\n\n"
# A file's name and content, its format, and the titles and paragraphs of its documents.
FORMS = [
    (
        "a.txt",
        PLAIN,
        "plain",
        [("a.txt:1", ["One is here.", "Two is here."]), ("a.txt:4", ["Three is here."])],
    ),
    ("a.txt", "one\ntwo\n", "plain", [("a.txt:1", ["one", "two"])]),
    (
        "a.txt",
        BOOK,
        "prose",
        [("f/a.txt", ["A line of a book. It ends here.", "And another paragraph."])],
    ),
    ("a.txt", "One.\n\nTwo.\n\nThree.", "prose", [("f/a.txt", ["One.", "Two.", "Three."])]),
    ("a.txt", " = A = \n\n b\n", "wikitext", [("A", ["b"])]),
    (
        "a.jsonl",
        '{"text": "a\\n\\nb", "title": "T"}\n{"text": "c"}\n',
        "jsonl",
        [("T", ["a", "b"]), ("a.jsonl:2", ["c"])],
    ),
    ("a.json", '{"text": null}\n', "jsonl", [("a.json:1", [])]),
    (
        "a.csv",
        'title,text\nT,"a, ""b""\nc"\n,d\n',
        "csv",
        [("T", ['a, "b"', "c"]), ("a.csv:4", ["d"])],
    ),
    (
        "a.conllu",
        f"{SENTENCE}# newdoc id = d\n# text = Don't.\n{SENTENCE}",
        "conllu",
        [("a.conllu", ["Do n't"]), ("d", ["Don't."])],
    ),
]


@pytest.mark.parametrize(("name", "content", "form", "documents"), FORMS)
def test_formats(tmp_path: Path, name: str, content: str, form: str, documents: list) -> None:
    path = tmp_path / "f" / name
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    assert format_of(path) == form
    found = segments.articles_of_file(path, "auto")
    assert [(each.title, [p.text for p in each.paragraphs]) for each in found] == documents


def test_a_column_of_a_parquet_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"body": ["one two", None, "three"], "title": ["A", "B", None], "n": 1})
    frame.to_parquet(tmp_path / "a.parquet")
    source = {"path": str(tmp_path), "column": "body"}
    chosen, _, counts = run(tmp_path, source, cut="windows", training_share=0)
    assert [(each.document, each.texts) for each in chosen] == [
        ("A", ("one two",)),
        ("a.parquet:3", ("three",)),
    ]
    assert (counts["articles read"], counts["articles analysed"]) == (3, 2)


def slow_tokens(text: str) -> int:
    """Character by character: a mark or a CJK character is one, six bytes of a word are one."""
    total, word = 0, ""
    for letter in f"{text} ":
        alone = letter in ".,!'()[]\u3002" or "\u4e00" <= letter <= "\u9fff"
        if alone or letter == " ":
            total += alone + (len(word.encode()) + 5) // 6
            word = ""
        else:
            word += letter
    return total


def slow_windows(lines: list[str], size: int) -> list[str]:
    """The longest runs of sentences that fit; of a longer one, of its words and characters."""
    parts: list[str] = []
    for line in lines:
        ends = [m.end() for m in re.finditer(r"[.!](?= )|\u3002|.$", line)]
        for start, end in zip([0, *ends], ends, strict=False):
            sentence = line[start:end].strip()
            cuts = [k for k in range(1, len(sentence)) if max(sentence[k - 1 : k + 1]) > "\u3000"]
            cuts += [k for k, letter in enumerate(sentence) if letter == " "]
            while sentence and slow_tokens(sentence) > size:
                fits = [k for k in cuts if slow_tokens(sentence[:k]) <= size and k > 0]
                later = [k for k in cuts if k > 0]
                at = max(fits, default=min(later, default=len(sentence)))
                parts.append(sentence[:at].strip())
                rest = sentence[at:].lstrip()
                cuts = [k - (len(sentence) - len(rest)) for k in cuts]
                sentence = rest
            parts += [sentence] if sentence else []
    windows: list[str] = []
    for part in parts:
        joined = f"{windows[-1]} {part}" if windows else ""
        if joined and slow_tokens(joined) <= size:
            windows[-1] = joined
        else:
            windows.append(part)
    return [window for window in windows if any(map(str.isalnum, window))]


@pytest.mark.parametrize("seed", range(20))
def test_windows_are_those_of_a_slow_plain_version(seed: int) -> None:
    rng = random.Random(seed)
    words = ["a", "river", "can't", "(so)", "unbelievably", "nhi\u1ec1u", "x" * 90, "end.", "no!"]
    words += ["\u6c34\u5c71", "\u6c34\u3002", "."]
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 25))) for _ in range(8)]
    found = segments.windows_of(article(*lines), 12, Counter())
    assert [window.text for _, (window,) in found] == slow_windows(lines, 10)


def test_windows_of_documents_and_of_a_single_one(
    plain: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options: dict[str, Any] = {"cut": "windows", "n_segments": 50, "max_tokens": 12}
    chosen, training, counts = run(tmp_path, {"path": str(plain), "format": "plain"}, **options)
    assert counts["windows"] == len(chosen) + len(training) == 30
    assert len({each.document for each in chosen}) == counts["articles analysed"] == 6
    assert "documents: 6; over fewer than 10, intervals are too narrow" in caplog.text
    single = tmp_path / "single.txt"
    single.write_text("Some words here.\n" * 90, encoding="utf-8")
    options["max_tokens"] = 6
    chosen, training, counts = run(tmp_path, {"path": str(single)}, **options)
    assert (len(chosen), len(training), counts["articles analysed"]) == (50, 27, 1)
    assert "documents: 1; over fewer" in caplog.text
    assert [each.document for each in chosen[1:4]] == [
        f"single.txt:1, part {part}" for part in (1, 1, 2)
    ]
    assert {each.texts for each in chosen} == {("Some words here.",)}
    (tmp_path / "many").mkdir()
    for number in range(10):
        (tmp_path / f"many/{number}.txt").write_text("some words here\n" * 3, encoding="utf-8")
    chosen, training, _ = run(tmp_path, {"path": str(tmp_path / "many")}, **options)
    assert not {each.document for each in chosen} & {each.document for each in training}
    assert training
    for folder in ("one", "other"):  # files of one name
        (tmp_path / "deep" / folder).mkdir(parents=True)
        (tmp_path / "deep" / folder / "a.txt").write_text("some words here\n" * 3, "utf-8")
    chosen, _, _ = run(tmp_path, {"path": str(tmp_path / "deep")}, **options)
    assert {each.document for each in chosen} == {"one/a.txt:1", "other/a.txt:1"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "bad.txt",
            b"good line here\nbad \xff byte here\n",
            r"bad.txt:2: byte 0xff at column 5 is not UTF-8; .*iconv -f latin1",
        ),
        ("bad.txt", b"", "no text in the corpus c"),
        ("bad.txt", b"\n\n\n", "no text in the corpus c"),
        ("bad.txt", b"...\n\n- - -\n", "no letter or digit in the corpus c"),
        ("bad.txt", b"three small words\n", "one window only"),
        ("bad.jsonl", b'{"text": "a"}\n{"body": "b"}\n', "bad.jsonl:2: no column 'text'; .*: body"),
        ("bad.jsonl", b'{"text": 1}\n', "bad.jsonl:1: text holds no text"),
        ("bad.parquet", b"PAR1", "bad.parquet: not a complete Parquet file"),
    ],
)
def test_wrong_texts(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        run(tmp_path, {"path": str(path)}, cut="windows")
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_no_pairs(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two three\n\nfour five six\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no article of the corpus c has .*set segments: windows"):
        run(tmp_path, {"path": str(path), "format": "plain"})


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


def test_markup_is_cleaned_in_linear_time() -> None:
    """Many blanks in an open template took seconds, cubic; 50,000 would take days."""
    start, blanks = time.process_time(), 50_000 * " "
    for opened in ("{{convert|a|", "{{lang|", "{{nowrap", "{{transl|a"):
        for template, replacement in TEMPLATES:
            assert template.sub(replacement, opened + blanks) == opened + blanks
    assert clean_markup(f"a ({blanks}b{blanks}c{blanks}.") == "a ( b c."
    assert time.process_time() - start < 2
    given = "{{convert| 5 |km}} {{lang|fr|Oui}} {{lang-de|Ja}} {{nowrap|a b}} {{transl|ru|Da}}"
    for template, replacement in TEMPLATES:
        given = template.sub(replacement, given)
    assert given == "5  km Oui Ja a b Da"
