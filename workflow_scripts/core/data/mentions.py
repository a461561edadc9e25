"""Documents with coreferent mentions, next to their examples: one JSON object per line."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.records import read_records, write_records
from workflow_scripts.core.run.files import files_below

KINDS = ("pronoun", "proper", "nominal")
ENDINGS = (".conll", "_conll", ".conllu")  # of files with coreference


@dataclass(frozen=True)
class Mention:
    """Words `start` to `end` (exclusive) of a document, and `head`, the word that stands for them.

    `kind` is one of KINDS. `number` (singular, plural), `gender` (masculine, feminine, neuter) and
    `person` (1, 2, 3) are empty if they are unknown.
    """

    start: int
    end: int
    head: int
    chain: str
    kind: str
    number: str = ""
    gender: str = ""
    person: str = ""


@dataclass(frozen=True)
class Document:
    """A text's words and mentions, in the order of the mentions' starts and ends.

    `heads` and `relations` are those of the trees that the heads of mentions come from.
    """

    id: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    mentions: tuple[Mention, ...]
    source: str


def annotation_of(source: dict[str, Any]) -> str:
    """What people annotated of documents with mentions, by their part of the study.

    Head words come from trees, which CoNLL-U holds and `trees` names; spaCy finds them elsewhere.
    """
    if "generate" in source:
        return "generated"
    path, form = Path(source["path"]), source.get("format", "auto")
    files = files_below(path, ENDINGS) or [path]
    conllu = all(file.suffix == ".conllu" for file in files)
    with_trees = "trees" in source or form == "conllu" or (form == "auto" and conllu)
    return "gold" if with_trees else "gold mentions, silver heads"


def write_documents(path: Path, documents: Iterable[Document]) -> None:
    """Write one JSON object per line, UTF-8."""
    write_records(path, documents)


def read_documents(path: Path) -> list[Document]:
    """The documents of an annotation file. Raises InputError, with the line, if it is damaged."""
    return read_records(path, _document, "a document")


def _document(mentions: tuple[dict, ...], **fields: Any) -> Document:
    return Document(**fields, mentions=tuple(Mention(**mention) for mention in mentions))
