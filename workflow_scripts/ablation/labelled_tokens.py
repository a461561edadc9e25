"""Sentences whose words have labels: CoNLL's columns, or JSON lines with tokens and ner_tags."""

from collections.abc import Iterator
from pathlib import Path

from workflow_scripts.core.data.annotations import Labelled, spans_of
from workflow_scripts.core.data.text_files import read_lines, read_objects
from workflow_scripts.core.errors import InputError

DOCUMENT = "-DOCSTART-"  # CoNLL-2003's first word of a document
TAGS = ("tags", "ner_tags")
Word = tuple[str, str]
Sentence = tuple[int, str, list[Word]]  # its first line, its document, its words with labels


def read(path: Path) -> list[Labelled]:
    """The sentences of a file in its order; each is a document where the file names none.

    Raises InputError for a word without a label, and for a file without a sentence.
    """
    reader = _objects if ".jsonl" in path.suffixes else _columns
    found = []
    for number, document, words in reader(path):
        forms, labels = zip(*words, strict=True)
        texts, spans = (" ".join(forms),), (spans_of(forms),)
        name = document or f"sentence {len(found) + 1}"
        each = f"labels-{len(found):05d}", name, f"{path}:{number}", texts, spans, labels
        found.append(Labelled(*each))
    if not found:
        raise InputError(f"{path}: no sentence; write a word, a tab and its label in each line")
    return found


def _columns(path: Path) -> Iterator[Sentence]:
    """A word a line, its label in the last column; blank lines end sentences."""
    words: list[Word] = []
    start, documents, document = 1, 0, ""
    for number, line in read_lines(path):
        fields = (line.split("\t") if "\t" in line else line.split()) if line.strip() else []
        if words and (not fields or fields[0] == DOCUMENT):
            yield start, document, words
            words = []
        if fields and fields[0] == DOCUMENT:
            documents += 1
            document = f"document {documents}"
        elif fields:
            word, label = fields[0].strip(), fields[-1].strip()
            if len(fields) < 2 or not word or not label:
                raise InputError(
                    f"{path}:{number}: {line.strip()!r} is no word with a label; write both, with "
                    "a tab between them"
                )
            start = start if words else number
            words.append((word, label))
    if words:
        yield start, document, words


def _objects(path: Path) -> Iterator[Sentence]:
    """An object a line, with the lists `tokens` and `ner_tags` or `tags`, maybe with `document`."""
    for number, given in read_objects(path):
        tokens = given.get("tokens")
        labels = next((given[key] for key in TAGS if key in given), None)
        if not (isinstance(tokens, list) and isinstance(labels, list)):
            raise InputError(f"{path}:{number}: no lists tokens and ner_tags; write both")
        if len(tokens) != len(labels):
            raise InputError(
                f"{path}:{number}: {len(tokens)} tokens and {len(labels)} labels; write one each"
            )
        if not all(isinstance(each, str) and each.strip() for each in (*tokens, *labels)):
            raise InputError(
                f"{path}:{number}: tokens and labels are texts that are not blank; write the names "
                "of labels for their numbers"
            )
        if tokens:
            yield number, str(given.get("document") or ""), list(zip(tokens, labels, strict=True))
