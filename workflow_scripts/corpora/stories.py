"""Short English stories from a seeded grammar, with their trees and coreferent mentions.

They stand in where no annotated text may be shipped: people, pronouns with gender and number,
repeated and varied nominals. A story is generated, not real text, and is called so everywhere.
Relations are Stanford's.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workflow_scripts.core.data.trees import ROOT
from workflow_scripts.core.generated import lexicon
from workflow_scripts.corpora.mention_files import Span, Text


@dataclass
class Phrase:
    """A word with its dependents; a phrase with a `chain` is a mention."""

    word: str
    tag: str
    relation: str = ""
    left: list["Phrase"] = field(default_factory=list)
    right: list["Phrase"] = field(default_factory=list)
    chain: str = ""

    def as_(self, relation: str) -> "Phrase":
        """This phrase as a dependent by `relation`."""
        self.relation = relation
        return self

    def write(self, text: Text, head: int) -> int:
        """Append the phrase's words to `text`; `head` is its head word, filled in by the caller.

        Returns the place of the phrase's own word.
        """
        start = len(text.words)
        left = [one.write(text, ROOT) for one in self.left]
        place = len(text.words)
        text.words.append(self.word)
        text.tags.append(self.tag)
        text.heads.append(head)
        text.relations.append(self.relation)
        for dependent in [*left, *(one.write(text, ROOT) for one in self.right)]:
            text.heads[dependent] = place
        if self.chain:
            text.spans.append(Span(start, len(text.words), self.chain, place))
        return place


@dataclass
class Someone:
    """A person, a group or a thing of a story, and how it was last mentioned."""

    chain: str
    gender: str  # masculine, feminine, neuter, plural
    nouns: tuple[str, ...]
    adjective: str
    name: tuple[str, str] | None = None
    mentioned: int = -1  # the last sentence that mentions it

    @property
    def tag(self) -> str:
        """Tag of its common nouns."""
        return "NNS" if self.gender == "plural" else "NN"


class Story:
    """One story: its people and things, and the sentences written so far."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.rng = rng
        self.text = Text(name, f"stories:{name}")
        self.sentence = 0
        genders = rng.sample(["masculine", "feminine"], 2)
        if rng.random() < 0.3:
            genders[1] = genders[0]
        roles, surnames = rng.sample(lexicon.STORY_PEOPLE, 2), rng.sample(lexicon.SURNAMES, 2)
        self.people = [
            self._person(str(k), *both)
            for k, both in enumerate(zip(genders, roles, surnames, strict=True), 1)
        ]
        if rng.random() < 0.4:
            nouns = rng.choice(lexicon.STORY_GROUPS)
            self.people.append(Someone("3", "plural", nouns, rng.choice(lexicon.STORY_AGES)))
        things = rng.sample(lexicon.STORY_THINGS, 2)
        self.things = [
            Someone(str(k), "neuter", nouns, rng.choice(lexicon.STORY_LOOKS))
            for k, nouns in enumerate(things, 4)
        ]
        self.places = {
            place: str(k) for k, place in enumerate(rng.sample(lexicon.STORY_PLACES, 3), 6)
        }

    def _person(self, chain: str, gender: str, nouns: tuple[str, ...], family: str) -> Someone:
        name = None
        if self.rng.random() < 0.6:
            name = self.rng.choice(lexicon.NAMES[gender]), family
        return Someone(chain, gender, nouns, self.rng.choice(lexicon.STORY_AGES), name)

    def refer(self, one: Someone, relation: str) -> Phrase:
        """Mention `one`: in full at first, later by a pronoun where it is clear, or otherwise."""
        first = one.mentioned < 0
        clear = not first and self._is_clear(one)
        one.mentioned = self.sentence
        if clear and self.rng.random() < 0.6:
            return self.pronoun(one, relation)
        phrase = self._named(one, first) if one.name else self._noun(one, first)
        phrase.chain = one.chain
        return phrase.as_(relation)

    def pronoun(self, one: Someone, relation: str) -> Phrase:
        """The pronoun of `one`: nsubj and nsubjpass, poss, or any other relation."""
        case = {"nsubj": 0, "nsubjpass": 0, "poss": 2}.get(relation, 1)
        word = lexicon.PRONOUNS[one.gender][case]
        return Phrase(word, "PRP$" if case == 2 else "PRP", relation, chain=one.chain)

    def _is_clear(self, one: Someone) -> bool:
        """No other of the same gender was mentioned as lately."""
        others = [
            other.mentioned
            for other in [*self.people, *self.things]
            if other.gender == one.gender and other is not one
        ]
        return one.mentioned >= self.sentence - 2 and one.mentioned > max(others, default=-1)

    def _named(self, one: Someone, first: bool) -> Phrase:
        given, family = one.name or ("", "")
        if first:
            return Phrase(family, "NNP", left=[Phrase(given, "NNP", "nn")])
        title = lexicon.TITLES[one.gender]
        return self.rng.choice(
            [
                Phrase(given, "NNP"),
                Phrase(family, "NNP"),
                Phrase(family, "NNP", left=[Phrase(title, "NNP", "nn")]),
            ]
        )

    def _noun(self, one: Someone, first: bool) -> Phrase:
        noun = one.nouns[0] if first or self.rng.random() < 0.6 else self.rng.choice(one.nouns)
        left = []
        if not first:
            left.append(Phrase(self.rng.choice(["the", "the", "this"]), "DT", "det"))
            if one.gender == "plural":
                left[0].word = "the"
        elif one.gender != "plural":
            article = "an" if one.adjective[0] in "aeiou" else "a"
            left.append(Phrase(article, "DT", "det"))
        else:
            left.append(Phrase("some", "DT", "det"))
        if first or self.rng.random() < 0.2:
            left.append(Phrase(one.adjective, "JJ", "amod"))
        return Phrase(noun, one.tag, left=left)

    def place(self) -> Phrase:
        """A place with its preposition."""
        name = self.rng.choice(list(self.places))
        where = Phrase(name, "NN", "pobj", [Phrase("the", "DT", "det")], chain=self.places[name])
        return Phrase(self.rng.choice(["near", "behind", "at"]), "IN", "prep", right=[where])

    def verb(self, words: list[str], *right: Phrase, subject: Phrase) -> Phrase:
        """A clause in the past tense."""
        return Phrase(self.rng.choice(words), "VBD", "root", [subject], list(right))

    def two(self) -> list[Someone]:
        """Two different people."""
        return self.rng.sample(self.people, 2)

    def add(self, clause: Phrase) -> None:
        """End the sentence and write it."""
        clause.right.append(Phrase(".", ".", "punct"))
        start = len(self.text.words)
        self.text.starts.append(start)
        clause.write(self.text, ROOT)
        first = self.text.words[start]
        self.text.words[start] = first[0].upper() + first[1:]
        self.sentence += 1


def handles(story: Story) -> Phrase:
    """Anna repaired her old boat near the harbour."""
    someone, thing = story.rng.choice(story.people), story.rng.choice(story.things)
    subject = story.refer(someone, "nsubj")
    new = thing.mentioned < 0
    what = story.refer(thing, "dobj")
    if new and story.rng.random() < 0.5:
        what.left[0] = story.pronoun(someone, "poss")
    return story.verb(lexicon.HANDLE, what, story.place(), subject=subject)


def meets(story: Story) -> Phrase:
    """The doctor met Anna Keller at the station."""
    one, other = story.two()
    subject = story.refer(one, "nsubj")
    return story.verb(lexicon.MEET, story.refer(other, "dobj"), story.place(), subject=subject)


def gives(story: Story) -> Phrase:
    """She gave the letter to the doctor."""
    one, other = story.two()
    subject = story.refer(one, "nsubj")
    what = story.refer(story.rng.choice(story.things), "dobj")
    to = Phrase("to", "TO", "prep", right=[story.refer(other, "pobj")])
    return story.verb(lexicon.GIVE, what, to, subject=subject)


def is_handled(story: Story) -> Phrase:
    """The boat was repaired by the doctor."""
    what = story.refer(story.rng.choice(story.things), "nsubjpass")
    agent = story.refer(story.rng.choice(story.people), "pobj")
    by = Phrase("by", "IN", "prep", right=[agent])
    verb = story.rng.choice(lexicon.HANDLED)
    return Phrase(verb, "VBN", "root", [what, Phrase("was", "VBD", "auxpass")], [by])


def says(story: Story) -> Phrase:
    """Anna said that she liked the boat."""
    one = story.rng.choice(story.people)
    subject = story.refer(one, "nsubj")
    inner = story.verb(
        lexicon.LIKE,
        story.refer(story.rng.choice(story.things), "dobj"),
        subject=story.pronoun(one, "nsubj"),
    ).as_("ccomp")
    inner.left.insert(0, Phrase("that", "IN", "mark"))
    return story.verb(lexicon.SAY, inner, subject=subject)


def goes(story: Story) -> Phrase:
    """The children waited near the station."""
    subject = story.refer(story.rng.choice(story.people), "nsubj")
    return story.verb(lexicon.GO, story.place(), subject=subject)


SENTENCES: list[Callable[[Story], Phrase]] = [handles, meets, gives, is_handled, says, goes]


def stories(n: int, seed: int) -> Iterator[Text]:
    """`n` stories of 6 to 8 sentences, each from a random stream of its own."""
    for number in range(n):
        story = Story(f"story-{number:04d}", random.Random(f"{seed}-{number}"))
        length = story.rng.randint(6, 8)
        for sentence in [meets, *story.rng.choices(SENTENCES, k=length - 1)]:
            story.add(sentence(story))
        yield story.text
