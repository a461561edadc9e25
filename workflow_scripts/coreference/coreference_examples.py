"""Passages on which Figure 5 of Clark et al. 2019 shows the head that finds antecedents best."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Document, Mention, read_documents
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.wordpieces import (
    is_decoder,
    names_of_units,
    pairs_of_units,
    to_words,
    without_first,
    words_of_units,
)
from workflow_scripts.core.plots.attention_lines import LEFT_OUT
from workflow_scripts.core.run import job
from workflow_scripts.coreference import antecedents

SHORTEST, LONGEST = 6, 18  # words of a passage
SEARCHED = 40  # texts
OTHER = "(other words)"  # of the text, not of the passage
SENTENCE_ENDS = {".", "!", "?"}
COLUMNS = ["drawing", "layer", "head", "title", "query", "key", "query_token", "key_token"]
COLUMNS += ["weight", "highlighted", "gold", "example"]


def passages(words: Sequence[str]) -> list[range]:
    """Whole sentences of a text, as many as fit, from each sentence's start."""
    ends = [k + 1 for k, word in enumerate(words) if word in SENTENCE_ENDS]
    found = []
    for start in [0, *ends[:-1]]:
        fitting = [end for end in ends if start + SHORTEST <= end <= start + LONGEST]
        if fitting:
            found.append(range(start, fitting[-1]))
    return found


def links(mentions: Sequence[Mention], passage: range) -> set[tuple[int, int]]:
    """Head words of the mentions within a passage, each with one of an antecedent within it."""
    inside = [m for m in mentions if m.start in passage and m.end - 1 in passage]
    found = antecedents.coreferent(inside)
    return {(inside[index].head, head) for index, heads in found for head in heads}


def fitting(document: Document, words: np.ndarray) -> list[range]:
    """The passages of a document in which a mention has its antecedent, all among `words`."""
    possible = [each for each in passages(document.words) if np.isin(each, words).all()]
    return [each for each in possible if links(document.mentions, each)]


def draw(
    pattern: np.ndarray, word: np.ndarray, document: Document, passage: range, decoder: bool
) -> pd.DataFrame:
    """Attention of one head, [query, key] over tokens, from the words of a passage.

    Keys are [CLS], the words of the passage, OTHER, which stands for all other words of the text
    together, and [SEP], so that the weights of a word sum to 1. OTHER attends to nothing here.
    `highlighted` marks the head words of mentions whose antecedent is in the passage, `gold` the
    pairs of such a word and the head word of an antecedent. For a decoder OTHER is the last key,
    and mentions with the first word are left out.
    """
    weights, index = to_words(pattern, word, last=decoder), words_of_units(word)
    rest = ~np.isin(index, passage) & (index >= 0)
    kept = np.flatnonzero(~rest)
    where = int(np.searchsorted(index[kept[:-1]], passage[-1], side="right"))  # before [SEP]
    where = len(kept) if decoder else where
    all_names = names_of_units(word, document.words, decoder)
    names = [all_names[unit] for unit in kept]
    shown, units = weights[np.ix_(kept, kept)], index[kept]
    if rest.any():
        shown = np.insert(shown, where, weights[np.ix_(kept, rest)].sum(axis=1), axis=1)
        shown = np.insert(shown, where, 0.0, axis=0)
        names.insert(where, OTHER)
        units = np.insert(units, where, -1)
    gold = pairs_of_units(units, links(document.mentions, passage))
    frame = tables.per_pair(shown, names)
    return frame.assign(
        highlighted=gold.any(axis=1)[frame["query"]], gold=gold[frame["query"], frame["key"]]
    )


def strength(drawing: pd.DataFrame) -> tuple[float, float]:
    """The largest weight on an antecedent whose head word is another word, and on any."""
    gold = drawing[drawing["gold"]]
    other = gold["query_token"].str.lower() != gold["key_token"].str.lower()
    return gold["weight"].where(other, 0.0).max(), gold["weight"].max()


def main(
    attention: Path,
    model: Path,
    annotation: Path,
    scores: Path,
    examples: job.Out,
    n_examples: int,
    seed: int = 1,
) -> None:
    """Write the weights to draw, of the best head for all mentions among all other words.

    Of SEARCHED random texts, those `n_examples` passages in which it attends most to an antecedent,
    best of another word; the table is empty where no text has any.
    """
    card, documents = read_card(model), read_documents(annotation)
    decoder = is_decoder(card)
    frame = tables.read(scores)
    frame = frame[(frame["candidates"] == "words") & (frame["type"] == antecedents.ALL)]
    best = frame.loc[frame["accuracy"].idxmax()]
    layer, head = int(best["layer"]), int(best["head"])
    title = f"to an antecedent\n{best['accuracy']:.0%} {LEFT_OUT[decoder]}"
    title += f"\n{best['coverage']:.0%} of the mentions" if decoder else ""
    found: list[pd.DataFrame] = []
    with open_patterns(attention, card) as cache:
        cache.expect([document.id for document in documents], "the mentions")
        for index in np.random.default_rng(seed).permutation(len(documents))[:SEARCHED]:
            example, document = cache[int(index)], documents[index]
            if decoder:
                words = without_first(example.word)
                document = replace(document, mentions=antecedents.readable(document, words))
            pattern, word = example.pattern[layer, head], example.word
            of_text = [
                draw(pattern, word, document, passage, decoder).assign(example=document.id)
                for passage in fitting(document, words_of_units(word))
            ]
            if of_text:
                found.append(max(of_text, key=strength))
    best_first = sorted(found, key=strength, reverse=True)[:n_examples]
    about = {"layer": layer, "head": head, "title": title}
    drawings = [rows.assign(drawing=number, **about) for number, rows in enumerate(best_first)]
    drawn = pd.concat(drawings or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)
    tables.write(drawn[COLUMNS], examples)


if __name__ == "__main__":
    job.run(main, globals())
