"""Attention along links, and along unlinked words of the same sentence at the same distance.

The controls of a link are the link itself, moved along the sentence: as many words on both sides,
at the same distances and in the same order, so that a head that looks nearby gains nothing by it.
"""

from typing import NamedTuple

import numpy as np

from workflow_scripts.core.data.cache import CachedExample
from workflow_scripts.core.data.decoders import attention_to_earlier
from workflow_scripts.core.data.frame_links import Element, FrameLinks
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
    advantage over words of one. Of a decoder, negative to words that are not earlier.
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


def attention_back(example: CachedExample, sides: LinkWords) -> np.ndarray:
    """The maximum attention from the last tokens of the later words to tokens of the earlier ones.

    [layer, head], of the pattern of `example`, or of another for its tokens.
    """
    asking = [np.flatnonzero(example.word == word)[-1] for word in sides.target]
    answering = np.flatnonzero(np.isin(example.word, sides.element))
    return example.pattern[:, :, np.array(asking)[:, None], answering].max(axis=(-2, -1))


def compare(example: CachedExample, links: FrameLinks, decoder: bool = False) -> list[np.ndarray]:
    """For each link that has controls its attention, then theirs.

    Each is [link or control, direction, layer, head], with directions in the order of DIRECTIONS.
    A decoder has "either" alone, from the later side to the earlier, of links with `sides_back`.
    """
    pattern, rows = between_words(example, decoder)
    names = DIRECTIONS[:1] if decoder else DIRECTIONS
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
            compared.append(np.array([[item[name] for name in names] for item in attention]))
    return compared
