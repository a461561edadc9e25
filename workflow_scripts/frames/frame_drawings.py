"""Attention of the heads that stand out, in one sentence (Kovaleva et al. 2019, Figure 3)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import FrameLinks, frame_heads, read_links
from workflow_scripts.core.data.cache import CachedExample, open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.wordpieces import (
    is_decoder,
    names_of_units,
    to_words,
    words_of_units,
)
from workflow_scripts.core.run import job
from workflow_scripts.frames.frame_scores import DIRECTIONS

MAX_DRAWN = 4


def draw(
    example: CachedExample, links: FrameLinks, heads: pd.DataFrame, decoder: bool
) -> pd.DataFrame:
    """One row per head, query and key.

    `highlighted` is attention between the predicate and its elements.
    """
    index = words_of_units(example.word)
    names = names_of_units(example.word, links.words, decoder)
    frames = []
    for number, row in enumerate(heads.itertuples()):
        weights = to_words(example.pattern[row.layer, row.head], example.word, last=decoder)
        frame = tables.per_pair(weights, names)
        frames.append(frame.assign(drawing=number, layer=row.layer, head=row.head))
    rows = pd.concat(frames, ignore_index=True)
    elements = [word for element in links.elements for word in element.words]
    target, element = np.isin(index, links.target), np.isin(index, elements)
    query, key = rows["query"].to_numpy(), rows["key"].to_numpy()
    rows["highlighted"] = (target[query] & element[key]) | (element[query] & target[key])
    title = ", ".join(element.name for element in links.elements)
    return rows.assign(title=f"{links.frame}: {title}", example=links.id)


def directions_of(scores: pd.DataFrame) -> list[str]:
    """The directions that are measured: of a decoder "either" alone, to the earlier side."""
    return [name for name in DIRECTIONS if name in set(scores["direction"])]


def heads_above(scores: pd.DataFrame, percentile: float, direction: str) -> pd.DataFrame:
    """The heads whose attention exceeds the percentile of all heads', most attention first.

    `count_fixed` is how many these are, whatever the values, if no two are equal.
    """
    rows = scores[scores["direction"] == direction]
    threshold = np.percentile(rows["attention"], percentile)
    chosen = rows[rows["attention"] > threshold].sort_values("attention", ascending=False)
    fixed = len(rows) - 1 - int((len(rows) - 1) * percentile / 100)
    chosen = chosen.assign(percentile=percentile, threshold=threshold)
    return chosen.assign(heads=len(rows), count_fixed=fixed)


def main(
    attention: Path,
    model: Path,
    annotation: Path,
    scores: Path,
    drawings: job.Out,
    percentile: float,
    seed: int = 1,
) -> None:
    """Write the attention of a few heads in one sentence, which `seed` draws.

    First those above the percentile, then those most above their controls.
    """
    frame = tables.read(scores)
    heads = pd.concat([heads_above(frame, percentile, "either"), frame_heads(frame)])
    chosen = heads.drop_duplicates(["layer", "head"]).head(MAX_DRAWN)
    links = read_links(annotation)
    number = int(np.random.default_rng(seed).integers(len(links)))
    card = read_card(model)
    with open_patterns(attention, card) as cache:
        cache.expect([sentence.id for sentence in links], str(annotation))
        tables.write(draw(cache[number], links[number], chosen, is_decoder(card)), drawings)


if __name__ == "__main__":
    job.run(main, globals())
