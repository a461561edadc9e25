"""Each head's attention between predicates and their core frame elements (Kovaleva et al., 4.2).

Also compared with unlinked words of the same sentences at the same distances.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.decoders import is_decoder, uniform_attention
from workflow_scripts.core.data.frame_links import FrameLinks, read_links
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.wordpieces import remedy
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head
from workflow_scripts.core.stats.matched_sets import matched_p_values
from workflow_scripts.frames.link_controls import (
    DIRECTIONS,
    attention_back,
    compare,
    link_attention,
    sides_back,
)

KEYS = ["layer", "head", "direction"]


def of_sentence(example: CachedExample, links: FrameLinks) -> np.ndarray:
    """The mean over the sentence's links, float64 [direction, layer, head]."""
    target = np.flatnonzero(np.isin(example.word, links.target))
    elements = [np.flatnonzero(np.isin(example.word, element.words)) for element in links.elements]
    attended = [link_attention(example.pattern, target, element) for element in elements]
    means = [[item[name] for name in DIRECTIONS] for item in attended]
    return np.mean(means, axis=0, dtype=np.float64)


def of_sentence_back(example: CachedExample, links: FrameLinks) -> np.ndarray:
    """The mean over the sentence's links that a decoder can follow, float64 [1, layer, head].

    From the later side of each to the earlier one; NaN where there is none.
    """
    sides = [sides_back(links, element, int(example.word[0])) for element in links.elements]
    attended = [attention_back(example, each) for each in sides if each is not None]
    if not attended:
        return np.full((1, *example.pattern.shape[:2]), np.nan)
    return np.mean(attended, axis=0, dtype=np.float64)[None]


def uniform_of(cache: Patterns, links: Sequence[FrameLinks]) -> tuple[float, float]:
    """What `of_sentence_back` gives if attention is uniform, and the share of links that count."""
    means, counted, n = [], 0, 0
    for index, sentence in enumerate(links):
        tokens = cache.tokens(index)
        pattern = uniform_attention(len(tokens["word"]))
        means.append(
            of_sentence_back(CachedExample("", pattern=pattern, **tokens), sentence).item()
        )
        first = int(tokens["word"][0])
        counted += sum(sides_back(sentence, each, first) is not None for each in sentence.elements)
        n += len(sentence.elements)
    return float(np.nanmean(means)), counted / n


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
    difference = by_direction(linked - control)
    frame = per_head(difference, "direction", "difference", bootstrap, seed, documents)
    frame = frame.rename(columns={"ci_low": "difference_low", "ci_high": "difference_high"})
    frame = frame.rename(columns={"n": "n_compared", "n_documents": "n_documents_compared"})
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
    scores: Out,
    bootstrap: int,
    draws: int,
    seed: int = 1,
) -> Measure:
    """Write each head's means, with intervals over documents, and the comparison with controls.

    Of a decoder, from the later side of each link to the earlier one, with `coverage`, the share of
    the links that are counted, and `uniform`, what uniform attention gives.
    """
    links, card = read_links(annotation), read_card(model)
    decoder = is_decoder(card)
    measure = of_sentence_back if decoder else of_sentence
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
        compared, of_compared = list(joined.values()), [documents[index] for index in joined]
        if not compared:
            raise InputError(
                f"{annotation}: no sentence has unlinked words at a link's distance; use more "
                "sentences"
            )
        means = by_direction(values)
        frame = per_head(means, "direction", "attention", bootstrap, seed, documents)
        if decoder:
            uniform, coverage = uniform_of(patterns, links)
            frame = frame.assign(uniform=uniform, coverage=coverage)
        differences = comparison(compared, of_compared, bootstrap, draws, seed)
        tables.write(frame.merge(differences, on=KEYS, validate="one_to_one"), scores)

    return Measure(patterns, update, write)


if __name__ == "__main__":
    job.run(main, globals())
