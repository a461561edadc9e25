"""The parser behind silver annotation, a spaCy model package, and the trees that it gives."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workflow_scripts.core.data.annotations import ROOT, Tree
from workflow_scripts.core.errors import InputError, one_line

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

TEXTS, LONGEST = 64, 100_000  # texts and characters parsed at once; each character takes about 3 KB


def load_spacy(model: str) -> Any:
    """The spaCy pipeline of an installed model package. Raises InputError if there is none.

    A directory of that name, which spaCy would load as well, is none.
    """
    import spacy

    if not spacy.util.is_package(model):
        raise InputError(
            f"spacy: {model}: no such model package; install it with pip or name another"
        )
    try:
        return spacy.load(model, disable=["ner"])
    except (OSError, ValueError, ImportError) as error:
        raise InputError(
            f"spacy: {model}: not loaded ({one_line(error)}); install it again"
        ) from error


def parse(parser: Any, texts: Iterable[tuple["str | Doc", str]]) -> Iterator["Doc"]:
    """Each text, parsed; a text comes with its source, for people ("file:line").

    Raises InputError, with the source, for a text of more than LONGEST characters.
    """
    batch: list[str | Doc] = []
    characters = 0
    for text, source in texts:
        length = len(text) if isinstance(text, str) else sum(map(len, text))
        if length > LONGEST:
            raise InputError(
                f"{source}: the text that begins with {str(text)[:40]!r} has {length:,} "
                f"characters; spaCy is given at most {LONGEST:,} at once: split or shorten it"
            )
        if len(batch) == TEXTS or characters + length > LONGEST:
            yield from parser.pipe(batch)
            batch, characters = [], 0
        batch.append(text)
        characters += length
    yield from parser.pipe(batch)


def words_of(tokens: Iterable["Token"]) -> list["Token"]:
    """The tokens that are words or punctuation; spaCy makes tokens of white space, too."""
    return [token for token in tokens if not token.is_space]


def to_tree(texts: Sequence[Iterable["Token"]], tree_id: str = "", source: str = "") -> Tree:
    """One tree over the words of parsed texts (spaCy's Docs or sentences), in their order.

    Words are counted over all texts, and each sentence has its own root. Relations are in lower
    case, tags are those of the parser's treebank.
    """
    words = [token for tokens in texts for token in words_of(tokens)]
    index = {token: number for number, token in enumerate(words)}
    return Tree(
        id=tree_id,
        words=tuple(token.text for token in words),
        heads=tuple(
            ROOT if token.head == token else index.get(token.head, ROOT) for token in words
        ),
        relations=tuple(token.dep_.lower() for token in words),
        tags=tuple(token.tag_ for token in words),
        source=source,
    )
