"""Attention along links, and along unlinked words of the same sentence at the same distance.

The controls of a link are the link itself, moved along the sentence: as many words on both sides,
at the same distances and in the same order, so that a head that looks nearby gains nothing by it.
"""

from typing import NamedTuple

import numpy as np

from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.frames import Element, FrameLinks
from workflow_scripts.core.data.wordpieces import word_attention

DIRECTIONS = ("either", "from predicate", "to predicate")
Attention = dict[str, np.ndarray]  # [layer, head] for each of DIRECTIONS


def link_attention(pattern: np.ndarray, target: np.ndarray, element: np.ndarray) -> Attention:
    """The maximum attention over the pairs of one link, in each direction.

    `pattern` is [layer, head, query, key]; `target` and `element` are indices of tokens or words.
    """
    out = pattern[:, :, target[:, None], element].max(axis=(-2, -1))
    back = pattern[:, :, element[:, None], target].max(axis=(-2, -1))
    return {"either": np.maximum(out, back), "from predicate": out, "to predicate": back}


class Place(NamedTuple):
    """Words of a sentence where a link is, or could be."""

    target: tuple[int, ...]
    element: tuple[int, ...]


def controls(links: FrameLinks, element: Element) -> list[Place]:
    """A link moved along the sentence, to every place where it joins no two words of the frame.

    These are the predicate's words and those of its elements, core or not. A place where a word is
    punctuation is left out.
    """
    elements = {word for item in (*links.elements, *links.others) for word in item.words}
    frame = {*links.target, *elements}
    words = {number for number, word in enumerate(links.words) if any(map(str.isalnum, word))}
    places = []
    for shift in range(-len(links.words), len(links.words)):
        target, moved = (tuple(k + shift for k in side) for side in (links.target, element.words))
        joined = frame & {*target} and frame & {*moved}
        if {*target, *moved} <= words and not joined:
            places.append(Place(target, moved))
    return places


def between_words(example: CachedExample) -> tuple[np.ndarray, dict[int, int]]:
    """Mean attention over the pairs of tokens of two words, and the row of each word in it.

    [layer, head, word, word]. Not the maximum, in which words of many tokens would have an
    advantage over words of one.
    """
    attention = word_attention(example.pattern, example.word)
    tokens = np.bincount(example.word[example.word >= 0])[attention.words]
    return attention.among / tokens, {w: row for row, w in enumerate(attention.words.tolist())}


def compare(example: CachedExample, links: FrameLinks) -> list[np.ndarray]:
    """For each link that has controls its attention, then theirs: [place, direction, layer, head].

    Directions are in the order of DIRECTIONS.
    """
    pattern, rows = between_words(example)
    compared = []
    for element in links.elements:
        places = [Place(links.target, element.words), *controls(links, element)]
        attention = [
            link_attention(pattern, *(np.array([rows[word] for word in side]) for side in place))
            for place in places
            if rows.keys() >= {*place.target, *place.element}  # all have tokens
        ]
        if len(attention) > 1:
            compared.append(np.array([[item[name] for name in DIRECTIONS] for item in attention]))
    return compared
