"""Which tokens are of a linguistic kind (Kovaleva et al. 2019, section 4.4)."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from workflow_scripts.core.data.annotations import ROOT, Example, Tree

# The paper's list of negation words.
NEGATIONS = (
    "neither nor not never none don't won't didn't hadn't haven't can't isn't wasn't shouldn't "
    "couldn't nothing nowhere"
).split()
LINGUISTIC = ("noun", "verb", "pronoun", "subject", "object", "negation")
KINDS = (*LINGUISTIC, "cls", "sep", "punctuation")


@dataclass(frozen=True)
class Labels:
    """The dependency labels of subjects, of objects, and of subjects that are linked to verbs."""

    subjects: frozenset[str]
    objects: frozenset[str]
    linked: frozenset[str]


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
# The text speaks of subjects and direct objects, and names no labels; the released notebook does.
LABELS = {
    "paper": Labels(_SUBJECTS, frozenset({"dobj", "obj"}), _SUBJECTS),
    "released": Labels(
        _SUBJECTS | {"agent", "expl"},
        frozenset({"dobj", "iobj", "dative", "attr", "oprd"}),
        frozenset({"nsubj"}),
    ),
}
# "don ' t", "don't" and "don’t" are the same word, however a corpus is tokenised.
_NEGATION = re.compile(
    r"(?<!\w)(?:" + "|".join(word.replace("'", r"\s?['’]\s?") for word in NEGATIONS) + r")(?!\w)",
    re.IGNORECASE,
)


def words_of_kinds(tree: Tree, example: Example, labels: Labels) -> dict[str, np.ndarray]:
    """For each of LINGUISTIC, which words are of the kind, bool [word]."""
    tags = np.array(tree.tags, dtype=str)
    relations = np.array(tree.relations, dtype=str)
    return {
        "noun": np.char.startswith(tags, "NN"),
        "verb": np.char.startswith(tags, "VB"),
        "pronoun": np.isin(tags, ["PRP", "PRP$"]),
        "subject": np.isin(relations, list(labels.subjects)),
        "object": np.isin(relations, list(labels.objects)),
        "negation": negations(example),
    }


def negations(example: Example) -> np.ndarray:
    """Which words are, or belong to, a negation word of the paper's list, bool [word]."""
    negated = []
    for text, spans in zip(example.texts, example.words or (), strict=True):
        matches = [match.span() for match in _NEGATION.finditer(text)]
        negated += [any(start < b and a < end for a, b in matches) for start, end in spans]
    return np.array(negated, dtype=bool)


def tokens_of_kinds(
    kinds: dict[str, np.ndarray], word: np.ndarray, ids: np.ndarray, card: dict[str, Any]
) -> dict[str, np.ndarray]:
    """For each of KINDS, which wordpieces are of the kind, bool [L].

    `word` is the index of each wordpiece's word (-1: special token), so that no word is matched by
    spelling; `card` is the model's.
    """
    tokens = {kind: (word >= 0) & chosen[word] for kind, chosen in kinds.items()}
    special = card["special"]
    tokens["cls"], tokens["sep"] = ids == special["cls"], ids == special["sep"]
    tokens["punctuation"] = np.isin(ids, card["punctuation"])
    return tokens


def word_links(
    tree: Tree, kinds: dict[str, np.ndarray], labels: Labels
) -> dict[str, list[tuple[int, int]]]:
    """Pairs of words (from, to): each subject's verb and the subject, each pronoun and noun.

    `kinds` are those of `words_of_kinds`. Pronouns and nouns are paired within a sentence.
    """
    sentences = sentences_of(tree)
    pairs = [
        (head, dependent)
        for dependent, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True))
        if relation in labels.linked and head != ROOT and kinds["verb"][head]
    ]
    both = [
        (int(pronoun), int(paired))
        for pronoun in np.flatnonzero(kinds["pronoun"])
        for paired in np.flatnonzero(kinds["noun"] & (sentences == sentences[pronoun]))
    ]
    return {"verb-subject": pairs, "pronoun-noun": both}


def sentences_of(tree: Tree) -> np.ndarray:
    """The number of each word's sentence, int [word]: the index of its root."""
    roots = []
    for word in range(len(tree.heads)):
        while tree.heads[word] != ROOT:
            word = tree.heads[word]
        roots.append(word)
    return np.array(roots, dtype=int)
