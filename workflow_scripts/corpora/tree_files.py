"""Dependency treebanks in CoNLL-X, CoNLL-U, NLTK's .dp, and lines of `word index-relation`."""

import re
import zipfile
from collections.abc import Iterator
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


class WordRow(NamedTuple):
    """A word's line in a file: the number of the line, and its fields as they are written."""

    line: int
    index: str
    word: str
    tag: str
    head: str
    relation: str


def trees_of(path: Path, form: str) -> Iterator[tuple[str, Tree]]:
    """Document and tree of each sentence at `path`: a file, a directory or a zip of files.

    `form` is conllx, conllu, dp, clark (lines of `word index-relation`) or auto, by file name.
    Raises InputError, with file and line, for a malformed line or heads that are no tree.
    """
    empty = True
    for file in _files(path):
        kind = ENDINGS.get(Path(file.name).suffix, "") if form == "auto" else form
        if not kind:
            raise InputError(f"{file}: unknown ending; set format of this treebank")
        for document, tree in _trees_of_file(file, kind):
            empty = False
            yield document, tree
    if empty:
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
    for number, line in read_lines(file):
        if not line.strip():
            if rows or last:
                yield document, _tree(file, rows, last)
            rows, last = [], 0
        elif line.startswith("#") and form in ("conllx", "conllu") and "\t" not in line:
            match = NEWDOC.match(line)
            document = (match[1] or f"{document}'") if match else document
        elif form == "conllu" and (extra := re.match(r"(\d+)([-.])(\d+)\t", line)):
            _check_extra(f"{file}:{number}", line, extra.groups(), len(rows), last)
            last = max(last, int(extra[3]) if extra[2] == "-" else 0)
        else:
            rows.append(_row(file, number, line, form, len(rows) + 1))
    if rows or last:
        yield document, _tree(file, rows, last)


def _check_extra(where: str, line: str, index: tuple[str, ...], n_before: int, last: int) -> None:
    """Raise InputError for a multiword range or an empty node of CoNLL-U in the wrong position.

    `index` is its first number, a dash or a dot, and its second; `n_before` words stand before it,
    and the last range before it goes on to the word `last`.
    """
    fields = line.split("\t")
    if len(fields) != COLUMNS["conllu"]:
        raise _miscounted(where, len(fields), "conllu")
    first, second = (whole_number(part) for part in (index[0], index[2]))
    if index[1] == "-":
        right = first == n_before + 1 > last and second is not None and second > first
    else:
        right = first == n_before and second is not None
    if not right:
        raise InputError(f"{where}: index {fields[0]} after {n_before} words; fix the line")
    if fields[6] not in NO_RELATION or fields[7] not in NO_RELATION:
        raise InputError(
            f"{where}: index {fields[0]} is no word, but has a head or a relation; fix the line"
        )


def _miscounted(where: str, n: int, form: str) -> InputError:
    return InputError(
        f"{where}: {n} columns between tabs, {form} has {COLUMNS[form]}; fix the line"
    )


def _row(file: Path, number: int, line: str, form: str, position: int) -> WordRow:
    """One word; `position` counts those of the sentence from 1, for forms without indices."""
    if form == "clark":
        word, _, link = line.strip().rpartition(" ")
        head, dash, relation = link.partition("-")
        if not word or not dash:
            raise InputError(f"{file}:{number}: expected `word index-relation`; fix the line")
        return WordRow(number, str(position), word, "", head, relation)
    fields = line.split("\t")
    if len(fields) != COLUMNS[form]:
        raise _miscounted(f"{file}:{number}", len(fields), form)
    if form == "dp":
        word, tag, head = fields
        return WordRow(number, str(position), word, tag, head, "")
    tag = fields[4] if fields[4] not in NO_RELATION else fields[3]
    relation = "" if fields[7] in NO_RELATION else fields[7]
    return WordRow(number, fields[0], fields[1], tag, fields[6], relation)


def _tree(file: Path, rows: list[WordRow], last: int = 0) -> Tree:
    """The tree of a sentence, which has a word of the number `last` if that is not 0."""
    if last > len(rows):
        where = f"{file}:{rows[-1].line}" if rows else f"{file}"
        raise InputError(f"{where}: a multiword range goes on to word {last}; add its words")
    heads = []
    for position, row in enumerate(rows, start=1):
        problem = _problem(row, position, len(rows))
        if problem:
            raise InputError(f"{file}:{row.line}: {problem}; fix the line")
        heads.append(int(row.head) - 1 if int(row.head) else ROOT)
    if wrong := misshapen(heads):
        raise InputError(f"{file}:{rows[wrong[0]].line}: {wrong[1]}; fix the heads")
    return Tree(
        id="",
        words=tuple("".join(row.word.split()) for row in rows),
        heads=tuple(heads),
        relations=tuple(row.relation for row in rows),
        tags=tuple(row.tag for row in rows),
        source=f"{file}:{rows[0].line}",
    )


def _problem(row: WordRow, position: int, n_words: int) -> str:
    """What is wrong with the word at `position` (from 1); empty if nothing is."""
    if row.index != str(position):
        return f"index {row.index!r}, {position} expected"
    if whole_number(row.head) is None:
        return f"head {row.head!r} is not a number"
    if int(row.head) > n_words:
        return f"head {row.head} is outside this sentence of {n_words} words"
    if int(row.head) == position:
        return f"{row.word!r} is its own head"
    return "" if row.word.strip() else "no word"
