"""Facts, and English sentences and questions that express them: the study's own small grammar.

It replaces labelled text, which may not be shipped. For its sentences it is known which mean the
same and which words fill which role. Every product made of them states that they are generated.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workflow_scripts.core.generated.lexicon import (
    ADVERBS,
    AGES,
    ALL,
    LOOKS,
    TIMES,
    VERBS,
    Domain,
    Verb,
)

ROLES = ("agent", "verb", "theme", "place", "time")
DID = ("did not", "didn't")  # a base form follows
Pieces = list[tuple[str, str]]  # words, and the role that they fill or ""


@dataclass(frozen=True)
class Fact:
    """Somebody did something to a thing, somewhere, at some time; or did not (`negated`)."""

    agent: tuple[str, ...]
    age: str
    verb: Verb
    theme: tuple[str, ...]
    look: str
    place: str
    time: tuple[str, ...]
    negated: bool = False


def new_fact(rng: random.Random, domains: Sequence[Domain] = ALL, negated: float = 0.0) -> Fact:
    """A random fact of one of the domains, negated with the given probability."""
    domain = rng.choices(domains, weights=[len(domain.things) for domain in domains])[0]
    return Fact(
        agent=rng.choice(domain.people),
        age=rng.choice(AGES),
        verb=rng.choice(list(VERBS.values())),
        theme=rng.choice(domain.things),
        look=rng.choice(LOOKS),
        place=rng.choice(domain.places),
        time=rng.choice(TIMES),
        negated=rng.random() < negated,
    )


def changed(fact: Fact, role: str, rng: random.Random, domains: Sequence[Domain] = ALL) -> Fact:
    """The fact with another filler of one role."""
    while True:
        filler = getattr(new_fact(rng, domains), role)
        if filler != getattr(fact, role):
            return replace(fact, **{role: filler})


def opposite(fact: Fact) -> Fact:
    """The fact with the verb that undoes it."""
    return replace(fact, verb=VERBS[fact.verb.opposite])


def agent_of(fact: Fact, rng: random.Random, with_age: bool) -> Pieces:
    """The agent's phrase."""
    return [(_noun(rng.choice(fact.agent), fact.age if with_age else ""), "agent")]


def theme_of(fact: Fact, rng: random.Random, with_look: bool) -> Pieces:
    """The theme's phrase."""
    return [(_noun(rng.choice(fact.theme), fact.look if with_look else ""), "theme")]


def sentence(
    fact: Fact,
    rng: random.Random,
    details: Sequence[str] = ("place", "time"),
    adjectives: bool = True,
) -> str:
    """The fact as a sentence, in one of several forms; `details` names the circumstances."""
    return to_text(_form(rng, details)(fact, rng, details, adjectives))


def active(fact: Fact, rng: random.Random, details: Sequence[str], adjectives: bool) -> Pieces:
    """The old doctor repaired the boat near the harbour last week."""
    return [
        *agent_of(fact, rng, adjectives),
        *_predicate(fact, rng),
        *theme_of(fact, rng, adjectives),
        *circumstances(fact, rng, details),
    ]


def passive(fact: Fact, rng: random.Random, details: Sequence[str], adjectives: bool) -> Pieces:
    """The boat was repaired by the old doctor near the harbour last week."""
    negation = [("not", "")] if fact.negated else []
    return [
        *theme_of(fact, rng, adjectives),
        ("was", ""),
        *negation,
        (rng.choice(fact.verb.participle), "verb"),
        ("by", ""),
        *agent_of(fact, rng, adjectives),
        *circumstances(fact, rng, details),
    ]


def fronted(fact: Fact, rng: random.Random, details: Sequence[str], adjectives: bool) -> Pieces:
    """Last week the old doctor repaired the boat near the harbour."""
    rest = [role for role in details if role != "time"]
    return [(rng.choice(fact.time), "time"), *active(fact, rng, rest, adjectives)]


def unacceptable(fact: Fact, rng: random.Random, details: Sequence[str]) -> str:
    """The fact as a sentence with one mistake, in an article or the verb.

    An article stands behind its noun or, of the theme, is left out ("Mother" needs none); or the
    verb is a base form where it must not be, or past after "did not".
    """
    pieces = _form(rng, details)(fact, rng, details, True)
    role = rng.choice(["agent", "theme", "verb"])
    index = [filled for _, filled in pieces].index(role)
    words, before = pieces[index][0], pieces[index - 1][0]
    if role == "verb":
        wrong = fact.verb.past[0] if before in DID else fact.verb.base[0]
    else:
        bare = words.removeprefix("the ")
        wrong = rng.choice([f"{bare} the", bare if role == "theme" else f"{bare} the"])
    return to_text([*pieces[:index], (wrong, role), *pieces[index + 1 :]])


def question(fact: Fact, role: str, rng: random.Random) -> str:
    """A question about one role of the fact: who, what, where or when."""
    base = rng.choice(fact.verb.base)
    past = rng.choice(fact.verb.past)
    agent, theme = agent_of(fact, rng, False), theme_of(fact, rng, False)
    if role == "agent":
        who = rng.choice(["who", "which person"])
        if rng.random() < 0.5:
            participle = (rng.choice(fact.verb.participle), "")
            pieces = [("by whom was", ""), *theme, participle]
        else:
            pieces = [(who, ""), (past, ""), *theme]
    elif role == "theme":
        what = rng.choice(["what", "which thing"])
        pieces = [(what, ""), ("did", ""), *agent, (base, "")]
    else:
        word = rng.choice(
            ["where", "in what place"] if role == "place" else ["when", "at what time"]
        )
        pieces = [(word, ""), ("did", ""), *agent, (base, ""), *theme]
    return to_text(pieces)[:-1] + "?"


def linked(fact: Fact, rng: random.Random) -> Pieces:
    """The fact as pieces, with its agent and theme at least three words from the verb."""
    agent, theme = agent_of(fact, rng, False), theme_of(fact, rng, False)
    adverb, time = (rng.choice(ADVERBS), ""), (rng.choice(fact.time), "")
    verb = [adverb, (rng.choice(fact.verb.participle), "verb")]
    be, had = ("was", ""), ("had", "")
    forms = [
        [*theme, be, *verb, time, ("by", ""), *agent],
        [("it was", ""), *theme, ("that", ""), *agent, had, *verb],
        [("what", ""), *agent, had, *verb, be, ("really", ""), *theme],
        [*theme, ("that", ""), *agent, had, *verb, be, ("gone", "")],
    ]
    return rng.choice(forms)


def circumstances(fact: Fact, rng: random.Random, details: Sequence[str]) -> Pieces:
    """The phrases of place and time that are among the details."""
    pieces = []
    if "place" in details:
        pieces.append((f"{rng.choice(['in', 'at'])} the {fact.place}", "place"))
    if "time" in details:
        pieces.append((rng.choice(fact.time), "time"))
    return pieces


def to_text(pieces: Pieces) -> str:
    """The pieces as a sentence: a capital at the start, a full stop at the end."""
    text = " ".join(words for words, _ in pieces)
    return text[0].upper() + text[1:] + "."


def _form(rng: random.Random, details: Sequence[str]) -> Callable[..., Pieces]:
    return rng.choice([active, passive, fronted if "time" in details else active])


def _predicate(fact: Fact, rng: random.Random) -> Pieces:
    if not fact.negated:
        return [(rng.choice(fact.verb.past), "verb")]
    base = (rng.choice(fact.verb.base), "verb")
    return rng.choice(
        [
            [(DID[0], ""), base],
            [(DID[1], ""), base],
            [("never", ""), (fact.verb.past[0], "verb")],
        ]
    )


def _noun(noun: str, adjective: str) -> str:
    return f"the {adjective} {noun}" if adjective else f"the {noun}"
