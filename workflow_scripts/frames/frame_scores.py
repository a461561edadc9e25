"""Each head's attention between predicates and their core frame elements (Kovaleva et al., 4.2).

Also compared with unlinked words of the same sentences at the same distances. The controls of a
link are the link itself, moved along the sentence: as many words on both sides, at the same
distances and in the same order, so that a head that looks nearby gains nothing by it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Element, FrameLinks, read_links
from workflow_scripts.core.data.cache import CachedExample, open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import Patterns
from workflow_scripts.core.data.wordpieces import (
    attention_to_earlier,
    is_decoder,
    remedy,
    uniform_attention,
    word_attention,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import per_head
from workflow_scripts.core.stats.randomisation import matched_p_values

DIRECTIONS = ("either", "from predicate", "to predicate")
KEYS = ["layer", "head", "direction"]
OF_COMPARED = {"ci_low": "difference_low", "ci_high": "difference_high"}
OF_COMPARED |= {"n": "n_compared", "n_documents": "n_documents_compared"}


def link_attention(pattern: np.ndarray, target: np.ndarray, element: np.ndarray) -> np.ndarray:
    """The maximum attention over the pairs of one link, [direction, layer, head].

    `pattern` is [layer, head, query, key]; `target` and `element` are indices of tokens or words.
    """
    out = pattern[:, :, target[:, None], element].max(axis=(-2, -1))
    back = pattern[:, :, element[:, None], target].max(axis=(-2, -1))
    return np.stack([np.maximum(out, back), out, back])


class LinkWords(NamedTuple):
    """The words of a link, or of a control: a link moved along the sentence."""

    target: tuple[int, ...]
    element: tuple[int, ...]


def controls(links: FrameLinks, element: Element) -> list[LinkWords]:
    """A link moved along the sentence, wherever it joins no two words of the frame.

    The frame's words are the predicate's and those of its elements, core or not. A control with a
    word that is punctuation is left out.
    """
    elements = {word for item in (*links.elements, *links.others) for word in item.words}
    frame = {*links.target, *elements}
    words = {number for number, word in enumerate(links.words) if any(map(str.isalnum, word))}
    moved_links = []
    for shift in range(-len(links.words), len(links.words)):
        target, moved = (tuple(k + shift for k in side) for side in (links.target, element.words))
        joined = frame & {*target} and frame & {*moved}
        if {*target, *moved} <= words and not joined:
            moved_links.append(LinkWords(target, moved))
    return moved_links


def between_words(
    example: CachedExample, decoder: bool = False
) -> tuple[np.ndarray, dict[int, int]]:
    """Mean attention over the pairs of tokens of two words, and the row of each word in it.

    [layer, head, word, word]. Not the maximum, in which words of many tokens would have an
    advantage over words of one. For a decoder, negative to words that are not earlier.
    """
    read = attention_to_earlier if decoder else word_attention
    attention = read(example.pattern, example.word)
    tokens = np.bincount(example.word[example.word >= 0])[attention.words]
    return attention.among / tokens, {w: row for row, w in enumerate(attention.words.tolist())}


def sides_back(links: FrameLinks, element: Element, first: int) -> LinkWords | None:
    """The later and the earlier side of a link, which asks and which answers in a decoder.

    None where they overlap, or where the earlier one has the word `first`, which is no candidate.
    """
    earlier, later = sorted((links.target, element.words))
    return LinkWords(later, earlier) if earlier[-1] < later[0] and first not in earlier else None


def compare(example: CachedExample, links: FrameLinks, decoder: bool = False) -> list[np.ndarray]:
    """For each link that has controls its attention, then theirs.

    Each is [link or control, direction, layer, head], with directions in the order of DIRECTIONS.
    A decoder has "either" alone, from the later side to the earlier, of links with `sides_back`.
    """
    pattern, rows = between_words(example, decoder)
    directions = slice(1 if decoder else None)
    compared = []
    for element in links.elements:
        if decoder and sides_back(links, element, int(example.word[0])) is None:
            continue
        candidates = [LinkWords(links.target, element.words), *controls(links, element)]
        attention = [
            link_attention(pattern, *(np.array([rows[word] for word in side]) for side in words))
            for words in candidates
            if rows.keys() >= {*words.target, *words.element}  # all have tokens
        ]
        if len(attention) > 1:
            compared.append(np.array(attention)[:, directions])
    return compared


def sentence_attention(example: CachedExample, links: FrameLinks) -> np.ndarray:
    """The mean over the sentence's links, float64 [direction, layer, head]."""
    target = np.flatnonzero(np.isin(example.word, links.target))
    elements = [np.flatnonzero(np.isin(example.word, element.words)) for element in links.elements]
    attended = [link_attention(example.pattern, target, element) for element in elements]
    return np.mean(attended, axis=0, dtype=np.float64)


def sentence_attention_back(example: CachedExample, links: FrameLinks) -> np.ndarray:
    """The mean over the sentence's links that a decoder can follow, float64 [1, layer, head].

    The maximum attention from the last tokens of the later words to tokens of the earlier ones; NaN
    where there is none.
    """
    attended = []
    for element in links.elements:
        if sides := sides_back(links, element, int(example.word[0])):
            asking = [np.flatnonzero(example.word == word)[-1] for word in sides.target]
            answering = np.flatnonzero(np.isin(example.word, sides.element))
            weights = example.pattern[:, :, np.array(asking)[:, None], answering]
            attended.append(weights.max(axis=(-2, -1)))
    if not attended:
        return np.full((1, *example.pattern.shape[:2]), np.nan)
    return np.mean(attended, axis=0, dtype=np.float64)[None]


def uniform_back(cache: Patterns, links: Sequence[FrameLinks]) -> tuple[float, float]:
    """What uniform attention would give, and the share of the links that are counted."""
    means, counted = [], []
    for index, sentence in enumerate(links):
        tokens = cache.tokens(index)
        first, pattern = int(tokens["word"][0]), uniform_attention(len(tokens["word"]))
        example = CachedExample("", pattern=pattern, **tokens)
        means.append(sentence_attention_back(example, sentence).item())
        counted += [bool(sides_back(sentence, each, first)) for each in sentence.elements]
    return float(np.nanmean(means)), sum(counted) / len(counted)


def check_tokens(example: CachedExample, links: FrameLinks, decoder: bool) -> None:
    """Raise InputError where a side of a link has no token or, of a decoder, one of its words."""
    sides, present = [links.target, *(each.words for each in links.elements)], set(example.word)
    enough = all if decoder else any
    if not all(enough(word in present for word in side) for side in sides):
        why = remedy([links], [example.word])
        raise InputError(f"{links.source}: a word of a link has no token; {why}")


def comparison(
    compared: list[list[np.ndarray]], documents: list[str], bootstrap: int, draws: int, seed: int
) -> pd.DataFrame:
    """One row per head and direction: means along links and controls, their difference, p-values.

    `compared` holds, for each sentence, attention of its links and their controls, each [link or
    control, direction, layer, head]. A sentence counts with the mean over its links. The p-values
    are corrected for the number of heads, in each direction apart.
    """
    linked = np.array([np.mean([link[0] for link in links], axis=0) for links in compared])
    control = np.array(
        [np.mean([link[1:].mean(axis=0) for link in links], axis=0) for links in compared]
    )
    frame = per_head(
        by_direction(linked - control), "direction", "difference", bootstrap, seed, documents
    )
    frame = frame.rename(columns=OF_COMPARED)
    sets = [link.reshape(*link.shape[:2], -1) for links in compared for link in links]
    weights = [1 / (len(links) * len(compared)) for links in compared for _ in links]
    p, corrected = matched_p_values(sets, np.array(weights), draws, seed)
    # The rows are by direction, then layer, then head, as the arrays are.
    return frame.assign(
        linked=linked.mean(axis=0).ravel(),
        control=control.mean(axis=0).ravel(),
        p=p.ravel(),
        p_corrected=corrected.ravel(),
        links_compared=len(sets),
    )


def by_direction(values: np.ndarray) -> dict[str, np.ndarray]:
    """[sentence, layer, head] for each of DIRECTIONS, of [sentence, direction, layer, head].

    A decoder has the first of them alone.
    """
    return {name: values[:, k] for k, name in enumerate(DIRECTIONS[: values.shape[1]])}


@in_one_pass
def main(
    attention: Path,
    corpus: Path,
    model: Path,
    annotation: Path,
    scores: job.Out,
    bootstrap: int,
    permutations: int,
    seed: int = 1,
) -> Measure:
    """Write each head's means, with intervals over documents, and the comparison with controls.

    For a decoder, from the later side of each link to the earlier one, with `coverage`, the share
    of the links that are counted, and `uniform`, what uniform attention gives.
    """
    links, card = read_links(annotation), read_card(model)
    decoder = is_decoder(card)
    measure = sentence_attention_back if decoder else sentence_attention
    parts: dict[int, list[list[np.ndarray]]] = {}  # of each sentence's layers
    patterns = open_patterns(attention, card)
    patterns.expect([sentence.id for sentence in links], str(annotation))
    documents = patterns.documents(corpus)
    directions = 1 if decoder else len(DIRECTIONS)
    values = np.empty((len(patterns), directions, patterns.n_layers, patterns.n_heads))

    def update(text: CachedExample) -> None:
        sentence = links[text.index]
        check_tokens(text, sentence, decoder)
        values[text.index, :, text.layers] = measure(text, sentence)
        if with_controls := compare(text, sentence, decoder):
            parts.setdefault(text.index, []).append(with_controls)

    def write() -> None:
        joined = {
            k: [np.concatenate(link, 2) for link in zip(*parts[k], strict=True)]
            for k in sorted(parts)
        }
        if not joined:
            raise InputError(
                f"{annotation}: no sentence has unlinked words at a link's distance; use more "
                "sentences"
            )
        frame = per_head(by_direction(values), "direction", "attention", bootstrap, seed, documents)
        if decoder:
            frame["uniform"], frame["coverage"] = uniform_back(patterns, links)
        of_compared = [documents[index] for index in joined]
        differences = comparison([*joined.values()], of_compared, bootstrap, permutations, seed)
        tables.write(frame.merge(differences, on=KEYS, validate="one_to_one"), scores)

    return Measure(patterns, update, write)


if __name__ == "__main__":
    job.run(main, globals())
