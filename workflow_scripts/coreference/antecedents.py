"""Antecedent selection, by attention and by rules (Clark et al. 2019, section 4.3).

A mention is coreferent where an antecedent, an earlier mention of its chain, stands in the text.
Mentions that overlap, or share their head word, are never each other's antecedents.
"""

from collections.abc import Callable, Sequence

import numpy as np

from workflow_scripts.core.data.mentions import KINDS, Document, Mention

ALL = "all"
TYPES = (ALL, *KINDS)
CANDIDATES = ("words", "mentions")
Matches = Callable[[Mention, Mention, Sequence[str]], bool]


def earlier(mentions: Sequence[Mention], place: int) -> list[Mention]:
    """The mentions before that at `place` that may be its antecedents, in the text's order."""
    one = mentions[place]
    return [
        other for other in mentions[:place] if other.end <= one.start and other.head != one.head
    ]


def readable(document: Document, words: np.ndarray) -> list[Mention]:
    """The mentions whose words all have tokens, in order; `words` are the indices that have."""
    present = set(words.tolist())
    return [
        mention
        for mention in sorted(document.mentions, key=lambda one: (one.start, one.end))
        if present.issuperset(range(mention.start, mention.end))
    ]


def coreferent(mentions: Sequence[Mention]) -> list[tuple[int, set[int]]]:
    """Places of the coreferent mentions, each with the head words of its antecedents."""
    found = []
    for place, one in enumerate(mentions):
        heads = {other.head for other in earlier(mentions, place) if other.chain == one.chain}
        if heads:
            found.append((place, heads))
    return found


def types_of(mention: Mention) -> np.ndarray:
    """Which of TYPES a mention counts for, bool [type]."""
    return np.array([kind in (ALL, mention.kind) for kind in TYPES])


def attended(
    attention: np.ndarray, words: np.ndarray, mentions: Sequence[Mention], candidates: str
) -> np.ndarray:
    """The word that each mention's head word attends to most, int [layer, head, mention].

    `attention` is [layer, head, word, word] among `words` (indices in the document). The maximum
    is among all other words, or among the head words of the other mentions; -1 without any.
    """
    place = {int(word): k for k, word in enumerate(words)}
    rows = np.array([place[mention.head] for mention in mentions], dtype=int)
    columns = np.arange(len(words)) if candidates == "words" else np.unique(rows)
    weights = attention[:, :, rows[:, None], columns].copy()
    weights[:, :, rows[:, None] == columns] = -1
    if weights.shape[-1] < 2:
        return np.full(weights.shape[:-1], -1)
    return words[columns[weights.argmax(axis=-1)]]


def hits(
    attention: np.ndarray, words: np.ndarray, mentions: Sequence[Mention]
) -> tuple[np.ndarray, np.ndarray]:
    """Coreferent mentions found, int [candidates, layer, head, type], and all, int [type]."""
    found = np.zeros((len(CANDIDATES), *attention.shape[:2], len(TYPES)), dtype=int)
    total = np.zeros(len(TYPES), dtype=int)
    chosen = [attended(attention, words, mentions, candidates) for candidates in CANDIDATES]
    for place, heads in coreferent(mentions):
        counted = types_of(mentions[place])
        total += counted
        for column, words_chosen in enumerate(chosen):
            found[column] += np.isin(words_chosen[:, :, place], list(heads))[..., None] & counted
    return found, total


def same_text(one: Mention, other: Mention, words: Sequence[str]) -> bool:
    """Sieve 1: the same words, whatever their case."""
    texts = [[word.lower() for word in words[m.start : m.end]] for m in (one, other)]
    return texts[0] == texts[1]


def same_head(one: Mention, other: Mention, words: Sequence[str]) -> bool:
    """Sieve 2: the same head word, whatever its case."""
    return words[one.head].lower() == words[other.head].lower()


def same_features(one: Mention, other: Mention, words: Sequence[str]) -> bool:
    """Sieve 3: number, gender and person do not differ; what is unknown matches all."""
    return all(
        not a or not b or a == b
        for a, b in (
            (one.number, other.number),
            (one.gender, other.gender),
            (one.person, other.person),
        )
    )


def anything(one: Mention, other: Mention, words: Sequence[str]) -> bool:
    """Sieve 4: all mentions."""
    return True


SYSTEMS: dict[str, tuple[Matches, ...]] = {
    "nearest": (anything,),
    "head_match": (same_head,),
    "rules": (same_text, same_head, same_features, anything),
}


def select(
    mentions: Sequence[Mention], place: int, words: Sequence[str], sieves: Sequence[Matches]
) -> Mention | None:
    """The nearest earlier mention that passes the earliest sieve; None where none passes any."""
    candidates = earlier(mentions, place)[::-1]
    for sieve in sieves:
        for other in candidates:
            if sieve(mentions[place], other, words):
                return other
    return None


def baselines(document: Document, mentions: Sequence[Mention]) -> np.ndarray:
    """Coreferent mentions whose antecedent each of SYSTEMS finds, int [system, type]."""
    found = np.zeros((len(SYSTEMS), len(TYPES)), dtype=int)
    for place, heads in coreferent(mentions):
        for row, sieves in enumerate(SYSTEMS.values()):
            chosen = select(mentions, place, document.words, sieves)
            if chosen is not None and chosen.head in heads:
                found[row] += types_of(mentions[place])
    return found
