"""What generated sentence pairs state: random events, with what a pronoun can mean."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from workflow_scripts.translation import invented_language as words
from workflow_scripts.translation.invented_language import Adjective, Noun, TranslatedVerb

Item = TypeVar("Item")
SHARES = {
    "ambiguous": 0.35,
    "plural": 0.3,
    "adjective": 0.25,
    "negated": 0.1,
    "passive": 0.3,
    "time": 0.15,
    "adverb": 0.1,
    "place": 0.35,
    "of subject": 0.4,
}
CLAUSES = {"remark": 0.4, "sequel": 0.4, "none": 0.2}
EVEN = 5  # ranks by which the frequencies of a list's first words are made alike


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase; `gender` is that of the noun, or the one that a pronoun shows."""

    noun: Noun
    gender: str
    plural: bool
    adjective: Adjective | None


@dataclass(frozen=True)
class Remark:
    """Because it was heavy: a property of the subject or the object."""

    conjunction: str
    of_subject: bool
    adjective: Adjective


@dataclass(frozen=True)
class Sequel:
    """Before the mother found it: what somebody else did to the subject or the object."""

    conjunction: str
    of_subject: bool
    person: NounPhrase
    verb: TranslatedVerb


@dataclass(frozen=True)
class Event:
    """What both sentences of a pair state; `time`, `adverb` and `place` may be empty."""

    subject: NounPhrase
    verb: TranslatedVerb
    object: NounPhrase
    negated: bool
    passive: bool
    time: str
    adverb: str
    place: tuple[str, Noun] | None
    clause: Remark | Sequel | None

    @property
    def antecedent(self) -> NounPhrase:
        """Who or what the clause's pronoun means."""
        return self.subject if self.clause and self.clause.of_subject else self.object


def new_event(rng: random.Random) -> Event:
    """A random event, whose pronoun can mean its antecedent alone."""
    subject = _phrase(rng, _sampled(rng, words.PERSONS))
    noun, place = _thing(rng)
    object_ = _phrase(rng, noun)
    clause = _clause(rng, subject, object_)
    if clause and clause.of_subject and not (subject.plural or subject.noun.gender):
        subject = replace(subject, gender=rng.choice(["masculine", "feminine"]))
    return Event(
        subject=subject,
        verb=_sampled(rng, words.DEEDS),
        object=object_,
        negated=_occurs(rng, "negated"),
        passive=_occurs(rng, "passive"),
        time=_sampled(rng, list(words.TIME_WORDS)) if _occurs(rng, "time") else "",
        adverb=_sampled(rng, list(words.ADVERB_WORDS)) if _occurs(rng, "adverb") else "",
        place=place,
        clause=clause,
    )


def _thing(rng: random.Random) -> tuple[Noun, tuple[str, Noun] | None]:
    """Something, and perhaps a place; a noun with two senses is an animal in nature alone."""
    placed, landscape = _occurs(rng, "place"), rng.choice(list(words.PLACES))
    things = words.PLAIN_THINGS
    if _occurs(rng, "ambiguous"):
        alive = rng.random() < 0.5
        things = words.AMBIGUOUS_ANIMALS if alive else words.AMBIGUOUS_THINGS
        placed, landscape = placed or alive, "nature" if alive else "town"
    place = _sampled(rng, words.PLACES[landscape])
    preposition = rng.choice(list(words.POSTPOSITIONS))
    return _sampled(rng, things), (preposition, place) if placed else None


def _phrase(rng: random.Random, noun: Noun) -> NounPhrase:
    adjective = _adjective(rng, noun.kind == "person") if _occurs(rng, "adjective") else None
    return NounPhrase(noun, noun.gender or "masculine", _occurs(rng, "plural"), adjective)


def _adjective(rng: random.Random, of_person: bool, of_these_alone: bool = False) -> Adjective:
    """One of persons, or of others; or of these alone."""
    fitting = [
        adjective
        for adjective in words.ADJECTIVES
        if (adjective.of_persons if of_person else adjective.of_others)
        and not (of_these_alone and adjective.of_persons and adjective.of_others)
    ]
    return _sampled(rng, fitting)


def _clause(rng: random.Random, subject: NounPhrase, object_: NounPhrase) -> Remark | Sequel | None:
    """A clause about one of both; where both are plural, its words show which."""
    form = rng.choices(list(CLAUSES), list(CLAUSES.values()))[0]
    of_subject = _occurs(rng, "of subject")
    if form == "remark":
        adjective = _adjective(rng, of_subject, subject.plural and object_.plural)
        return Remark(rng.choice(["because", "although"]), of_subject, adjective)
    if form == "sequel":
        verb = _sampled(rng, words.MEETINGS if of_subject else words.DEEDS)
        person = _phrase(rng, _sampled(rng, words.PERSONS))
        return Sequel(rng.choice(["before", "after"]), of_subject, person, verb)
    return None


def _occurs(rng: random.Random, what: str) -> bool:
    return rng.random() < SHARES[what]


def _sampled(rng: random.Random, items: Sequence[Item]) -> Item:
    """An item whose probability falls with its rank, as that of words does (Zipf)."""
    weights = [1 / (rank + EVEN) for rank in range(1, len(items) + 1)]
    return rng.choices(items, weights)[0]
