"""Documents with coreferent mentions, beside their examples: one JSON object a line."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError

KINDS = ("pronoun", "proper", "nominal")


@dataclass(frozen=True)
class Mention:
    """Words `start` to `end` (exclusive) of a document, and `head`, the word that stands for them.

    `kind` is one of KINDS. `number` (singular, plural), `gender` (masculine, feminine, neuter) and
    `person` (1, 2, 3) are empty where they are unknown.
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


def write_documents(path: Path, documents: Iterable[Document]) -> None:
    """Write one JSON object a line, UTF-8."""
    with path.open("w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps(asdict(document), ensure_ascii=False) + "\n")


def read_documents(path: Path) -> list[Document]:
    """The documents of an annotation file. Raises InputError, with the line, where damaged."""
    documents = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                fields = json.loads(line)
                mentions = tuple(Mention(**one) for one in fields.pop("mentions"))
                fields = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
                documents.append(Document(**fields, mentions=mentions))
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{path}:{number}: not a document ({error}); delete the file and run again"
                ) from error
    return documents
