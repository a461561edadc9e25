"""Generated pairs, read by an independent reader of the invented language."""

import random
from collections import defaultdict
from dataclasses import replace

import pytest

from tests.translation.invented_reader import Nominal, Reader, Sentence
from workflow_scripts.core.generated.grammar import MEET
from workflow_scripts.translation import generated_pairs
from workflow_scripts.translation import generated_pairs as words
from workflow_scripts.translation.generated_pairs import (
    english,
    invented,
    new_event,
    pairs,
)

SIZES = {"train": 3000, "validation": 200, "test": 200}
HOMONYMS = set(" ".join(words.HOMONYMS.values()).split())
SINGULAR = {noun.plural: noun.singular for noun in words.AMBIGUOUS_THINGS + words.PLAIN_THINGS}


@pytest.fixture(scope="module")
def splits() -> dict[str, list[tuple[str, str]]]:
    return pairs(SIZES, seed=1)


@pytest.fixture(scope="module")
def read(splits: dict[str, list[tuple[str, str]]]) -> list[tuple[list[str], Sentence]]:
    """The English words and the sentence read from the translation, for each pair."""
    rows = [pair for split in splits.values() for pair in split]
    return [(source.split(), Reader(target).sentence()) for source, target in rows]


def test_a_seed_repeats(splits: dict[str, list[tuple[str, str]]]) -> None:
    assert pairs(SIZES, seed=1) == splits
    assert pairs(SIZES, seed=2) != splits


def test_no_sentence_is_there_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one in six of the events that are sampled was there already."""
    monkeypatch.setattr(generated_pairs, "CLAUSES", {"none": 1})
    monkeypatch.setattr(generated_pairs, "SHARES", dict.fromkeys(generated_pairs.SHARES, 0))
    rng = random.Random(1)
    assert len({english(new_event(rng)) for _ in range(6000)}) < 5200
    sources = [source for rows in pairs(SIZES, 1).values() for source, _ in rows]
    assert len(set(sources)) == len(sources) == sum(SIZES.values())


def test_order_and_agreement_hold_in_every_translation(
    read: list[tuple[list[str], Sentence]],
) -> None:
    """The reader has checked the order, and articles, nouns and adjectives."""
    for source, sentence in read:
        subject, verb = sentence.subject, sentence.predicate
        assert (subject.case, sentence.object.case) == ("", "n"), source
        assert (verb.gender, verb.number) == (subject.gender, subject.number), source
        clause = sentence.clause
        if clause is None:
            continue
        agrees = clause.person or clause.pronoun
        assert (clause.predicate.gender, clause.predicate.number) == (
            agrees.gender,
            agrees.number,
        ), source
        assert clause.pronoun.case == ("n" if clause.person else ""), source
        if clause.adjective:
            bare = replace(clause.adjective, adjective="")
            assert bare == clause.pronoun, source


def test_the_pronoun_has_the_gender_of_its_antecedent(
    read: list[tuple[list[str], Sentence]],
) -> None:
    seen = set()
    for source, sentence in read:
        if sentence.clause:
            antecedent = antecedent_of(source, sentence)
            pronoun = sentence.clause.pronoun
            assert (pronoun.gender, pronoun.number) == (antecedent.gender, antecedent.number)
            seen.add((antecedent is sentence.subject, pronoun.gender, pronoun.number))
    assert len(seen) == 10  # objects of three genders, subjects of two, in two numbers


def antecedent_of(source: list[str], sentence: Sentence) -> Nominal:
    """Who or what the English pronoun means, as a reader of English knows it."""
    pronoun = next(word for word in source if word in "it he him she her they them".split())
    if pronoun not in ("they", "them"):
        return sentence.object if pronoun == "it" else sentence.subject
    plural = [phrase for phrase in (sentence.subject, sentence.object) if phrase.number]
    if len(plural) == 1:
        return plural[0]
    if pronoun == "them":
        return sentence.subject if source[-2] in MEET else sentence.object
    only_persons, only_others = "honest famous tired poor", "wooden empty expensive heavy"
    assert source[-1] in f"{only_persons} {only_others}".split(), source
    return sentence.subject if source[-1] in only_persons.split() else sentence.object


def test_the_place_shows_which_of_two_senses_a_noun_has(
    read: list[tuple[list[str], Sentence]],
) -> None:
    stems = defaultdict(set)
    for source, sentence in read:
        nouns = HOMONYMS & {SINGULAR.get(word, word) for word in source}
        for noun in nouns:
            natural = bool(set(words.NATURAL_PLACES) & set(source))
            stems[noun, natural].add(sentence.object.stem)
    assert len(stems) == 2 * len(HOMONYMS) > 10
    assert {len(of_sense) for of_sense in stems.values()} == {1}
    assert len(set.union(*stems.values())) == len(stems)


def test_events_without_a_difference_in_english_have_none_in_their_translation() -> None:
    """A sentence has one translation: nothing in it is left to chance."""
    rng, translations = random.Random(3), defaultdict(set)
    for _ in range(20_000):
        made = new_event(rng)
        translations[english(made)].add(invented(made))
    assert {len(of_sentence) for of_sentence in translations.values()} == {1}
