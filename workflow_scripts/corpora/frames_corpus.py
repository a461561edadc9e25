"""Sentences whose predicate and core frame elements are known (Kovaleva et al. 2019, 4.2)."""

import logging
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import to_example, write_examples
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
MAX_TOKENS = 12  # of a sentence; a longer one may evoke other frames
MAX_ELEMENT_TOKENS = 3
MIN_DISTANCE = 2  # in tokens, between a target and its element; closer ones are neighbours
NAMES = {"agent": "Agent", "theme": "Theme"}
# The filters, in the order in which a sentence meets them.
TARGETS = "several targets"
LONG = f"more than {MAX_TOKENS} tokens"
BARE = "no core element"
LONG_ELEMENT = f"a core element of more than {MAX_ELEMENT_TOKENS} tokens"
CLOSE = f"less than {MIN_DISTANCE} tokens apart"
FILTERS = (TARGETS, LONG, BARE, LONG_ELEMENT, CLOSE)


def generated(n: int, seed: int) -> Iterator[Annotated]:
    """Sentences of the study's own grammar, whose roles are known."""
    for number in range(n):
        rng = random.Random(f"{seed}-frames-{number}")
        fact = new_fact(rng)
        text, spans = "", {"agent": [], "theme": [], "verb": []}
        for words, role in linked(fact, rng):
            if role in spans:
                spans[role].append((len(text), len(text) + len(words)))
            text += f"{words} "
        yield Annotated(
            text=f"{text[0].upper()}{text[1:]}.",
            source=f"grammar: sentence {number}",
            frame=fact.verb.frame,
            targets=tuple(spans["verb"]),
            elements=tuple((NAMES[role], spans[role][0]) for role in NAMES),
        )


def covered(words: list[Span], span: Span) -> tuple[int, ...]:
    """Indices of the words that a span of characters touches."""
    return tuple(k for k, (start, end) in enumerate(words) if start < span[1] and span[0] < end)


def distance(target: tuple[int, ...], element: tuple[int, ...]) -> int:
    """Tokens from a target to an element, 1 for neighbours."""
    return min(abs(a - b) for a in target for b in element)


def links_of(sentence: Annotated) -> tuple[FrameLinks | None, str]:
    """The sentence's links, or None and the filter of the paper that leaves the sentence out."""
    spans = words_of(sentence.text)
    if len(sentence.targets) != 1:
        return None, TARGETS
    if len(spans) > MAX_TOKENS:
        return None, LONG
    if not sentence.elements:
        return None, BARE
    target = covered(spans, sentence.targets[0])
    elements = tuple(Element(name, covered(spans, span)) for name, span in sentence.elements)
    if any(len(element.words) > MAX_ELEMENT_TOKENS for element in elements):
        return None, LONG_ELEMENT
    if any(distance(target, element.words) < MIN_DISTANCE for element in elements):
        return None, CLOSE
    words = tuple(sentence.text[start:end] for start, end in spans)
    return FrameLinks("", words, sentence.frame, target, elements, sentence.source), ""


def filtered(sentences: Iterator[Annotated], name: str) -> tuple[list[FrameLinks], dict[str, int]]:
    """The links that pass the filters, and how many sentences were read and each left out."""
    kept, counts = [], {"sentences annotated": 0} | dict.fromkeys(FILTERS, 0)
    for sentence in sentences:
        counts["sentences annotated"] += 1
        links, reason = links_of(sentence)
        if links is None:
            counts[reason] += 1
        else:
            kept.append(replace(links, id=f"{name}-{len(kept):05d}"))
    counts["sentences"] = len(kept)
    counts["links"] = sum(len(links.elements) for links in kept)
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
        annotated = generated(source["generate"], seed)
    elif "nltk" in source:
        annotated = sentences_of_nltk(source["nltk"])
    else:
        annotated = sentences_of(Path(source["path"]))
    kept, numbers = filtered(annotated, name)
    for what, n in numbers.items():
        log.info("%s: %d", what, n)
    if not kept:
        raise InputError(f"corpora.frames.{name}: no sentence passes the filters; use more")
    write_examples(sentences, [to_example(links, document=links.id) for links in kept])
    write_links(annotation, kept)
    tables.write_counts(numbers, counts, generated="generate" in source)


if __name__ == "__main__":
    job.run(main, globals())
