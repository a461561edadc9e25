"""Dependency treebanks in CoNLL-X, CoNLL-U, NLTK's .dp, and lines of `word index-relation`."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.data.trees import ROOT, Tree
from workflow_scripts.core.run.errors import InputError

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
Row = tuple[int, str, str, str, str, str]  # line, index, word, tag, head, relation


def trees_of(path: Path, form: str) -> Iterator[tuple[str, Tree]]:
    """Document and tree of each sentence at `path`: a file, a directory or a zip of files.

    `form` is conllx, conllu, dp, clark (lines of `word index-relation`) or auto, by file name.
    Raises InputError, with file and line, for a malformed line.
    """
    found = 0
    for file in _files(path):
        kind = ENDINGS.get(Path(file.name).suffix, "") if form == "auto" else form
        if not kind:
            raise InputError(f"{file}: unknown ending; set format of this treebank")
        for document, tree in _trees_of_file(file, kind):
            found += 1
            yield document, tree
    if not found:
        raise InputError(f"{path}: no sentence; give a treebank or correct format")


def _files(path: Path) -> list[Path]:
    if path.is_file() and path.suffix == ".zip":
        names = sorted(zipfile.ZipFile(path).namelist())
        inside = [zipfile.Path(path, name) for name in names]
        return [one for one in inside if Path(one.name).suffix in ENDINGS]
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: no such file or directory; correct the path")
    found = sorted(one for one in path.iterdir() if one.suffix in ENDINGS)
    if not found:
        raise InputError(f"{path}: no {', '.join(ENDINGS)} file; put one there")
    return found


def _trees_of_file(file: Path, form: str) -> Iterator[tuple[str, Tree]]:
    document = Path(file.name).stem
    rows: list[Row] = []
    for number, line in read_lines(file):
        if not line.strip():
            if rows:
                yield document, _tree(file, rows)
            rows = []
        elif line.startswith("#") and form in ("conllx", "conllu") and "\t" not in line:
            match = re.match(r"# ?newdoc(?: id ?= ?(.+))?$", line)
            document = (match[1] or f"{document}'") if match else document
        else:
            row = _row(file, number, line, form, len(rows))
            rows += [row] if row else []
    if rows:
        yield document, _tree(file, rows)


def _row(file: Path, number: int, line: str, form: str, before: int) -> Row | None:
    """One word; None for a multiword range or an empty node of CoNLL-U."""
    if form == "clark":
        word, _, link = line.strip().rpartition(" ")
        head, dash, relation = link.partition("-")
        if not word or not dash:
            raise InputError(f"{file}:{number}: expected `word index-relation`; mend the line")
        return number, str(before + 1), word, "", head, relation
    fields = line.split("\t")
    if len(fields) != COLUMNS[form]:
        raise InputError(
            f"{file}:{number}: {len(fields)} columns between tabs, {form} has {COLUMNS[form]}; "
            "mend the line"
        )
    if form == "dp":
        word, tag, head = fields
        return number, str(before + 1), word, tag, head, ""
    if re.fullmatch(r"\d+[-.]\d+", fields[0]):
        return None
    tag = fields[4] if fields[4] not in NO_RELATION else fields[3]
    relation = "" if fields[7] in NO_RELATION else fields[7]
    return number, fields[0], fields[1], tag, fields[6], relation


def _tree(file: Path, rows: list[Row]) -> Tree:
    heads = []
    for position, (number, index, word, _, head, _) in enumerate(rows, start=1):
        where = f"{file}:{number}"
        if index != str(position):
            raise InputError(f"{where}: index {index!r}, {position} expected; mend the line")
        if not re.fullmatch(r"\d+", head):
            raise InputError(f"{where}: head {head!r} is not a number; mend the line")
        if int(head) > len(rows):
            raise InputError(
                f"{where}: head {head} is outside this sentence of {len(rows)} words; mend the line"
            )
        if int(head) == position:
            raise InputError(f"{where}: {word!r} is its own head; mend the line")
        if not word.strip():
            raise InputError(f"{where}: no word; mend the line")
        heads.append(int(head) - 1 if int(head) else ROOT)
    return Tree(
        id="",
        words=tuple("".join(row[2].split()) for row in rows),
        heads=tuple(heads),
        relations=tuple(row[5] for row in rows),
        tags=tuple(row[3] for row in rows),
        source=f"{file}:{rows[0][0]}",
    )
