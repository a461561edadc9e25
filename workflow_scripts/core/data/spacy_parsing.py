"""The parser behind silver annotation, a spaCy model package, and the trees that it gives."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from workflow_scripts.core.data.trees import ROOT, Tree
from workflow_scripts.core.run.errors import InputError, one_line

if TYPE_CHECKING:
    from spacy.tokens import Token


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
