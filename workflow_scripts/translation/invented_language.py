"""The words of generated sentence pairs: English ones, and their stems in an invented language.

Each entry has a stem of five letters, and a suffix is a vowel with what follows it. Three things of
real languages are in it: things have arbitrary genders (as in German), what is done to a thing has
a stem for its kind (as in Navajo), and some words of English have two senses.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workflow_scripts.core.generated.lexicon import ADVERBS, MEET, TIMES, TOWN, VERBS

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


def _verb(base: str, past: str, participle: str) -> TranslatedVerb:
    if base in HANDLED:
        stems = {kind: next(_NEW) for kind in KINDS}
    else:
        stems = dict.fromkeys(KINDS, next(_NEW))
    return TranslatedVerb(base, past, participle, stems)


def _by_turns(lists: Sequence[list[Noun]]) -> list[Noun]:
    """The first of each list, the second of each, and so on."""
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
DEEDS = [
    _verb(verb.base[0], verb.past[0], verb.participle[0]) for verb in list(VERBS.values())[:21]
]
MEETINGS = [TranslatedVerb("", past, "", {"person": next(_NEW)}) for past in MEET[:7]]
ADJECTIVES = [
    *(Adjective(word, next(_NEW), next(_NEW)) for word in OF_BOTH),
    *(Adjective(word, next(_NEW), "") for word in OF_PERSONS),
    *(Adjective(word, "", next(_NEW)) for word in OF_OTHERS),
]
TIME_WORDS = {time: next(_NEW) for time, *_ in TIMES[:6]}
ADVERB_WORDS = {adverb: next(_NEW) for adverb in ADVERBS[:5]}
