"""Sentences whose predicate and core frame elements are known (Kovaleva et al. 2019, 4.2)."""

import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import Example, write_examples
from workflow_scripts.core.data.frames import Element, FrameLinks, write_links
from workflow_scripts.core.generated.grammar import linked, new_fact
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.corpora.frame_files import (
    Annotated,
    Span,
    sentences_of,
    sentences_of_nltk,
    words_of,
)

log = logging.getLogger(__name__)
MOST_TOKENS = 12  # of a sentence; a longer one may evoke other frames
MOST_ELEMENT_TOKENS = 3
FEWEST_APART = 2  # tokens between a target and its element; closer ones are neighbours
NAMES = {"agent": "Agent", "theme": "Theme"}
# The filters, in the order in which a sentence meets them.
TARGETS = "several targets"
LONG = f"more than {MOST_TOKENS} tokens"
BARE = "no core element"
LONG_ELEMENT = f"a core element of more than {MOST_ELEMENT_TOKENS} tokens"
CLOSE = f"less than {FEWEST_APART} tokens apart"
FILTERS = (TARGETS, LONG, BARE, LONG_ELEMENT, CLOSE)


def generated(n: int, seed: int) -> Iterator[Annotated]:
    """Sentences of the study's own grammar, whose roles are known."""
    for number in range(n):
        rng = random.Random(f"{seed}-frames-{number}")
        fact = new_fact(rng)
        words, spans = [], {"agent": [], "theme": [], "verb": []}
        for text, role in linked(fact, rng):
            start = len(" ".join([*words, ""]))
            words += text.split()
            if role in spans:
                spans[role].append((start, start + len(text)))
        text = " ".join(words) + " ."
        elements = tuple((NAMES[role], spans[role][0]) for role in NAMES)
        source = f"grammar: sentence {number}"
        yield Annotated(
            text[0].upper() + text[1:], source, fact.verb.frame, tuple(spans["verb"]), elements
        )


def covered(words: list[Span], span: Span) -> tuple[int, ...]:
    """Indices of the words that a span of characters touches."""
    return tuple(k for k, (start, end) in enumerate(words) if start < span[1] and span[0] < end)


def apart(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Tokens from the one to the other, 1 for neighbours."""
    return min(abs(a - b) for a in one for b in other)


def links_of(sentence: Annotated) -> tuple[FrameLinks | None, str]:
    """The sentence's links or, where one of the paper's filters leaves it out, which it was."""
    spans = words_of(sentence.text)
    if len(sentence.targets) != 1:
        return None, TARGETS
    if len(spans) > MOST_TOKENS:
        return None, LONG
    if not sentence.elements:
        return None, BARE
    target = covered(spans, sentence.targets[0])
    elements = tuple(Element(name, covered(spans, span)) for name, span in sentence.elements)
    if any(len(one.words) > MOST_ELEMENT_TOKENS for one in elements):
        return None, LONG_ELEMENT
    if any(apart(target, one.words) < FEWEST_APART for one in elements):
        return None, CLOSE
    words = tuple(sentence.text[start:end] for start, end in spans)
    return FrameLinks("", words, sentence.frame, target, elements, sentence.source), ""


def filtered(sentences: Iterator[Annotated], name: str) -> tuple[list[FrameLinks], dict[str, int]]:
    """The links that pass the filters, and how many sentences were read and left out by each."""
    kept, counts = [], {"sentences annotated": 0} | dict.fromkeys(FILTERS, 0)
    for sentence in sentences:
        counts["sentences annotated"] += 1
        links, reason = links_of(sentence)
        if links is None:
            counts[reason] += 1
        else:
            kept.append(replace(links, id=f"{name}-{len(kept):05d}"))
    counts["sentences"] = len(kept)
    counts["links"] = sum(len(one.elements) for one in kept)
    return kept, counts


def main(
    sentences: Out,
    annotation: Out,
    counts: Out,
    source: dict[str, Any],
    name: str,
    seed: int = 1,
    files: list[Path] = (),
) -> None:
    """Write sentences, links and what each filter left out."""
    if "generate" in source:
        found = generated(source["generate"], seed)
    elif "nltk" in source:
        found = sentences_of_nltk(source["nltk"])
    else:
        found = sentences_of(Path(source["path"]))
    kept, numbers = filtered(found, name)
    for what, n in numbers.items():
        log.info("%s: %d", what, n)
    if not kept:
        raise InputError(f"corpora.frames.{name}: no sentence passes the filters; give more")
    examples = []
    for one in kept:
        text = " ".join(one.words)
        examples.append(Example(one.id, one.id, one.source, (text,), (tuple(words_of(text)),)))
    write_examples(sentences, examples)
    write_links(annotation, kept)
    tables.write_counts(numbers, counts, generated="generate" in source)


if __name__ == "__main__":
    job.run(main, globals())
