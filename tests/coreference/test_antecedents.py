"""Antecedents, the words that heads choose, and the rules, on a text to check by eye."""

import numpy as np
import pytest

from workflow_scripts.core.data.annotations import Document, Mention
from workflow_scripts.coreference import antecedents

# Keller is word 1, doctor 4, She 6, doctor 10, Keller 13.
WORDS = tuple("Anna Keller met the doctor . She thanked the old doctor . Mrs. Keller".split())
MENTIONS = (
    Mention(0, 2, 1, "a", "proper", "singular", "feminine", "3"),
    Mention(3, 5, 4, "d", "nominal", "singular", "", "3"),
    Mention(6, 7, 6, "a", "pronoun", "singular", "feminine", "3"),
    Mention(8, 11, 10, "d", "nominal", "singular", "", "3"),
    Mention(12, 14, 13, "a", "proper", "singular", "feminine", "3"),
)


def document(mentions: tuple[Mention, ...] = MENTIONS) -> Document:
    n = len(WORDS)
    return Document("x", WORDS, ("",) * n, (-1,) * n, ("",) * n, mentions, "x:1")


def test_coreferent_mentions_have_an_earlier_one_of_their_chain() -> None:
    assert antecedents.coreferent(MENTIONS) == [(2, {1}), (3, {4}), (4, {1, 6})]


def test_overlapping_mentions_are_no_antecedents() -> None:
    nested = [Mention(0, 1, 0, "a", "nominal"), Mention(0, 4, 1, "a", "nominal")]
    assert antecedents.coreferent(nested) == []


def slow_hits(attention, words, mentions, candidates):
    """In loops, as the sentence of the paper states it: right, and tied, for each mention."""
    heads = {mention.head for mention in mentions}
    results = {}
    for layer, head in np.ndindex(*attention.shape[:2]):
        for m, antecedents_of in antecedents.coreferent(mentions):
            row = list(words).index(mentions[m].head)
            best, chosen, equal = -1.0, -1, []
            for column, word in enumerate(words):
                if word == mentions[m].head or (candidates == "mentions" and word not in heads):
                    continue
                weight = attention[layer, head, row, column]
                if weight > best:
                    best, chosen, equal = weight, word, []
                if weight == best:
                    equal.append(word in antecedents_of)
            results[layer, head, m] = chosen in antecedents_of, any(equal) and not all(equal)
    return results


@pytest.mark.parametrize("decimals", [8, 2])
def test_hits_against_loops(decimals: int) -> None:
    rng = np.random.default_rng(0)
    words = np.array([k for k in range(14) if k != 2])  # one word vanished
    attention = rng.dirichlet(np.ones(13), size=(8, 12, 13)).round(decimals).astype(np.float32)
    mentions = antecedents.readable(document(), words)
    found = antecedents.hits(attention, words, mentions, WORDS)
    for row, candidates in enumerate(antecedents.CANDIDATES):
        expected = slow_hits(attention, words, mentions, candidates)
        for layer, head in np.ndindex(8, 12):
            own = [value for key, value in expected.items() if key[:2] == (layer, head)]
            numbers = np.sum(own, axis=0)
            assert found.correct[row, layer, head, 0] == numbers[0]
            assert found.tied[row, layer, head, 0] == numbers[1]
    assert (found.tied.sum() > 0) == (decimals == 2)


def test_mentions_of_another_word_by_hand() -> None:
    """She alone: the doctor and Mrs. Keller have an antecedent of their word."""
    assert antecedents.counted(MENTIONS, WORDS).tolist() == [3, 1, 1, 1, 1]
    lower = ("Anna", "keller", *WORDS[2:])
    assert antecedents.counted(MENTIONS, lower).tolist() == [3, 1, 1, 1, 1]


def test_rules_by_hand() -> None:
    correct = dict(
        zip(antecedents.SYSTEMS, antecedents.baselines(document(), MENTIONS), strict=True)
    )
    # She -> the doctor; the old doctor -> She; Mrs. Keller -> the old doctor
    assert correct["nearest"].tolist() == [0, 0, 0, 0, 0]
    # She has none; the old doctor -> the doctor; Mrs. Keller -> Anna Keller
    assert correct["head_match"].tolist() == [2, 0, 1, 1, 0]
    # She -> the doctor: its gender is unknown, and it is nearer than Anna Keller
    assert correct["rules"].tolist() == [2, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (("singular", "feminine", "3"), ("singular", "masculine", "3"), False),
        (("singular", "feminine", "3"), ("singular", "", "3"), True),
        (("singular", "", "1"), ("singular", "", "3"), False),
    ],
)
def test_features_agree_where_both_are_known(one, other, agree) -> None:
    a, b = Mention(0, 1, 0, "a", "nominal", *one), Mention(2, 3, 2, "b", "nominal", *other)
    assert antecedents.same_features(a, b, WORDS) is agree
