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
"""

import random
from collections.abc import Sequence

from workflow_scripts.translation import invented_language as words
from workflow_scripts.translation.generated_events import Event, NounPhrase, Remark, new_event
from workflow_scripts.translation.invented_language import Adjective, TranslatedVerb


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
    subject, object_, verb = (
        _english_phrase(event.subject),
        _english_phrase(event.object),
        event.verb,
    )
    if event.passive:
        negation = ["not"] * event.negated
        predicate = [_was(event.object), *negation, event.adverb, verb.participle]
        main = [*object_, *predicate, "by", *subject]
    elif event.negated:
        main = [*subject, "did", "not", event.adverb, verb.base, *object_]
    else:
        main = [*subject, event.adverb, verb.past, *object_]
    place = [event.place[0], "the", event.place[1].singular] if event.place else []
    return _joined([event.time, *main, *place, *_english_clause(event)])


def invented(event: Event) -> str:
    """The event in the invented language."""
    return _joined(
        [
            *_invented_clause(event),
            words.TIME_WORDS.get(event.time, ""),
            *_invented_phrase(event.subject, ""),
            *_invented_place(event),
            *_invented_phrase(event.object, words.ACCUSATIVE),
            words.ADVERB_WORDS.get(event.adverb, ""),
            words.NOT * event.negated,
            _invented_verb(event.verb, event.subject, event.object),
        ]
    )


def _english_phrase(phrase: NounPhrase) -> list[str]:
    adjective = phrase.adjective.english if phrase.adjective else ""
    return ["the", adjective, phrase.noun.plural if phrase.plural else phrase.noun.singular]


def _english_clause(event: Event) -> list[str]:
    clause, antecedent = event.clause, event.antecedent
    if clause is None:
        return []
    if isinstance(clause, Remark):
        rest = [_english_pronoun(antecedent, 0), _was(antecedent), clause.adjective.english]
    else:
        rest = [*_english_phrase(clause.person), clause.verb.past, _english_pronoun(antecedent, 1)]
    return [clause.conjunction, *rest]


def _english_pronoun(phrase: NounPhrase, case: int) -> str:
    if phrase.plural:
        return ("they", "them")[case]
    if phrase.noun.kind != "person":
        return "it"
    return {"masculine": ("he", "him"), "feminine": ("she", "her")}[phrase.gender][case]


def _was(phrase: NounPhrase) -> str:
    return "were" if phrase.plural else "was"


def _invented_clause(event: Event) -> list[str]:
    clause, antecedent = event.clause, event.antecedent
    if clause is None:
        return []
    pronoun = words.PRONOUNS[antecedent.gender] + _number(antecedent)
    if isinstance(clause, Remark):
        adjective = _invented_adjective(clause.adjective, antecedent, "")
        rest = [pronoun, adjective, _past(words.COPULA, antecedent)]
    else:
        verb = _invented_verb(clause.verb, clause.person, antecedent)
        rest = [*_invented_phrase(clause.person, ""), pronoun + words.ACCUSATIVE, verb]
    return [*rest, words.CONJUNCTIONS[clause.conjunction]]


def _invented_phrase(phrase: NounPhrase, case: str) -> list[str]:
    ending = _number(phrase) + case
    noun = phrase.noun.stem + ("a" + ending if ending else "")
    adjective = _invented_adjective(phrase.adjective, phrase, case) if phrase.adjective else ""
    return [words.ARTICLES[phrase.gender] + ending, noun, adjective]


def _invented_adjective(adjective: Adjective, phrase: NounPhrase, case: str) -> str:
    stem = adjective.of_persons if phrase.noun.kind == "person" else adjective.of_others
    return stem + words.AGREEMENT[phrase.gender] + _number(phrase) + case


def _invented_place(event: Event) -> list[str]:
    if event.place is None:
        return []
    preposition, noun = event.place
    phrase = NounPhrase(noun, noun.gender, plural=False, adjective=None)
    return [*_invented_phrase(phrase, words.LOCATIVE), words.POSTPOSITIONS[preposition]]


def _invented_verb(verb: TranslatedVerb, subject: NounPhrase, object_: NounPhrase) -> str:
    return _past(verb.stems[object_.noun.kind], subject)


def _past(stem: str, subject: NounPhrase) -> str:
    return stem + words.PAST + words.AGREEMENT[subject.gender] + _number(subject)


def _number(phrase: NounPhrase) -> str:
    return words.PLURAL if phrase.plural else ""


def _joined(texts: Sequence[str]) -> str:
    return " ".join(text for text in texts if text)
