"""Texts of the annotated maps that come with the workflow; the same in every study."""

import random

from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.packages import inside_package
from workflow_scripts.core.data.text_files import read_lines
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.generated.grammar import changed, new_fact, sentence

N_PAIRS, N_REVIEWS = 60, 40
REVIEWS = "gensim/test/test_data/pang_lee_polarity.cor"


def pairs() -> list[Example]:
    """Generated inputs of two segments: one or two sentences, then another about a similar fact."""
    examples = []
    for number in range(N_PAIRS):
        rng = random.Random(f"patterns-{number}")
        fact = new_fact(rng, negated=0.1)
        first = sentence(fact, rng)
        if rng.random() < 0.3:
            first += " " + sentence(new_fact(rng), rng)
        second = sentence(changed(fact, rng.choice(["agent", "verb", "theme"]), rng), rng)
        name = f"pairs-{number:03d}"
        examples.append(Example(name, name, f"grammar: pair {number}", (first, second)))
    return examples


def reviews() -> list[Example]:
    """Real sentences of film reviews, one segment each, from gensim's wheel."""
    path = inside_package(REVIEWS)
    lines = [(number, line.partition(" ")[2]) for number, line in read_lines(path, "cp1252")]
    step = len(lines) // N_REVIEWS
    examples = []
    for number, (line, text) in enumerate(lines[::step][:N_REVIEWS]):
        name = f"reviews-{number:03d}"
        examples.append(Example(name, name, f"{path}:{line}", (text,)))
    return examples


CORPORA = {"pairs": pairs, "reviews": reviews}


def examples_of(corpus: str) -> list[Example]:
    """The examples of one of CORPORA."""
    if corpus not in CORPORA:
        raise InputError(f"corpus {corpus!r} is unknown; accepted: {', '.join(CORPORA)}")
    return CORPORA[corpus]()
