"""Reads the invented language by its endings, without the lexicon that wrote the sentences."""

import re
from dataclasses import dataclass

GENDERS = {"ba": "m", "du": "f", "ki": "n", "zo": "m", "mi": "f", "he": "n"}
VOWELS = {"o": "m", "i": "f", "e": "n"}
ARTICLE = re.compile(r"(ba|du|ki)(r?)([ns]?)")
PRONOUN = re.compile(r"(zo|mi|he)(r?)(n?)")
NOUN = re.compile(r"([a-z]{5})(?:a(?=.)(r?)([ns]?))?")
ADJECTIVE = re.compile(r"([a-z]{5})([oie])(r?)(n?)")
VERB = re.compile(r"([a-z]{5}|sw)at([oie])(r?)")
CONJUNCTIONS = ("tam", "wib", "pel", "gos")
POSTPOSITIONS = ("ut", "yal", "ev")
NOT = "nuk"
STEM = re.compile(r"[a-z]{5}")


@dataclass(frozen=True)
class Nominal:
    """A noun phrase or a pronoun, whose stem and adjective may be empty."""

    gender: str
    number: str
    case: str
    stem: str = ""
    adjective: str = ""


@dataclass(frozen=True)
class Predicate:
    """A verb or the copula, with what it agrees with."""

    stem: str
    gender: str
    number: str


@dataclass(frozen=True)
class Clause:
    """A clause before the main one; `person` and `adjective` exclude each other."""

    conjunction: str
    pronoun: Nominal
    predicate: Predicate
    person: Nominal | None = None
    adjective: Nominal | None = None


@dataclass(frozen=True)
class Sentence:
    """The main clause, with the clause before it."""

    clause: Clause | None
    time: str
    subject: Nominal
    place: Nominal | None
    object: Nominal
    adverb: str
    negated: bool
    predicate: Predicate


class Reader:
    """Reads word by word; raises ValueError for a word that must not stand where it stands."""

    def __init__(self, text: str) -> None:
        self.words = text.split(" ")

    def sentence(self) -> Sentence:
        """The whole sentence."""
        clause = self.clause() if set(CONJUNCTIONS) & set(self.words) else None
        time = "" if self.fits(ARTICLE) else self.take(STEM)[0]
        subject = self.phrase()
        following = self.phrase()
        place = following if following.case == "s" else None
        if place:
            self.among(POSTPOSITIONS)
            following = self.phrase()
        adverb = self.take(STEM)[0] if self.fits(STEM) else ""
        negated = self.words[0] == NOT
        if negated:
            self.among((NOT,))
        predicate = self.predicate()
        if self.words:
            raise ValueError(f"after the verb: {self.words}")
        return Sentence(clause, time, subject, place, following, adverb, negated, predicate)

    def clause(self) -> Clause:
        """Somebody did something to it, or it was so; the conjunction stands last."""
        if self.fits(ARTICLE):
            person, pronoun = self.phrase(), self.pronoun()
            predicate = self.predicate()
            return Clause(self.among(CONJUNCTIONS), pronoun, predicate, person=person)
        pronoun, adjective = self.pronoun(), self.adjective()
        predicate = self.predicate()
        return Clause(self.among(CONJUNCTIONS), pronoun, predicate, adjective=adjective)

    def phrase(self) -> Nominal:
        """Article, noun and perhaps an adjective, which agree."""
        article, number, case = self.take(ARTICLE).groups()
        noun = self.take(NOUN)
        if (noun[2] or "", noun[3] or "") != (number, case):
            raise ValueError(f"article {article}{number}{case} with noun {noun[0]}")
        phrase = Nominal(GENDERS[article], number, case, noun[1])
        if not self.words or not self.fits(ADJECTIVE):
            return phrase
        adjective = self.adjective()
        if (adjective.gender, adjective.number, adjective.case) != (phrase.gender, number, case):
            raise ValueError(f"{phrase} with {adjective}")
        return Nominal(phrase.gender, number, case, noun[1], adjective.adjective)

    def pronoun(self) -> Nominal:
        """A pronoun in any case."""
        pronoun = self.take(PRONOUN)
        return Nominal(GENDERS[pronoun[1]], pronoun[2], pronoun[3])

    def adjective(self) -> Nominal:
        """An adjective, with what it agrees with."""
        adjective = self.take(ADJECTIVE)
        return Nominal(VOWELS[adjective[2]], adjective[3], adjective[4], adjective=adjective[1])

    def predicate(self) -> Predicate:
        """A verb in the past."""
        verb = self.take(VERB)
        return Predicate(verb[1], VOWELS[verb[2]], verb[3])

    def fits(self, form: re.Pattern[str]) -> bool:
        """Whether the next word has this form."""
        return form.fullmatch(self.words[0]) is not None

    def take(self, form: re.Pattern[str]) -> re.Match[str]:
        """The next word, which must have this form."""
        word = self.words.pop(0)
        match = form.fullmatch(word)
        if match is None:
            raise ValueError(f"{word} is not {form.pattern}, before {self.words}")
        return match

    def among(self, words: tuple[str, ...]) -> str:
        """The next word, which must be one of these."""
        word = self.words.pop(0)
        if word not in words:
            raise ValueError(f"{word} is not one of {words}")
        return word
