"""Examples: the texts that a model reads, one JSON object a line."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow_scripts.core.errors import InputError

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Example:
    """One input of a model: one text, or two that are separated by [SEP].

    `source` says for people where it stands ("file:line"). `words` gives the words of each text
    as character spans; without it the tokenizer's own words are used.
    """

    id: str
    document: str
    source: str
    texts: tuple[str, ...]
    words: tuple[Spans, ...] | None = None


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write one JSON object a line, UTF-8."""
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")


def read_examples(path: Path) -> list[Example]:
    """The examples of a corpus file. Raises InputError, with the line, where it is damaged."""
    examples = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                fields = json.loads(line)
                words = fields.get("words")
                if words is not None:
                    words = tuple(tuple((a, b) for a, b in spans) for spans in words)
                fields |= {"texts": tuple(fields["texts"]), "words": words}
                examples.append(Example(**fields))
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"{path}:{number}: not an example ({error}); delete the file and run again"
                ) from error
    return examples
