"""Antecedent selection, by attention and by rules (Clark et al. 2019, section 4.3).

A mention is coreferent if the text has an antecedent of it, an earlier mention of its chain.
Mentions that overlap, or share their head word, are never each other's antecedents.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from workflow_scripts.core.data.annotations import MENTION_KINDS, Document, Mention

ALL = "all"
OTHER_WORD = "other_word"  # mentions none of whose antecedents has their head word
TYPES = (ALL, *MENTION_KINDS, OTHER_WORD)
CANDIDATES = ("words", "mentions")
Sieve = Callable[[Mention, Mention, Sequence[str]], bool]


def earlier(mentions: Sequence[Mention], index: int) -> list[Mention]:
    """The mentions before that at `index` that may be its antecedents, in the text's order."""
    mention = mentions[index]
    return [
        candidate
        for candidate in mentions[:index]
        if candidate.end <= mention.start and candidate.head != mention.head
    ]


def readable(document: Document, words: np.ndarray) -> list[Mention]:
    """The mentions whose words are all among `words` (indices of words with tokens), in order."""
    present = set(words.tolist())
    return [
        mention
        for mention in sorted(document.mentions, key=lambda mention: (mention.start, mention.end))
        if present.issuperset(range(mention.start, mention.end))
    ]


def coreferent(mentions: Sequence[Mention]) -> list[tuple[int, set[int]]]:
    """Indices of the coreferent mentions, each with the head words of its antecedents."""
    pairs = []
    for index, mention in enumerate(mentions):
        candidates = earlier(mentions, index)
        heads = {each.head for each in candidates if each.chain == mention.chain}
        if heads:
            pairs.append((index, heads))
    return pairs


def types_of(mention: Mention, heads: set[int], words: Sequence[str]) -> np.ndarray:
    """Which of TYPES a mention counts for, bool [type]; `heads` are those of its antecedents."""
    same = words[mention.head].lower() in {words[head].lower() for head in heads}
    return np.array([kind in (ALL, mention.kind) for kind in TYPES[:-1]] + [not same])


def counted(mentions: Sequence[Mention], text: Sequence[str]) -> np.ndarray:
    """Number of coreferent mentions, int [type]; `text` has the words of the document."""
    types = [types_of(mentions[index], heads, text) for index, heads in coreferent(mentions)]
    return np.sum([np.zeros(len(TYPES), int), *types], axis=0)


def weights_of(
    attention: np.ndarray, words: np.ndarray, mentions: Sequence[Mention], candidates: str
) -> tuple[np.ndarray, np.ndarray]:
    """What each mention's head word gives to the candidates, and which words these are.

    float32 [layer, head, mention, candidate], -1 for the head word itself. `attention` is [layer,
    head, word, word] among `words` (indices in the document). Candidates are all words, or the head
    words of mentions.
    """
    index = {int(word): k for k, word in enumerate(words)}
    rows = np.array([index[mention.head] for mention in mentions], dtype=int)
    columns = np.arange(len(words)) if candidates == "words" else np.unique(rows)
    weights = attention[:, :, rows[:, None], columns].copy()
    weights[:, :, rows[:, None] == columns] = -1
    return weights, words[columns]


class AntecedentHits(NamedTuple):
    """For how many coreferent mentions heads choose an antecedent, [candidates, layer, head, type].

    `tied` are those where an antecedent and another word share the largest weight, so that their
    order decides. `total` [type] is the number of coreferent mentions.
    """

    correct: np.ndarray
    tied: np.ndarray
    total: np.ndarray


def hits(
    attention: np.ndarray, words: np.ndarray, mentions: Sequence[Mention], text: Sequence[str]
) -> AntecedentHits:
    """Whether the candidate with the largest weight, the first such, is an antecedent."""
    shape = (len(CANDIDATES), *attention.shape[:2], len(TYPES))
    found = AntecedentHits(np.zeros(shape, int), np.zeros(shape, int), counted(mentions, text))
    pairs = coreferent(mentions)
    for row, candidates in enumerate(CANDIDATES):
        weights, chosen_from = weights_of(attention, words, mentions, candidates)
        for index, heads in pairs:
            right, of_mention = np.isin(chosen_from, list(heads)), weights[:, :, index]
            largest = of_mention == of_mention.max(axis=-1, keepdims=True)
            correct = right[of_mention.argmax(axis=-1)]
            tied = largest[..., right].any(axis=-1) & largest[..., ~right].any(axis=-1)
            types = types_of(mentions[index], heads, text)
            found.correct[row] += correct[..., None] & types
            found.tied[row] += tied[..., None] & types
    return found


def by_chance(words: np.ndarray, mentions: Sequence[Mention], text: Sequence[str]) -> np.ndarray:
    """For how many coreferent mentions a random choice among the words before is an antecedent.

    float64 [candidates, type]; `words` [word] are those that a decoder's head can choose.
    """
    chance = np.zeros((len(CANDIDATES), len(TYPES)))
    heads = np.unique([mention.head for mention in mentions])
    for index, right in coreferent(mentions):
        types = types_of(mentions[index], right, text)
        for row, chosen_from in enumerate((words, heads)):
            n_before = int((chosen_from < mentions[index].head).sum())
            within = sum(head < mentions[index].head for head in right)
            chance[row] += within / n_before * types if n_before else 0
    return chance


def same_text(mention: Mention, candidate: Mention, words: Sequence[str]) -> bool:
    """Sieve 1: the same words, ignoring case."""
    texts = [[word.lower() for word in words[m.start : m.end]] for m in (mention, candidate)]
    return texts[0] == texts[1]


def same_head(mention: Mention, candidate: Mention, words: Sequence[str]) -> bool:
    """Sieve 2: the same head word, ignoring case."""
    return words[mention.head].lower() == words[candidate.head].lower()


def same_features(mention: Mention, candidate: Mention, words: Sequence[str]) -> bool:
    """Sieve 3: number, gender and person do not differ; an unknown one matches all."""
    features = [(m.number, m.gender, m.person) for m in (mention, candidate)]
    return all(not a or not b or a == b for a, b in zip(*features, strict=True))


def any_mention(mention: Mention, candidate: Mention, words: Sequence[str]) -> bool:
    """Sieve 4: all mentions."""
    return True


SYSTEMS: dict[str, tuple[Sieve, ...]] = {
    "nearest": (any_mention,),
    "head_match": (same_head,),
    "rules": (same_text, same_head, same_features, any_mention),
}


def select(
    mentions: Sequence[Mention], index: int, words: Sequence[str], sieves: Sequence[Sieve]
) -> Mention | None:
    """The nearest earlier mention that passes the first sieve that lets any pass, or None."""
    nearest_first = earlier(mentions, index)[::-1]
    passed = (
        candidate
        for sieve in sieves
        for candidate in nearest_first
        if sieve(mentions[index], candidate, words)
    )
    return next(passed, None)


def baselines(document: Document, mentions: Sequence[Mention]) -> np.ndarray:
    """Coreferent mentions for which each of SYSTEMS chooses an antecedent, int [system, type]."""
    correct = np.zeros((len(SYSTEMS), len(TYPES)), dtype=int)
    for index, heads in coreferent(mentions):
        for row, sieves in enumerate(SYSTEMS.values()):
            chosen = select(mentions, index, document.words, sieves)
            if chosen is not None and chosen.head in heads:
                correct[row] += types_of(mentions[index], heads, document.words)
    return correct
