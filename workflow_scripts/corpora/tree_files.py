"""Dependency treebanks in CoNLL-X, CoNLL-U, NLTK's .dp, and lines of `word index-relation`."""

import re
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.data.annotations import ROOT, Tree, misshapen
from workflow_scripts.core.data.text_files import read_lines, whole_number
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.files import files_at, is_hidden

ENDINGS = {
    ".conllu": "conllu",
    ".conll": "conllx",
    ".conllx": "conllx",
    ".conll10": "conllx",
    ".dp": "dp",
    ".txt": "clark",
}
COLUMNS = {"conllx": 10, "conllu": 10, "dp": 3}
NO_RELATION = {"_", ""}
# The line of CoNLL-U that starts a document, which it may name.
NEWDOC = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.+?))?\s*$")
# Multiword ranges and empty nodes of CoNLL-U.
EXTRA = re.compile(r"([0-9]{1,9})([-.])([0-9]{1,9})\t")


class WordRow(NamedTuple):
    """A word's line in a file: the number of the line, and its fields as they are written."""

    line: int
    word: str
    tag: str
    head: str
    relation: str


def trees_of(path: Path, form: str) -> Iterator[tuple[str, Tree]]:
    """Document and tree of each sentence at `path`: a file, a directory or a zip of files.

    `form` is conllx, conllu, dp, clark (lines of `word index-relation`) or auto, by file name.
    Raises InputError, with file and line, for a malformed line or heads that are no tree.
    """
    tree = None
    for file in _files(path):
        kind = ENDINGS.get(Path(file.name).suffix, "") if form == "auto" else form
        if not kind:
            raise InputError(f"{file}: unknown ending; set format of this treebank")
        for document, tree in _trees_of_file(file, kind):
            yield document, tree
    if tree is None:
        raise InputError(f"{path}: no sentence; use another treebank or correct format")


def _files(path: Path) -> list[Path]:
    if not path.is_file() or path.suffix != ".zip":
        return files_at(path, ENDINGS)
    try:
        names = sorted(set(zipfile.ZipFile(path).namelist()))
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError(f"{path}: not a complete zip file ({error}); copy it again") from error
    shown = [name for name in names if not any(map(is_hidden, name.split("/")))]
    members = [zipfile.Path(path, name) for name in shown]
    return [member for member in members if Path(member.name).suffix in ENDINGS]


def _trees_of_file(file: Path, form: str) -> Iterator[tuple[str, Tree]]:
    document = Path(file.name).stem
    rows: list[WordRow] = []
    last = 0  # word of the last multiword range
    for number, line in chain(read_lines(file), [(0, "")]):
        if not line.strip():
            if last > len(rows):
                where = f"{file}:{rows[-1].line}" if rows else f"{file}"
                raise InputError(
                    f"{where}: a multiword range goes on to word {last}; add its words"
                )
            if rows:
                yield document, _tree(file, rows)
            rows, last = [], 0
        elif line.startswith("#") and form in ("conllx", "conllu"):
            match = NEWDOC.match(line)
            document = (match[1] or f"{document}'") if match else document
        elif form == "conllu" and (extra := EXTRA.match(line)):
            columns_of(file, number, line, form)
            first, mark, second = int(extra[1]), extra[2], int(extra[3])
            in_place = first == len(rows) + (mark == "-")
            if not in_place or (mark == "-" and not last < first < second):
                what = f"index {first}{mark}{second} after {len(rows)} words"
                raise InputError(f"{file}:{number}: {what}; fix the line")
            last = second if mark == "-" else last
        else:
            rows.append(_row(file, number, line, form, len(rows) + 1))


def columns_of(file: Path, number: int, line: str, form: str) -> list[str]:
    """The fields of a word's line. Raises InputError for a line with more or fewer of them."""
    fields = line.split("\t")
    if len(fields) != COLUMNS[form]:
        raise InputError(
            f"{file}:{number}: {len(fields)} columns between tabs, {form} has {COLUMNS[form]}; "
            "fix the line"
        )
    return fields


def _row(file: Path, number: int, line: str, form: str, position: int) -> WordRow:
    """The word that is at `position` in its sentence, from 1."""
    if form == "clark":
        word, _, link = line.strip().rpartition(" ")
        head, dash, relation = link.partition("-")
        if not word or not dash:
            raise InputError(f"{file}:{number}: expected `word index-relation`; fix the line")
        return WordRow(number, word, "", head, relation)
    fields = columns_of(file, number, line, form)
    if form == "dp":
        return WordRow(number, *fields, relation="")
    if fields[0] != str(position):
        raise InputError(f"{file}:{number}: index {fields[0]!r}, {position} expected; fix the line")
    tag = fields[4] if fields[4] not in NO_RELATION else fields[3]
    relation = "" if fields[7] in NO_RELATION else fields[7]
    return WordRow(number, fields[1], tag, fields[6], relation)


def _tree(file: Path, rows: list[WordRow]) -> Tree:
    heads = []
    for position, row in enumerate(rows, start=1):
        if problem := _problem(row, position, len(rows)):
            raise InputError(f"{file}:{row.line}: {problem}; fix the line")
        heads.append(int(row.head) - 1 if int(row.head) else ROOT)
    if len(rows) > 1 and {row.word for row in rows} == {"_"}:
        raise InputError(
            f"{file}:{rows[0].line}: every word is _; add the words as the README says"
        )
    if wrong := misshapen(heads):
        raise InputError(f"{file}:{rows[wrong[0]].line}: {wrong[1]}; fix the heads")
    return Tree(
        id="",
        words=tuple(" ".join(row.word.split()) for row in rows),
        heads=tuple(heads),
        relations=tuple(row.relation for row in rows),
        tags=tuple(row.tag for row in rows),
        source=f"{file}:{rows[0].line}",
    )


def _problem(row: WordRow, position: int, n_words: int) -> str:
    """What is wrong with the word at `position` (from 1); empty if nothing is."""
    head = whole_number(row.head)
    if head is None:
        return f"head {row.head!r} is not a number"
    if head > n_words:
        return f"head {row.head} is outside this sentence of {n_words} words"
    if head == position:
        return f"{row.word!r} is its own head"
    return "" if row.word.strip() else "no word"
