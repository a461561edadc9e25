"""Each head's attention between predicates and their core frame elements (Kovaleva et al., 4.2).

Also compared with unlinked words of the same sentences at the same distances.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.frame_links import FrameLinks, read_links
from workflow_scripts.core.data.wordpieces import remedy
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head
from workflow_scripts.core.stats.matched_sets import matched_p_values
from workflow_scripts.frames.link_controls import DIRECTIONS, compare, link_attention

KEYS = ["layer", "head", "direction"]


def of_sentence(example: CachedExample, links: FrameLinks) -> np.ndarray:
    """The mean over the sentence's links, float64 [direction, layer, head]."""
    target = np.flatnonzero(np.isin(example.word, links.target))
    elements = [np.flatnonzero(np.isin(example.word, element.words)) for element in links.elements]
    if not len(target) or not all(map(len, elements)):
        why = remedy([links], [example.word])
        raise InputError(f"{links.source}: a word of a link has no token; {why}")
    attended = [link_attention(example.pattern, target, element) for element in elements]
    means = [[item[name] for name in DIRECTIONS] for item in attended]
    return np.mean(means, axis=0, dtype=np.float64)


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
    """[sentence, layer, head] for each of DIRECTIONS, of [sentence, direction, layer, head]."""
    return {name: values[:, number] for number, name in enumerate(DIRECTIONS)}


def main(
    attention: Path,
    corpus: Path,
    model: Path,
    annotation: Path,
    scores: Out,
    bootstrap: int,
    draws: int,
    seed: int = 1,
) -> None:
    """Write each head's means, with intervals over documents, and the comparison with controls."""
    links = read_links(annotation)
    values, compared, documents_compared = [], [], []
    with Cache(attention, read_card(model)) as cache:
        cache.expect([sentence.id for sentence in links], str(annotation))
        documents = cache.documents(corpus)
        rows = job.progress(zip(cache, links, documents, strict=True), len(cache), "frames")
        for example, sentence, document in rows:
            values.append(of_sentence(example, sentence))
            if with_controls := compare(example, sentence):
                compared.append(with_controls)
                documents_compared.append(document)
    if not compared:
        raise InputError(
            f"{annotation}: no sentence has unlinked words at a link's distance; use more sentences"
        )
    means = by_direction(np.array(values))
    frame = per_head(means, "direction", "attention", bootstrap, seed, documents)
    differences = comparison(compared, documents_compared, bootstrap, draws, seed)
    tables.write(frame.merge(differences, on=KEYS, validate="one_to_one"), scores)


if __name__ == "__main__":
    job.run(main, globals())
