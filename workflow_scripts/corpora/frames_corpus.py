"""Sentences whose predicate and core frame elements are known (Kovaleva et al. 2019, 4.2)."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import (
    Element,
    Example,
    FrameLinks,
    to_example,
    write_records,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.generated.grammar import linked, new_fact
from workflow_scripts.core.run import job
from workflow_scripts.corpora import frame_files

MAX_TOKENS = 12  # of a sentence; a longer one may evoke other frames
MAX_ELEMENT_TOKENS = 3
NAMES = {"agent": "Agent", "theme": "Theme"}
PAPER = 473  # sentences of the paper, in the text and in the output of the notebook


class Filters(NamedTuple):
    """What decides whether a sentence of at most MAX_TOKENS with one target is kept."""

    core_sets: bool  # core are the members of the frame's core sets, not those of type Core
    all_elements: bool  # the next two concern every element, not only core ones
    min_distance: int  # in tokens, between a target and an element; 1 for neighbours

    @property
    def names(self) -> tuple[str, ...]:
        """The reasons to leave a sentence out, in the order in which it meets them."""
        return (
            "several targets",
            f"more than {MAX_TOKENS} tokens",
            "no element of a core set" if self.core_sets else "no core element",
            f"{'an' if self.all_elements else 'a core'} element of more than "
            f"{MAX_ELEMENT_TOKENS} tokens",
            f"less than {self.min_distance} tokens apart",
        )


FILTERS = {  # as the text of the paper states, and as its released notebook does
    "paper": Filters(core_sets=False, all_elements=False, min_distance=2),
    "released": Filters(core_sets=True, all_elements=True, min_distance=3),
}


def generated(n: int, seed: int) -> Iterator[frame_files.AnnotatedSentence]:
    """Sentences of the study's own grammar, whose roles are known."""
    for number in range(n):
        rng = random.Random(f"{seed}-frames-{number}")
        fact = new_fact(rng)
        text, spans = "", {"agent": [], "theme": [], "verb": []}
        for words, role in linked(fact, rng):
            if role in spans:
                spans[role].append((len(text), len(text) + len(words)))
            text += f"{words} "
        yield frame_files.AnnotatedSentence(
            text=f"{text[0].upper()}{text[1:]}.",
            source=f"grammar: sentence {number}",
            frame=fact.verb.frame,
            targets=tuple(spans["verb"]),
            elements=tuple((NAMES[role], spans[role][0]) for role in NAMES),
        )


def covered(words: list[frame_files.Span], span: frame_files.Span) -> tuple[int, ...]:
    """Indices of the words that a span of characters touches."""
    return tuple(k for k, (start, end) in enumerate(words) if start < span[1] and span[0] < end)


def links_of(
    sentence: frame_files.AnnotatedSentence, filters: Filters
) -> tuple[FrameLinks | None, str]:
    """The sentence's links, or None and the filter that leaves the sentence out."""
    targets, long, bare, long_element, close = filters.names
    spans = frame_files.words_of(sentence.text)
    if len(sentence.targets) != 1:
        return None, targets
    if len(spans) > MAX_TOKENS:
        return None, long
    if not sentence.elements:
        return None, bare
    target = covered(spans, sentence.targets[0])
    core, others = (
        tuple(Element(name, covered(spans, span)) for name, span in labels)
        for labels in (sentence.elements, sentence.others)
    )
    if not target or not all(element.words for element in core + others):
        raise InputError(f"{sentence.source}: a label covers no word; fix its start and end")
    concerned = core + others if filters.all_elements else core
    if any(len(element.words) > MAX_ELEMENT_TOKENS for element in concerned):
        return None, long_element
    distances = [abs(a - b) for a in target for element in concerned for b in element.words]
    if any(n < filters.min_distance for n in distances):
        return None, close
    words = tuple(sentence.text[start:end] for start, end in spans)
    return FrameLinks("", words, sentence.frame, target, core, others, sentence.source), ""


def filtered(
    sentences: Iterator[frame_files.AnnotatedSentence], name: str, filters: Filters
) -> tuple[list[Example], list[FrameLinks], dict[str, int]]:
    """What passes the filters, and how many sentences were read and each filter left out.

    The document of a sentence is its lexical unit.
    """
    names = ("sentences annotated", *filters.names, "sentences", "links")
    examples, kept, counts = [], [], dict.fromkeys(names, 0)
    for sentence in sentences:
        counts["sentences annotated"] += 1
        links, reason = links_of(sentence, filters)
        counts[reason or "sentences"] += 1
        if links:
            kept.append(replace(links, id=f"{name}-{len(kept):05d}"))
            examples.append(to_example(kept[-1], document=sentence.unit or kept[-1].id))
            counts["links"] += len(links.elements)
    return examples, kept, counts


def main(
    sentences: job.Out,
    annotation: job.Out,
    counts: job.Out,
    source: dict[str, Any],
    name: str,
    filters: str,
    seed: int = 1,
) -> None:
    """Write sentences, links and what each of the `filters` left out, next to the paper's count."""
    chosen = FILTERS[filters]
    if "generate" in source:
        annotated = generated(source["generate"], seed)
    elif "nltk" in source:
        annotated = frame_files.sentences_of_nltk(source["nltk"], chosen.core_sets)
    else:
        annotated = frame_files.sentences_of(Path(source["path"]), chosen.core_sets)
    examples, kept, numbers = filtered(annotated, name, chosen)
    if not kept:
        raise InputError(f"corpora.frames.{name}: no sentence passes the filters; use more")
    write_records(sentences, examples)
    write_records(annotation, kept)
    published = [PAPER if what == "sentences" else np.nan for what in numbers]
    about = {"generated": "generate" in source, "filters": filters}
    tables.write_counts(numbers, counts, paper=published, **about)


if __name__ == "__main__":
    job.run(main, globals())
