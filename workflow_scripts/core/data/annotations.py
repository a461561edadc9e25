"""What corpora and annotations hold, a JSON object per line: examples, trees, mentions, links."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.files import files_below

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Spans = tuple[tuple[int, int], ...]

ROOT = -1  # the head of a root
MENTION_KINDS = ("pronoun", "proper", "nominal")
COREFERENCE_ENDINGS = (".conll", "_conll", ".conllu")  # of files with coreference
FEW_DOCUMENTS = 10  # of fewer, intervals, which resample documents, are too narrow
# The paper's frame links are pairs of tokens, without a direction.
FRAME_DIRECTION = "either"
FRAME_LEVEL = 0.05  # of corrected p-values
FRAME_DIFFERENCE = 0.02  # of attention; many sentences make far smaller ones significant


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Write dataclasses, one per line, UTF-8."""
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")


def read_records(path: Path, build: Callable[..., T]) -> list[T]:
    """What `build` makes of each line's fields, in which lists are tuples."""
    return [build(**_with_tuples(json.loads(line))) for _, line in read_lines(path)]


def _with_tuples(value: Any) -> Any:
    """A JSON value with tuples for lists, as the frozen records hold them."""
    if isinstance(value, dict):
        return {name: _with_tuples(item) for name, item in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


@dataclass(frozen=True)
class Example:
    """One input of a model: one text, or two that are separated by [SEP].

    `source` is, for people, where the text comes from ("file:line"). `words` are the words of each
    text as character spans; without them the tokenizer's own words are used.
    """

    id: str
    document: str
    source: str
    texts: tuple[str, ...]
    words: tuple[Spans, ...] | None = None


@dataclass(frozen=True)
class Labelled(Example):
    """A sentence whose words have a label each, such as the kind of a named entity."""

    labels: tuple[str, ...] = ()

    def numbers(self, names: Sequence[str]) -> list[int]:
        """The number of each label in a model's `names`. Raises InputError for another label."""
        for (start, end), label in zip(self.words[0], self.labels, strict=True):
            if label not in names:
                raise InputError(
                    f"{self.source}: label {label!r} of {self.texts[0][start:end]!r} is none of "
                    f"the model's, {', '.join(names)}; rename it, or id2label in config.json"
                )
        return [names.index(label) for label in self.labels]


def to_example(annotated: "Annotated", document: str) -> Example:
    """An annotated text as a model's input: its words, joined by single spaces."""
    text, words = " ".join(annotated.words), (spans_of(annotated.words),)
    return Example(annotated.id, document, annotated.source, (text,), words)


def spans_of(words: Sequence[str]) -> Spans:
    """Character spans of words that are joined by single spaces."""
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return tuple(spans)


def read_examples(path: Path) -> list[Example]:
    """The examples of a corpus file."""
    return read_records(path, Example)


@dataclass(frozen=True)
class Tree:
    """A sentence's words and their heads: `heads` has word indices from 0, and -1 for the root.

    `relations` and `tags` are empty strings if the treebank has none.
    """

    id: str
    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    source: str


def is_punctuation(word: str, relation: str) -> bool:
    """Whether a word is punctuation: by its relation or, without relations, by its characters."""
    return relation == "punct" or (not relation and not any(letter.isalnum() for letter in word))


def misshapen(heads: Sequence[int]) -> tuple[int, str] | None:
    """A word of a sentence and what is wrong with it, where `heads` are no tree; else None.

    Every word must reach a root over its head; several roots are allowed, some treebanks have them.
    """
    if len(heads) and ROOT not in heads:
        return 0, "no word of this sentence has head 0, so that it has no root"
    reaches: set[int] = {ROOT}
    for word in range(len(heads)):
        path: list[int] = []
        while word not in reaches:
            if word in path:
                circle = path[path.index(word) :]
                names = ", ".join(str(member + 1) for member in circle)
                return min(circle), f"the heads of words {names} form a circle"
            path.append(word)
            word = heads[word]
        reaches.update(path)
    return None


def read_trees(path: Path) -> list[Tree]:
    """The trees of an annotation file."""
    return read_records(path, Tree)


@dataclass(frozen=True)
class Mention:
    """Words `start` to `end` (exclusive) of a document, and `head`, the word that stands for them.

    `kind` is one of MENTION_KINDS. `number` (singular, plural), `gender` (masculine, feminine,
    neuter) and `person` (1, 2, 3) are empty if they are unknown.
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


def coreference_annotation(source: dict[str, Any]) -> str:
    """What people annotated of documents with mentions, by their part of the study.

    Head words come from trees, which CoNLL-U holds and `trees` names; spaCy finds them elsewhere.
    """
    if "generate" in source:
        return "generated"
    path, form = Path(source["path"]), source.get("format", "auto")
    files = files_below(path, COREFERENCE_ENDINGS) or [path]
    conllu = all(file.suffix == ".conllu" for file in files)
    with_trees = "trees" in source or form == "conllu" or (form == "auto" and conllu)
    return "gold" if with_trees else "gold mentions, silver heads"


def read_documents(path: Path) -> list[Document]:
    """The documents of an annotation file."""
    return read_records(path, _document)


def _document(mentions: tuple[dict, ...], **fields: Any) -> Document:
    return Document(**fields, mentions=tuple(Mention(**mention) for mention in mentions))


@dataclass(frozen=True)
class Element:
    """A frame element's name and its words, as indices from 0."""

    name: str
    words: tuple[int, ...]


@dataclass(frozen=True)
class FrameLinks:
    """A sentence's predicate (its words' indices), its frame, its core elements and `others`."""

    id: str
    words: tuple[str, ...]
    frame: str
    target: tuple[int, ...]
    elements: tuple[Element, ...]
    others: tuple[Element, ...]
    source: str


Annotated = Tree | Document | FrameLinks


def read_links(path: Path) -> list[FrameLinks]:
    """The links of an annotation file."""
    return read_records(path, _links)


def _links(elements: tuple[dict, ...], others: tuple[dict, ...], **fields: Any) -> FrameLinks:
    core, rest = (tuple(Element(**item) for item in items) for items in (elements, others))
    return FrameLinks(**fields, elements=core, others=rest)


def frame_heads(scores: "pd.DataFrame") -> "pd.DataFrame":
    """The study's one list of frame heads, largest difference first (docs/methods-linguistic.md).

    They attend more along links, in either direction, than along the links' controls: by
    FRAME_DIFFERENCE or more, and by more than chance among all heads. `scores` has a row per head
    and direction; the chosen rows are those of FRAME_DIRECTION.
    """
    rows = scores[scores["direction"] == FRAME_DIRECTION]
    chosen = rows[(rows["p_corrected"] < FRAME_LEVEL) & (rows["difference"] >= FRAME_DIFFERENCE)]
    return chosen.sort_values("difference", ascending=False, kind="stable")
