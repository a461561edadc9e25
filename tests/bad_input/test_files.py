"""Files of every format: a whole one is read as it is, a broken one ends in one line."""

from pathlib import Path

import pytest

from tests.bad_input.formats import FORMATS
from tests.bad_input.refused import refused
from workflow_scripts.core.errors import InputError

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n"
# Format, what is replaced (nothing: the whole file), by what, the line and words of the error.
CASES: list[tuple[str, str, str | bytes, int, str]] = [
    ("GLUE with a header", "Quality", "quality", 1, "0 columns 'Quality'"),
    ("GLUE with a header", "\t3\tA", "\t3 A", 2, "4 columns where the header has 5"),
    ("GLUE with a header", "1\t2", "2\t2", 2, "label '2' is unknown"),
    ("GLUE with a header", "4\t5", "2\t3", 3, "id 2 3 is already in line 2"),
    ("GLUE with a header", "F", "F\0", 3, "a NUL character"),
    ("GLUE with a header", "F", b"\xff", 3, "byte 0xff at column 7 is not UTF-8"),
    ("GLUE without a header", "Our friends .", "", 1, "an empty text"),
    ("ARCT", "\nb\t", "\na\t", 3, "id a is also in line 2"),
    ("CoNLL-X", "2\tdog", "3\tdog", 2, "index '3', 2 expected"),
    ("CoNLL-X", "2\tdet", "9\tdet", 1, "head 9 is outside this sentence of 3 words"),
    ("CoNLL-X", "0\troot", "1\troot", 1, "no word of this sentence has head 0"),
    ("CoNLL-U", "2-3\t", "2-4\t", 6, "a multiword range goes on to word 4"),
    ("NLTK's trees", "dog\tNN\t0", "dog\tNN", 2, "2 columns between tabs, dp has 3"),
    ("trees of words", "2-det", "2det", 1, "expected `word index-relation`"),
    ("GUM", "(1\n", "_\n", 3, "mention 1 is closed but was not opened"),
    ("GUM", "2)\n", "_\n", 5, "mention 2 is opened but never closed"),
    ("LitBank", "#end document\n", "", 1, "no `end document` line"),
    ("LitBank", "one\t0\t3", "#end document\none\t0\t3", 6, "a word outside a document"),
    ("CoNLL-2012", "one 0 1 dog", "one 0 dog", 6, "11 columns, conll2012 has 12"),
    ("FrameNet", "</sentence>", "", 0, "not well-formed XML"),
    ("FrameNet", 'end="27"', 'end="270"', 0, "outside the text of 30 characters"),
    ("FrameNet", "<lexUnit", '<!DOCTYPE x [<!ENTITY a "b">]><lexUnit', 1, "DTDForbidden"),
    ("plain text", "", LFS, 1, "a pointer of Git LFS; run `git lfs pull`"),
    ("GloVe", "the 1 1 1", "the 1 1", 3, "2 numbers, 3 expected"),
    ("GloVe", "-1e-3 2", "-1e-3", 2, "3 numbers, 2 expected"),
    ("GloVe", ". . 1", ".\t. 1", 2, "not separated by one blank each"),
    ("GloVe", "1 2 3", "1 2 nan", 2, "'nan' is not a finite number"),
]

# Where the real data have a file of a format, and how many of its lines are read.
REAL = {
    "GLUE with a header": ("glue/MRPC/dev*.tsv", 100),
    "GLUE without a header": ("glue/CoLA/dev*.tsv", 100),
    "ARCT": ("arct/dev-full.txt", 100),
    "CoNLL-X": ("gum_sd/dep_stanford/*", None),
    "CoNLL-U": ("ud_ewt/*.conllu", 1000),
    "GUM": ("gum_sd/coref_conll/*", None),
    "LitBank": ("litbank/*", None),
    "FrameNet": ("framenet-1.5-subset/lu/lu*.xml", None),
    "WikiText": ("wikitext/*.raw", 300),
    "GloVe": ("glove/*.txt", 200),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_valid_file_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    form = FORMATS[name]
    path = tmp_path / form.name
    for text in (form.valid, "\ufeff" + form.valid, form.valid.replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        records = form.read(path)
        assert records == form.plainly(text)
        assert records


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_read_whole(tmp_path: Path, real_data: Path, name: str) -> None:
    pattern, n_lines = REAL[name]
    smallest = min(real_data.glob(pattern), key=lambda path: path.stat().st_size)
    lines = smallest.read_bytes().splitlines(keepends=True)[:n_lines]
    if pattern.endswith(".conllu"):
        while lines[-1].strip():  # up to the last sentence's end
            lines.pop()
    path = tmp_path / FORMATS[name].name
    path.write_bytes(b"".join(lines))
    assert FORMATS[name].read(path) == FORMATS[name].plainly(path.read_bytes().decode())


@pytest.mark.parametrize("name", FORMATS)
def test_a_cut_file_or_one_without_a_line_is_read_as_it_is_or_refused(
    tmp_path: Path, name: str
) -> None:
    form = FORMATS[name]
    path, lines = tmp_path / form.name, form.valid.splitlines(keepends=True)
    texts = [form.valid[:end] for end in range(1, len(form.valid))]
    texts += ["".join(lines[:k] + lines[k + 1 :]) for k in range(len(lines))]
    for text in texts:
        path.write_text(text, encoding="utf-8", newline="")
        try:
            records = form.read(path)
        except InputError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
        else:
            assert records == form.plainly(text), text


@pytest.mark.parametrize(("name", "old", "new", "line", "words"), CASES)
def test_a_broken_file_is_one_line(
    tmp_path: Path, name: str, old: str, new: str | bytes, line: int, words: str
) -> None:
    form = FORMATS[name]
    data = new.encode() if isinstance(new, str) else new
    if old:
        assert old in form.valid
        data = form.valid.encode().replace(old.encode(), data, 1)
    path = tmp_path / form.name
    path.write_bytes(data)
    refused(lambda: form.read(path), f"{path}:{line}:" if line else path, words)


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_file_is_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / FORMATS[name].name
    refused(lambda: FORMATS[name].read(path), path)
