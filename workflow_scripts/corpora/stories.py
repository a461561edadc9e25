"""Short English stories from a seeded grammar, with their trees and coreferent mentions.

They replace annotated text, which may not be shipped. Their people, groups and things are mentioned
by names, pronouns with gender and number, and repeated or varied nouns. Relations are Stanford's.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workflow_scripts.core.data.annotations import ROOT
from workflow_scripts.core.generated import grammar
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
        """Append the phrase's words to `text`, with `head` as the index of its head word.

        Returns the index of the phrase's own word, to which the heads of its dependents are set.
        """
        start = len(text.words)
        left = [dependent.write(text, ROOT) for dependent in self.left]
        index = len(text.words)
        text.words.append(self.word)
        text.tags.append(self.tag)
        text.heads.append(head)
        text.relations.append(self.relation)
        right = [dependent.write(text, ROOT) for dependent in self.right]
        for dependent in [*left, *right]:
            text.heads[dependent] = index
        if self.chain:
            text.spans.append(Span(start, len(text.words), self.chain, index))
        return index


@dataclass
class Entity:
    """A person, a group or a thing of a story, and how it was last mentioned."""

    chain: str
    gender: str  # masculine, feminine, neuter, plural
    nouns: tuple[str, ...]
    adjective: str
    name: tuple[str, str] | None = None
    mentioned: int = -1  # the last sentence that mentions it


class Story:
    """One story: its people and things, and the sentences written so far."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.rng = rng
        self.text = Text(name, f"stories:{name}")
        self.sentence = 0
        genders = rng.sample(["masculine", "feminine"], 2)
        if rng.random() < 0.3:
            genders[1] = genders[0]
        roles, surnames = rng.sample(grammar.STORY_PEOPLE, 2), rng.sample(grammar.SURNAMES, 2)
        people = zip("12", genders, roles, surnames, strict=True)
        self.people = [self._person(*person) for person in people]
        if rng.random() < 0.4:
            nouns = rng.choice(grammar.STORY_GROUPS)
            self.people.append(Entity("3", "plural", nouns, rng.choice(grammar.STORY_AGES)))
        self.things = [
            Entity(chain, "neuter", nouns, rng.choice(grammar.STORY_LOOKS))
            for chain, nouns in zip("45", rng.sample(grammar.STORY_THINGS, 2), strict=True)
        ]
        self.places = dict(zip(rng.sample(grammar.STORY_PLACES, 3), "678", strict=True))

    def _person(self, chain: str, gender: str, nouns: tuple[str, ...], surname: str) -> Entity:
        name = None
        if self.rng.random() < 0.6:
            name = self.rng.choice(grammar.NAMES[gender]), surname
        return Entity(chain, gender, nouns, self.rng.choice(grammar.STORY_AGES), name)

    def refer(self, entity: Entity, relation: str) -> Phrase:
        """Mention the entity: in full at first, later by a pronoun if it is clear, or otherwise."""
        first = entity.mentioned < 0
        clear = not first and self._is_clear(entity)
        entity.mentioned = self.sentence
        if clear and self.rng.random() < 0.6:
            return self.pronoun(entity, relation)
        phrase = self._named(entity, first) if entity.name else self._noun(entity, first)
        phrase.chain = entity.chain
        return phrase.as_(relation)

    def pronoun(self, entity: Entity, relation: str) -> Phrase:
        """The entity's pronoun, in the case that the relation asks for."""
        case = {"nsubj": 0, "nsubjpass": 0, "poss": 2}.get(relation, 1)
        word = grammar.PRONOUNS[entity.gender][case]
        return Phrase(word, "PRP$" if case == 2 else "PRP", relation, chain=entity.chain)

    def _is_clear(self, entity: Entity) -> bool:
        """Whether no other entity of the same gender was mentioned as recently."""
        others = [each for each in [*self.people, *self.things] if each is not entity]
        rivals = [each.mentioned for each in others if each.gender == entity.gender]
        return entity.mentioned >= self.sentence - 2 and entity.mentioned > max(rivals, default=-1)

    def _named(self, entity: Entity, first: bool) -> Phrase:
        first_name, surname = entity.name or ("", "")
        if first:
            return Phrase(surname, "NNP", left=[Phrase(first_name, "NNP", "nn")])
        title = Phrase(grammar.TITLES[entity.gender], "NNP", "nn")
        forms = (first_name, []), (surname, []), (surname, [title])
        word, left = self.rng.choice(forms)
        return Phrase(word, "NNP", left=left)

    def _noun(self, entity: Entity, first: bool) -> Phrase:
        plural, noun = entity.gender == "plural", entity.nouns[0]
        if not first and self.rng.random() >= 0.6:
            noun = self.rng.choice(entity.nouns)
        if first:
            singular = "an" if entity.adjective[0] in "aeiou" else "a"
            article = "some" if plural else singular
        else:
            singular = self.rng.choice(["the", "the", "this"])
            article = "the" if plural else singular
        left = [Phrase(article, "DT", "det")]
        if first or self.rng.random() < 0.2:
            left.append(Phrase(entity.adjective, "JJ", "amod"))
        return Phrase(noun, "NNS" if plural else "NN", left=left)

    def place(self) -> Phrase:
        """A place with its preposition."""
        name = self.rng.choice(list(self.places))
        where = Phrase(name, "NN", "pobj", [Phrase("the", "DT", "det")], chain=self.places[name])
        return Phrase(self.rng.choice(["near", "behind", "at"]), "IN", "prep", right=[where])

    def verb(self, words: list[str], *right: Phrase, subject: Phrase) -> Phrase:
        """A clause in the past tense."""
        return Phrase(self.rng.choice(words), "VBD", "root", [subject], list(right))

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
    person, thing = story.rng.choice(story.people), story.rng.choice(story.things)
    subject = story.refer(person, "nsubj")
    new = thing.mentioned < 0
    handled = story.refer(thing, "dobj")
    if new and story.rng.random() < 0.5:
        handled.left[0] = story.pronoun(person, "poss")
    return story.verb(grammar.HANDLE, handled, story.place(), subject=subject)


def meets(story: Story) -> Phrase:
    """The doctor met Anna Keller at the station."""
    first, second = story.rng.sample(story.people, 2)
    subject = story.refer(first, "nsubj")
    return story.verb(grammar.MEET, story.refer(second, "dobj"), story.place(), subject=subject)


def gives(story: Story) -> Phrase:
    """She gave the letter to the doctor."""
    giver, receiver = story.rng.sample(story.people, 2)
    subject = story.refer(giver, "nsubj")
    gift = story.refer(story.rng.choice(story.things), "dobj")
    to = Phrase("to", "TO", "prep", right=[story.refer(receiver, "pobj")])
    return story.verb(grammar.GIVE, gift, to, subject=subject)


def is_handled(story: Story) -> Phrase:
    """The boat was repaired by the doctor."""
    thing = story.refer(story.rng.choice(story.things), "nsubjpass")
    agent = story.refer(story.rng.choice(story.people), "pobj")
    by = Phrase("by", "IN", "prep", right=[agent])
    verb = story.rng.choice(grammar.HANDLED)
    return Phrase(verb, "VBN", "root", [thing, Phrase("was", "VBD", "auxpass")], [by])


def says(story: Story) -> Phrase:
    """Anna said that she liked the boat."""
    speaker = story.rng.choice(story.people)
    subject = story.refer(speaker, "nsubj")
    liked, liking = (
        story.refer(story.rng.choice(story.things), "dobj"),
        story.pronoun(speaker, "nsubj"),
    )
    inner = story.verb(grammar.LIKE, liked, subject=liking).as_("ccomp")
    inner.left.insert(0, Phrase("that", "IN", "mark"))
    return story.verb(grammar.SAY, inner, subject=subject)


def goes(story: Story) -> Phrase:
    """The children waited near the station."""
    subject = story.refer(story.rng.choice(story.people), "nsubj")
    return story.verb(grammar.GO, story.place(), subject=subject)


SENTENCES: list[Callable[[Story], Phrase]] = [handles, meets, gives, is_handled, says, goes]


def stories(n: int, seed: int) -> Iterator[Text]:
    """`n` stories of 6 to 8 sentences, each from a random stream of its own."""
    for number in range(n):
        story = Story(f"story-{number:04d}", random.Random(f"{seed}-{number}"))
        length = story.rng.randint(6, 8)
        for sentence in [meets, *story.rng.choices(SENTENCES, k=length - 1)]:
            story.add(sentence(story))
        yield story.text
