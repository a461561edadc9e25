"""The heads above the percentile, and one sentence drawn for each (Kovaleva et al., Figure 3)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.frames import FrameLinks, heads_above, read_links
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.data.wordpieces import names_of_units, to_words, words_of_units
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def draw(example: CachedExample, links: FrameLinks, heads: pd.DataFrame) -> pd.DataFrame:
    """One row per head, query and key.

    Attention among the words of the predicate and its elements is marked.
    """
    index = words_of_units(example.word)
    names = names_of_units(example.word, links.words)
    linked = {*links.target, *(word for element in links.elements for word in element.words)}
    frames = []
    for number, row in enumerate(heads.itertuples()):
        weights = to_words(example.pattern[row.layer, row.head], example.word)
        frame = tables.per_pair(weights, names)
        frames.append(frame.assign(drawing=number, layer=row.layer, head=row.head))
    rows = pd.concat(frames, ignore_index=True)
    rows["highlighted"] = np.isin(index[rows["query"]], list(linked)) & np.isin(
        index[rows["key"]], list(linked)
    )
    title = ", ".join(element.name for element in links.elements)
    return rows.assign(title=f"{links.frame}: {title}", example=links.id)


def main(
    attention: Path,
    model: Path,
    annotation: Path,
    scores: Path,
    drawings: Out,
    table: Out,
    percentile: float,
    seed: int = 1,
) -> None:
    """Write the heads above the percentile, and their attention in one sentence drawn by `seed`."""
    attended = tables.read(scores, ("layer", "head", "direction", "attention"))
    chosen = heads_above(attended, percentile)
    links = read_links(annotation)
    number = int(np.random.default_rng(seed).integers(len(links)))
    with Cache(attention, read_card(model)) as cache:
        cache.expect([sentence.id for sentence in links], str(annotation))
        tables.write(draw(cache[number], links[number], chosen), drawings)
    names = [label(row.layer, row.head) for row in chosen.itertuples()]
    columns = ["attention", "ci_low", "ci_high", "n", "percentile", "threshold", "heads"]
    printed = chosen.assign(name=names)[["name", *columns]].rename(columns={"name": "head"})
    tables.write_csv(printed, table)


if __name__ == "__main__":
    job.run(main, globals())
