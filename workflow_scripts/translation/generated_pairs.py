"""Sentence pairs of English and an invented language: the study's own parallel text.

A grammar writes them, because no parallel text may be shipped. In English order, the translation of
"the mother sold the old boats near the lake because they were heavy" is "they heavy were because
the mother the lake near the boats old sold": the verb stands last, its clause before the main one,
the adjective after its noun, and the place between subject and object. Articles, adjectives and
pronouns agree with their noun in gender, number and case, verbs with their subject in gender and
number; passives become active.

Five choices depend on another word than the one that is translated, often far from it:

* a noun with two senses, on the place: a crane near a lake is a bird;
* a verb, on the kind of its object: one drops what is long, flat, hollow or alive;
* an adjective, on whether it describes a person;
* a pronoun's gender, on its antecedent, which number, verb or adjective shows;
* the gender of a doctor, on the pronoun.

Words have a stem of five letters, and a suffix is a vowel with what follows it. Things have
arbitrary genders (as in German); what is done to a thing has a stem for its kind (as in Navajo).
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from workflow_scripts.core.generated.grammar import ADVERBS, MEET, TIMES, TOWN, VERBS, Verb
from workflow_scripts.core.generated.grammar import PRONOUNS as ENGLISH_PRONOUNS

GENDERS = ("masculine", "feminine", "neuter")
KINDS = ("long", "flat", "hollow", "animal")  # of what something is done to


@dataclass(frozen=True)
class Noun:
    """A noun in one sense; `gender` is empty where a pronoun alone shows it (doctor)."""

    singular: str
    plural: str
    stem: str
    gender: str
    kind: str


@dataclass(frozen=True)
class TranslatedVerb:
    """A verb, and its stem for each kind of object; people alone are greeted."""

    base: str
    past: str
    participle: str
    stems: dict[str, str]


@dataclass(frozen=True)
class Adjective:
    """An adjective, and its stems for persons and for others; empty where it describes none."""

    english: str
    of_persons: str
    of_others: str


ARTICLES = {"masculine": "ba", "feminine": "du", "neuter": "ki"}
PRONOUNS = {"masculine": "zo", "feminine": "mi", "neuter": "he"}
AGREEMENT = {"masculine": "o", "feminine": "i", "neuter": "e"}  # of adjectives and verbs
PLURAL, ACCUSATIVE, LOCATIVE, PAST = "r", "n", "s", "at"
NOT, COPULA = "nuk", "sw"
CONJUNCTIONS = {"because": "tam", "although": "wib", "before": "pel", "after": "gos"}
POSTPOSITIONS = {"in": "ut", "near": "yal", "behind": "ev"}

MASCULINE = {"boy", "father", "policeman"}
FEMININE = {"girl", "mother", "grandmother"}
THINGS = {
    "long": "violin knife key umbrella necklace candle flag",
    "flat": "letter picture book map coat mirror carpet",
    "hollow": "boat car box bottle cup basket lamp",
}
# Each is a thing of this kind or, in a natural place, an animal.
HOMONYMS = {
    "long": "crane bat pike",
    "flat": "kite skate monitor",
    "hollow": "mouse seal drone",
}
NATURAL_PLACES = "lake forest meadow river cave".split()
HANDLED = set("lift drop keep find lose hide send steal".split())
OF_PERSONS = "honest famous tired poor".split()
OF_OTHERS = "wooden empty expensive heavy".split()
OF_BOTH = "old strange small beautiful".split()
IRREGULAR = {"knife": "knives", "mouse": "mice", "thief": "thieves"}


def _stems() -> Iterator[str]:
    """Stems such as `tolak`, always in the same order."""
    syllables = ["".join(pair) for pair in itertools.product("ptkbdgmnlszv", "aeiou")]
    stems = ["".join(pair) for pair in itertools.product(syllables, syllables)]
    random.Random(0).shuffle(stems)
    for stem, last in zip(stems, itertools.cycle("kltmnr"), strict=False):
        yield stem + last


_NEW = _stems()


def _plural(noun: str) -> str:
    if noun.endswith("man"):
        return noun.removesuffix("man") + "men"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun.removesuffix("y") + "ies"
    ending = "es" if noun.endswith(("s", "x", "sh", "ch")) else "s"
    return IRREGULAR.get(noun, noun + ending)


def _nouns(words: Sequence[str], kind: str) -> list[Noun]:
    genders = itertools.cycle(GENDERS)
    return [Noun(word, _plural(word), next(_NEW), next(genders), kind) for word in words]


def _person(word: str) -> Noun:
    gender = "masculine" if word in MASCULINE else "feminine" if word in FEMININE else ""
    return Noun(word, _plural(word), next(_NEW), gender, "person")


def _verb(verb: Verb) -> TranslatedVerb:
    own_stems = verb.base[0] in HANDLED
    stems = {kind: next(_NEW) for kind in KINDS} if own_stems else dict.fromkeys(KINDS, next(_NEW))
    return TranslatedVerb(verb.base[0], verb.past[0], verb.participle[0], stems)


def _by_turns(lists: Sequence[list[Noun]]) -> list[Noun]:
    return list(itertools.chain.from_iterable(zip(*lists, strict=True)))


# What is nearer to the start of a list is more frequent.
PERSONS = [_person(names[0]) for names in TOWN.people[:28]]
PLAIN_THINGS = _by_turns([_nouns(words.split(), kind) for kind, words in THINGS.items()])
AMBIGUOUS_THINGS = _by_turns([_nouns(words.split(), kind) for kind, words in HOMONYMS.items()])
AMBIGUOUS_ANIMALS = _nouns([noun.singular for noun in AMBIGUOUS_THINGS], "animal")
PLACES = {
    "town": _nouns(TOWN.places[:10], "place"),
    "nature": _nouns(NATURAL_PLACES, "place"),
}
DEEDS = [_verb(verb) for verb in list(VERBS.values())[:21]]
MEETINGS = [TranslatedVerb("", past, "", {"person": next(_NEW)}) for past in MEET[:7]]
ADJECTIVES = [
    *(Adjective(word, next(_NEW), next(_NEW)) for word in OF_BOTH),
    *(Adjective(word, next(_NEW), "") for word in OF_PERSONS),
    *(Adjective(word, "", next(_NEW)) for word in OF_OTHERS),
]
TIME_WORDS = {time: next(_NEW) for time, *_ in TIMES[:6]}
ADVERB_WORDS = {adverb: next(_NEW) for adverb in ADVERBS[:5]}


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
class Clause:
    """What was so of the subject or the object (because it was heavy), or `person` did to it."""

    conjunction: str
    of_subject: bool
    adjective: Adjective | None = None
    person: NounPhrase | None = None
    verb: TranslatedVerb | None = None


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
    place: tuple[str, NounPhrase] | None
    clause: Clause | None

    @property
    def antecedent(self) -> NounPhrase:
        """Who or what the clause's pronoun means."""
        return self.subject if self.clause and self.clause.of_subject else self.object


def new_event(rng: random.Random) -> Event:
    """A random event, whose pronoun can mean its antecedent alone."""
    subject = _phrase(rng, _sampled(rng, PERSONS))
    noun, place = _thing(rng)
    object_ = _phrase(rng, noun)
    clause = _clause(rng, subject, object_)
    if clause and clause.of_subject and not (subject.plural or subject.noun.gender):
        subject = replace(subject, gender=rng.choice(["masculine", "feminine"]))
    return Event(
        subject=subject,
        verb=_sampled(rng, DEEDS),
        object=object_,
        negated=_occurs(rng, "negated"),
        passive=_occurs(rng, "passive"),
        time=_sampled(rng, list(TIME_WORDS)) if _occurs(rng, "time") else "",
        adverb=_sampled(rng, list(ADVERB_WORDS)) if _occurs(rng, "adverb") else "",
        place=place,
        clause=clause,
    )


def _thing(rng: random.Random) -> tuple[Noun, tuple[str, NounPhrase] | None]:
    """Something, and perhaps a place; a noun with two senses is an animal in nature alone."""
    placed, landscape = _occurs(rng, "place"), rng.choice(list(PLACES))
    things = PLAIN_THINGS
    if _occurs(rng, "ambiguous"):
        alive = rng.random() < 0.5
        things = AMBIGUOUS_ANIMALS if alive else AMBIGUOUS_THINGS
        placed, landscape = placed or alive, "nature" if alive else "town"
    place = _sampled(rng, PLACES[landscape])
    phrase = NounPhrase(place, place.gender, plural=False, adjective=None)
    found = rng.choice(list(POSTPOSITIONS)), phrase
    return _sampled(rng, things), found if placed else None


def _phrase(rng: random.Random, noun: Noun) -> NounPhrase:
    adjective = _adjective(rng, noun.kind == "person") if _occurs(rng, "adjective") else None
    return NounPhrase(noun, noun.gender or "masculine", _occurs(rng, "plural"), adjective)


def _adjective(rng: random.Random, of_person: bool, of_these_alone: bool = False) -> Adjective:
    """One of persons, or of others; or of these alone."""
    fitting = [
        adjective
        for adjective in ADJECTIVES
        if (adjective.of_persons if of_person else adjective.of_others)
        and not (of_these_alone and adjective.of_persons and adjective.of_others)
    ]
    return _sampled(rng, fitting)


def _clause(rng: random.Random, subject: NounPhrase, object_: NounPhrase) -> Clause | None:
    """A clause about one of both; where both are plural, its words show which."""
    form = rng.choices(list(CLAUSES), list(CLAUSES.values()))[0]
    of_subject = _occurs(rng, "of subject")
    if form == "remark":
        adjective = _adjective(rng, of_subject, subject.plural and object_.plural)
        return Clause(rng.choice(["because", "although"]), of_subject, adjective)
    if form == "sequel":
        verb = _sampled(rng, MEETINGS if of_subject else DEEDS)
        person = _phrase(rng, _sampled(rng, PERSONS))
        return Clause(rng.choice(["before", "after"]), of_subject, None, person, verb)
    return None


def _occurs(rng: random.Random, what: str) -> bool:
    return rng.random() < SHARES[what]


def _sampled(rng: random.Random, items: Sequence[Item]) -> Item:
    """An item whose probability falls with its rank, as that of words does (Zipf)."""
    weights = [1 / (rank + EVEN) for rank in range(1, len(items) + 1)]
    return rng.choices(items, weights)[0]


def pairs(split_sizes: dict[str, int], seed: int) -> dict[str, list[tuple[str, str]]]:
    """Pairs (English, invented) for each split; no English sentence occurs twice in all of them."""
    rng = random.Random(seed)
    seen: set[str] = set()
    splits = {}
    for split, size in split_sizes.items():
        splits[split] = []
        while len(splits[split]) < size:
            event = new_event(rng)
            source = english(event)
            if source not in seen:
                seen.add(source)
                splits[split].append((source, invented(event)))
    return splits


def english(event: Event) -> str:
    """The event in English."""
    subject, object_ = _english_phrase(event.subject), _english_phrase(event.object)
    verb = event.verb
    if event.passive:
        negation = ["not"] * event.negated
        predicate = [_was(event.object), *negation, event.adverb, verb.participle]
        main = [*object_, *predicate, "by", *subject]
    elif event.negated:
        main = [*subject, "did", "not", event.adverb, verb.base, *object_]
    else:
        main = [*subject, event.adverb, verb.past, *object_]
    place = [event.place[0], *_english_phrase(event.place[1])] if event.place else []
    return _joined([event.time, *main, *place, *_english_clause(event)])


def invented(event: Event) -> str:
    """The event in the invented language."""
    place = []
    if event.place:
        preposition, phrase = event.place
        place = [*_invented_phrase(phrase, LOCATIVE), POSTPOSITIONS[preposition]]
    return _joined(
        [
            *_invented_clause(event),
            TIME_WORDS.get(event.time, ""),
            *_invented_phrase(event.subject, ""),
            *place,
            *_invented_phrase(event.object, ACCUSATIVE),
            ADVERB_WORDS.get(event.adverb, ""),
            NOT * event.negated,
            _past(event.verb.stems[event.object.noun.kind], event.subject),
        ]
    )


def _english_phrase(phrase: NounPhrase) -> list[str]:
    adjective = phrase.adjective.english if phrase.adjective else ""
    return ["the", adjective, phrase.noun.plural if phrase.plural else phrase.noun.singular]


def _english_clause(event: Event) -> list[str]:
    clause, antecedent = event.clause, event.antecedent
    if clause is None:
        return []
    if clause.adjective:
        rest = [_english_pronoun(antecedent, 0), _was(antecedent), clause.adjective.english]
    else:
        rest = [*_english_phrase(clause.person), clause.verb.past, _english_pronoun(antecedent, 1)]
    return [clause.conjunction, *rest]


def _english_pronoun(phrase: NounPhrase, case: int) -> str:
    singular = phrase.gender if phrase.noun.kind == "person" else "neuter"
    return ENGLISH_PRONOUNS["plural" if phrase.plural else singular][case]


def _was(phrase: NounPhrase) -> str:
    return "were" if phrase.plural else "was"


def _invented_clause(event: Event) -> list[str]:
    clause, antecedent = event.clause, event.antecedent
    if clause is None:
        return []
    pronoun = PRONOUNS[antecedent.gender] + _number(antecedent)
    if clause.adjective:
        adjective = _invented_adjective(clause.adjective, antecedent, "")
        rest = [pronoun, adjective, _past(COPULA, antecedent)]
    else:
        verb = _past(clause.verb.stems[antecedent.noun.kind], clause.person)
        rest = [*_invented_phrase(clause.person, ""), pronoun + ACCUSATIVE, verb]
    return [*rest, CONJUNCTIONS[clause.conjunction]]


def _invented_phrase(phrase: NounPhrase, case: str) -> list[str]:
    ending = _number(phrase) + case
    noun = phrase.noun.stem + ("a" + ending if ending else "")
    adjective = _invented_adjective(phrase.adjective, phrase, case) if phrase.adjective else ""
    return [ARTICLES[phrase.gender] + ending, noun, adjective]


def _invented_adjective(adjective: Adjective, phrase: NounPhrase, case: str) -> str:
    stem = adjective.of_persons if phrase.noun.kind == "person" else adjective.of_others
    return stem + AGREEMENT[phrase.gender] + _number(phrase) + case


def _past(stem: str, subject: NounPhrase) -> str:
    return stem + PAST + AGREEMENT[subject.gender] + _number(subject)


def _number(phrase: NounPhrase) -> str:
    return PLURAL if phrase.plural else ""


def _joined(texts: Sequence[str]) -> str:
    return " ".join(text for text in texts if text)
