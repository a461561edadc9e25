"""Passages on which Figure 5 of Clark et al. 2019 shows the head that finds antecedents best."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.mentions import Document, Mention, read_documents
from workflow_scripts.core.data.wordpieces import word_attention
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.coreference import antecedents
from workflow_scripts.coreference.antecedents import ALL

log = logging.getLogger(__name__)
SHORTEST, LONGEST = 6, 18  # words of a passage
SENTENCE_ENDS = {".", "!", "?"}
COLUMNS = ["drawing", "layer", "head", "title", "query", "key", "query_token", "key_token"]
COLUMNS += ["weight", "highlighted", "example"]


def passages(words: Sequence[str]) -> list[range]:
    """Whole sentences of a text, as many as fit, from each sentence's start."""
    ends = [k + 1 for k, word in enumerate(words) if word in SENTENCE_ENDS]
    found = []
    for start in [0, *ends[:-1]]:
        fitting = [end for end in ends if start + SHORTEST <= end <= start + LONGEST]
        if fitting:
            found.append(range(start, fitting[-1]))
    return found


def linked(mentions: Sequence[Mention], passage: range) -> set[int]:
    """Head words of the mentions within a passage that have an antecedent within it."""
    inside = [m for m in mentions if m.start in passage and m.end - 1 in passage]
    return {inside[index].head for index, _ in antecedents.coreferent(inside)}


def fitting(document: Document, words: np.ndarray) -> list[range]:
    """The passages of a document in which a mention has its antecedent, all among `words`."""
    present = set(words.tolist())
    return [
        passage
        for passage in passages(document.words)
        if present.issuperset(passage) and linked(document.mentions, passage)
    ]


def draw(
    attention: np.ndarray, words: np.ndarray, document: Document, passage: range
) -> pd.DataFrame:
    """Attention of one head between the words of a passage, as shares.

    `attention` is [word, word] among `words` (indices in the document). Weights are shares of what
    a word gives to the other words of the text, among which its antecedent is looked for.
    `highlighted` marks the head words of mentions whose antecedent is in the passage.
    """
    others = attention * (1 - np.eye(len(attention), dtype=attention.dtype))
    sums = others.sum(axis=-1, keepdims=True)
    shares = np.divide(others, sums, out=np.zeros_like(others), where=sums > 0)
    kept = np.flatnonzero(np.isin(words, passage))
    names = [document.words[word] for word in words[kept]]
    frame = tables.per_pair(shares[np.ix_(kept, kept)], names)
    marked = np.isin(words[kept], list(linked(document.mentions, passage)))
    return frame.assign(highlighted=marked[frame["query"]])


def main(
    attention: Path,
    model: Path,
    annotation: Path,
    scores: Path,
    examples: Out,
    n_examples: int,
    seed: int = 1,
) -> None:
    """Write the weights to draw, of the best head for all mentions among all other words.

    Of each of up to `n_examples` random texts the passage with the most mentions that have their
    antecedent in it; the table is empty where no text has any.
    """
    card, documents = read_card(model), read_documents(annotation)
    frame = tables.read(scores)
    frame = frame[(frame["candidates"] == "words") & (frame["type"] == ALL)]
    best = frame.loc[frame["accuracy"].idxmax()]
    layer, head = int(best["layer"]), int(best["head"])
    title = f"coreference, {best['accuracy']:.0%}"
    drawings: list[pd.DataFrame] = []
    with Cache(attention, card) as cache:
        cache.expect([document.id for document in documents], "the mentions")
        for index in np.random.default_rng(seed).permutation(len(documents)):
            example, document = cache[int(index)], documents[index]
            of_words = word_attention(example.pattern[layer, head], example.word)
            candidates = fitting(document, of_words.words)
            if not candidates:
                continue
            mentions = document.mentions
            passage = max(candidates, key=lambda each: len(linked(mentions, each)))
            drawing = draw(of_words.among, of_words.words, document, passage)
            about = {"drawing": len(drawings), "layer": layer, "head": head, "title": title}
            drawings.append(drawing.assign(**about, example=document.id))
            if len(drawings) == n_examples:
                break
    if not drawings:
        log.info("no passage of %d to %d words with an antecedent", SHORTEST, LONGEST)
        drawings.append(pd.DataFrame(columns=COLUMNS))
    tables.write(pd.concat(drawings, ignore_index=True)[COLUMNS], examples)


if __name__ == "__main__":
    job.run(main, globals())
