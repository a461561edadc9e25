"""Broken files of every format: each ends in one line with the file and, if it can, the line."""

import gzip
from pathlib import Path

import pytest

from tests.bad_input.formats import FORMATS
from tests.bad_input.refused import refused

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n"
# Format, what is replaced (nothing: the whole file), by what, the line and words of the error.
CASES: list[tuple[str, str, str | bytes, int, str]] = [
    ("GLUE with a header", "Quality", "quality", 1, "0 columns 'Quality'"),
    ("GLUE with a header", "Quality", "#1 ID", 1, "2 columns '#1 ID'"),
    ("GLUE with a header", "#1 String", "#2 String", 1, "'#1 String'"),
    ("GLUE with a header", "\t3\tA", "\t3 A", 2, "4 columns where the header has 5"),
    ("GLUE with a header", "D e\n", "D e\tx\n", 2, "6 columns"),
    ("GLUE with a header", "1\t2", "2\t2", 2, "label '2' is unknown"),
    ("GLUE with a header", "1\t2", "\t2", 2, "label '' is unknown"),
    ("GLUE with a header", "1\t2", "1.0\t2", 2, "label '1.0' is unknown"),
    ("GLUE with a header", "1\t2", "²\t2", 2, "label '²' is unknown"),
    ("GLUE with a header", "D e", "  ", 2, "an empty text"),
    ("GLUE with a header", "4\t5", "2\t3", 3, "id 2 3 is already in line 2"),
    ("GLUE with a header", "F", "F\0", 3, "a NUL character"),
    ("GLUE with a header", "F", b"\xff", 3, "byte 0xff at column 7 is not UTF-8"),
    ("GLUE with a header", "\n", "\r", 1, "columns"),
    ("GLUE with a header", "", "", 1, "columns"),
    ("GLUE with a header", "", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n", 0, "no rows"),
    ("GLUE with a header", "", "Quality\t#1 ID".encode("utf-16"), 1, "is not UTF-8"),
    ("GLUE with a header", "", "Quality\t#1 ID".encode("utf-16-le"), 1, "NUL"),
    ("GLUE with scores", "5.000", "5.1", 2, "score '5.1'"),
    ("GLUE with scores", "5.000", "-0", 2, "score '-0'"),
    ("GLUE with scores", "5.000", "nan", 2, "score 'nan'"),
    ("GLUE with scores", "5.000", "inf", 2, "score 'inf'"),
    ("GLUE with scores", "5.000", "1_0", 2, "score '1_0'"),
    ("GLUE with scores", "5.000", "٣", 2, "score '٣'"),
    ("GLUE with scores", "5.000", "", 2, "score ''"),
    ("GLUE with names of labels", "not_entailment", "neutral", 3, "label 'neutral' is unknown"),
    ("GLUE with names of labels", "\tentailment", "\tEntailment", 2, "has entailment,"),
    ("GLUE without a header", "\t\tOur", "\tOur", 1, "3 columns where CoLA has 4"),
    ("GLUE without a header", "gj04\t1", "source\tlabel", 1, "label 'label' is unknown"),
    ("GLUE without a header", "Our friends .", "", 1, "an empty text"),
    ("GLUE without a header", "", "", 0, "no rows"),
    ("labelled sentences", "__label__neg", "__label__neu", 2, "label '__label__neu' is unknown"),
    ("labelled sentences", " bad film", "", 2, "an empty text"),
    ("labelled sentences", "\n__", "\n\n__", 2, "label ''"),
    ("rated sentences", "2.5", "4.1", 1, "rating '4.1'"),
    ("rated sentences", "2.5", "nan", 1, "rating 'nan'"),
    ("rated sentences", "2.5", "good", 1, "rating 'good'"),
    ("rated sentences", "\tSo so", "", 2, "2 columns"),
    ("rated sentences", "2\t-", "1\t-", 2, "id 1 is already in line 1"),
    ("rated sentences", "2\t-", "\t-", 2, "an empty id"),
    ("ARCT", "#id", "id", 1, "0 columns '#id'"),
    ("ARCT", "\t0\t", "\t2\t", 2, "label '2'"),
    ("ARCT", "\nb\t", "\na\t", 3, "id a is also in line 2"),
    ("ARCT", "Rain.", " ", 2, "an empty reason"),
    ("ARCT", "\tT\tI\n", "\tT\n", 2, "7 columns, but 8 in the header"),
    ("ARCT", "", "", 1, "columns '#id'"),
    ("ARCT's truth", "a\t1", "a\t1\tx", 3, "3 fields"),
    ("ARCT's truth", "b   0", "a 0", 4, "a second line for id a"),
    ("ARCT's truth", "a\t1", "a\tyes", 3, "label 'yes'"),
    ("ARCT's adversarial set", "\tFalse", "\tfalse", 2, "adversarial is 'false'"),
    ("ARCT's adversarial set", '"it ""is"" so"', '"it ""is"" so', 2, "not a row of CSV"),
    ("ARCT's adversarial set", 'so"\tit', 'so"x\tit', 2, "not a row of CSV"),
    ("ARCT's adversarial set", "\tadversarial", "", 1, "columns 'adversarial'"),
    ("ARCT's claim map", "original,negated", "original;negated", 1, "original,negated are needed"),
    ("ARCT's claim map", "Stay,Go", "Stay", 3, "write a claim, a comma and its negation"),
    ("ARCT's claim map", "Stay,Go", '"Go, out",Go', 3, "a second negation"),
    ("ARCT's claim map", "Stay,Go", "Stay, ", 3, "write a claim"),
    ("CoNLL-X", "1\tThe\t_", "1\tThe", 1, "9 columns between tabs"),
    ("CoNLL-X", "2\tdog", "3\tdog", 2, "index '3', 2 expected"),
    ("CoNLL-X", "3\tran", "3-4\tran", 3, "index '3-4', 3 expected"),
    ("CoNLL-X", "2\tdet", "9\tdet", 1, "head 9 is outside this sentence of 3 words"),
    ("CoNLL-X", "2\tdet", "²\tdet", 1, "head '²' is not a number"),
    ("CoNLL-X", "2\tdet", "9" * 5000 + "\tdet", 1, "is not a number"),
    ("CoNLL-X", "2\tdet", "1\tdet", 1, "is its own head"),
    ("CoNLL-X", "0\troot", "1\troot", 1, "no word of this sentence has head 0"),
    ("CoNLL-X", "\n\n1\tIt", "\n1\tIt", 4, "index '1', 4 expected"),
    ("CoNLL-X", "dog", "", 2, "no word"),
    ("CoNLL-X", "", "", 0, "no sentence"),
    ("CoNLL-U", "2-3\t", "3-4\t", 4, "index 3-4 after 1 words"),
    ("CoNLL-U", "2-3\t", "2-4\t", 6, "a multiword range goes on to word 4"),
    ("CoNLL-U", "3.1\t", "9.1\t", 7, "index 9.1 after 3 words"),
    ("CoNLL-U", "VB\t_\t_\t_", "VB\t_\t2\tdep", 7, "is no word, but has a head"),
    ("CoNLL-U", "2-3\tdog's\t_", "2-3\tdog's", 4, "9 columns"),
    ("NLTK's trees", "dog\tNN\t0", "dog\tNN", 2, "2 columns between tabs, dp has 3"),
    ("NLTK's trees", "DT\t2", "DT\t-2", 1, "head '-2' is not a number"),
    ("trees of words", "2-det", "2det", 1, "expected `word index-relation`"),
    ("trees of words", "The 2-det", "2-det", 1, "expected `word index-relation`"),
    ("GUM", "1\tKeller", "2\tKeller", 3, "index 2, 1 expected"),
    ("GUM", "1\tKeller\t1)\n", "", 3, "index 2, 1 expected"),
    ("GUM", "(1\n", "1\n", 2, "'1' is not a list of brackets"),
    ("GUM", "(1\n", "_\n", 3, "mention 1 is closed but was not opened"),
    ("GUM", "2)\n", "_\n", 5, "mention 2 is opened but never closed"),
    ("GUM", "# end document\n", "", 1, "no `end document` line"),
    ("GUM", "\t_\n", "\t_\t_\n", 4, "4 columns, gum has 3"),
    ("LitBank", "\t2\tsaw", "\t3\tsaw", 4, "index 3, 2 expected"),
    ("LitBank", "\t0\tWell", "\t4\tWell", 7, "index 4, 0 expected"),
    ("LitBank", "#end document\n", "", 1, "no `end document` line"),
    ("CoNLL-2012", "   1   saw", "   7   saw", 3, "index 7, 1 expected"),
    ("CoNLL-2012", "one 0 1 dog", "one 0 dog", 6, "11 columns, conll2012 has 12"),
    ("CoNLL-2012", "(1)|(2", "(1)|(2(", 5, "not a list of brackets"),
    ("CoNLL-2012", "#begin document (one); part 000\n", "#end document\n", 1, "no document"),
    ("CoNLL-U with entities", "cf2-2-sgl", "cf2-9-sgl", 5, "the head of mention 2 lies outside"),
    ("CoNLL-U with entities", "=2)", "=", 5, "mention 2 is opened but never closed"),
    ("CoNLL-U with entities", "\tdog\t", "\td\to\tg\t", 6, "columns"),
    ("FrameNet", "</sentence>", "", 0, "not well-formed XML"),
    ("FrameNet", 'frame="Giving"', "", 1, "not a lexical unit"),
    ("FrameNet", 'ID="7"', "", 1, "not a lexical unit"),
    ("FrameNet", ' name="Donor"/></layer>', "/></layer>", 0, "a label without a name"),
    ("FrameNet", 'start="5"', 'start="five"', 0, "outside the text"),
    ("FrameNet", 'end="27"', 'end="270"', 0, "outside the text of 30 characters"),
    ("FrameNet", 'end="27"', "", 0, "outside the text"),
    ("FrameNet", 'itype="DNI" ', "", 0, "outside the text"),
    ("FrameNet", "Anna", b"\xff", 5, "not well-formed XML"),
    ("FrameNet", "&amp;", "&smile;", 5, "not well-formed XML"),
    ("FrameNet", 'encoding="UTF-8"', 'encoding="klingon"', 1, "encoding"),
    ("FrameNet", "<lexUnit", '<!DOCTYPE x [<!ENTITY a "b">]><lexUnit', 1, "a document type"),
    (
        "FrameNet",
        "<lexUnit",
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><lexUnit',
        1,
        "document type",
    ),
    ("FrameNet", "", "", 1, "not well-formed XML"),
    ("plain text", "\nThree", "\rThree", 1, "a carriage return within the line"),
    ("plain text", "Three", "Th\0ree", 2, "a NUL character at column 3"),
    ("plain text", "Three", b"\xe4", 2, "byte 0xe4"),
    ("GloVe", "the 1 1 1", "the 1 1", 3, "2 numbers, 3 expected"),
    ("GloVe", "the 1 1 1", "the 1", 3, "1 numbers, 3 expected"),
    ("GloVe", "1 2 3", "1 2 x", 2, "'x' is not a decimal number"),
    ("GloVe", "1 2 3", "1 2 nan", 2, "'nan' is not a decimal number"),
    ("GloVe", "1 2 3", "1 -inf 2", 2, "'-inf' is not a decimal number"),
    ("GloVe", "1 2 3", "1_0 2 3", 2, "'1_0' is not a decimal number"),
    ("GloVe", "1 2 3", "1 ２ 3", 2, "'２' is not a decimal number"),
    ("GloVe", "1 2 3", "1 2-2 3", 2, "could not convert"),
    ("GloVe", "1 2 3", "1 . 3", 2, "could not convert"),
    ("GloVe", "1 2 3", "0.3 1 2 3", 2, "4 numbers, 3 expected"),
    ("GloVe", "1 2 3", "1 2 3 0.3 -4e-1", 2, "5 numbers, 3 expected"),
    ("GloVe", "1 2 3", "nan 1 2 3", 2, "4 numbers, 3 expected"),
    ("GloVe", "1 2 3", " 1 2 3", 2, "not separated by one blank each"),
    ("GloVe", "1 2 3", "1 2  3", 2, "not separated by one blank each"),
    ("GloVe", "\nthe", "\n the", 3, "not separated by one blank each"),
    ("GloVe", "the 1", "the\t0.3 1", 3, "not separated by one blank each"),
    ("GloVe", "1 2 3", "1 2 1e40", 2, "'1e40' is not a finite number"),
    ("GloVe", "", "", 0, "no vector"),
    ("GloVe", "", b"the \x00\x00\x01\x3f\n", 1, "a NUL character"),
    ("word2vec", "2 3\n", "3 3\n", 1, "3 vectors announced, but 2 follow"),
    ("word2vec", "2 3\n", "2 4\n", 2, "4 expected"),
    ("word2vec", "2 3\n", "2 0\n", 1, "vectors of no numbers"),
    ("word2vec", "2 3\n", "２ ３\n", 1, "'３' is not a decimal number"),
    ("word2vec", "2 3\n", "2 3_0\n", 1, "'3_0' is not a decimal number"),
    ("annotated maps", "model,", "models,", 1, "the columns must be"),
    ("annotated maps", "0,1,", "0,²,", 2, "layer and head must be numbers"),
    ("annotated maps", "0,1,", "-1,1,", 2, "layer and head must be numbers"),
    ("annotated maps", "w-1,0,2", "w-1,0,01", 3, "this map is in line 2 already"),
    ("annotated maps", ",12345678\n", "\n", 2, "the row needs 7 columns"),
    ("annotated maps", "minilm", '"minilm', 2, "not a row of CSV"),
    ("published runs", "run_no", "run", 1, "no column run_no"),
    ("published runs", "0.1,0,True", "0.1,2,True", 2, "pred is '2'"),
    ("published runs", "0,True", "0,yes", 2, "correct is 'yes'"),
    ("published runs", "0,True", "0,False", 2, "correct is False, but the study's label"),
    ("published runs", "1,dev,p0", "x,dev,p0", 2, "run_no is 'x'"),
    ("published runs", "p1", "p0", 3, "p0"),
    ("published runs", "0.9,0.1,0,False", "0.9,0,False", 3, "6 columns, 7 in the header"),
    ("claims", "above", "over", 2, "rule 'over'"),
    ("claims", "50", "nan", 2, "value 'nan' is no number"),
    ("claims", "two,", "one,", 3, "the id 'one' comes twice"),
    ("claims", "id,paper", "paper", 1, "the columns must be"),
    ("claims", "'or'", b"\xff", 2, "byte 0xff"),
    ("sides of translations", "dog", "d\0g", 1, "a NUL character"),
    ("sides of translations", "dog", "d\x0bg", 1, r"the control character '\x0b' at column 4"),
    ("sides of translations", "dogs", "do\rgs", 2, r"the control character '\r'"),
    ("sides of translations", "dogs", "do\x85gs", 2, r"the control character '\x85'"),
    ("sides of translations", "dogs", b"\xff", 2, "byte 0xff"),
    ("sides of translations", "A dog\trans .", "", 1, "an empty sentence; remove line 1 here"),
    ("sides of translations", "Two  dogs", "\u00a0", 2, "an empty sentence"),
    ("sides of translations", "", "", 0, "no line"),
    ("sides of translations", "", LFS, 1, "a pointer of Git LFS; run `git lfs pull`"),
    ("plain text", "", LFS, 1, "a pointer of Git LFS"),
    ("examples", '"e1"', "e1", 2, "not an example"),
    ("examples", '"texts"', '"text"', 1, "not an example"),
    ("examples", "", "[" * 100_000, 1, "not an example"),
    ("examples", "", "5\n", 1, "not an example"),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "words"),
    CASES,
    ids=[f"{case[0]}: {case[4][:40].strip()}" for case in CASES],
)
def test_a_broken_file_is_one_line(
    tmp_path: Path, name: str, old: str, new: str | bytes, line: int, words: str
) -> None:
    form = FORMATS[name]
    data = new.encode() if isinstance(new, str) else new
    valid = form.valid.encode()
    if old:
        assert old.encode() in valid
        every = old == "\n"
        data = valid.replace(old.encode(), data, -1 if every else 1)
    path = tmp_path / form.name
    path.write_bytes(data)
    refused(lambda: form.read(path), f"{path}:{line}:" if line else path, words)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, name: str) -> None:
    form = FORMATS[name]
    refused(lambda: form.read(tmp_path / form.name), tmp_path / form.name)
    (tmp_path / form.name).mkdir()
    refused(lambda: form.read(tmp_path / form.name), tmp_path)


COMPRESSED = gzip.compress(FORMATS["GLUE with a header"].valid.encode())


@pytest.mark.parametrize(
    "data",
    [
        COMPRESSED[:-9],
        COMPRESSED[:15] + b"\xff\xff" + COMPRESSED[17:],
        b"Quality\t",
        b"",
        b"\x1f\x8b",
    ],
    ids=["cut off", "a changed byte", "not compressed", "empty", "a header alone"],
)
def test_a_damaged_gzip_file_is_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "train.tsv.gz"
    path.write_bytes(data)
    refused(lambda: FORMATS["GLUE with a header"].read(path), path)
