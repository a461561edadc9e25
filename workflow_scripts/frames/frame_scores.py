"""Each head's attention between predicates and their core frame elements (Kovaleva et al., 4.2).

Also compared with unlinked words of the same sentences at the same distances.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.frames import FrameLinks, read_links
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head
from workflow_scripts.core.stats.mean_tests import mean_p_values
from workflow_scripts.frames.link_controls import (
    DIRECTIONS,
    Attention,
    compare,
    link_attention,
    mean_of,
)

KEYS = ["layer", "head", "direction"]


def of_sentence(example: CachedExample, links: FrameLinks) -> Attention:
    """The mean over the sentence's links, float64 [layer, head] for each of DIRECTIONS."""
    target = np.flatnonzero(np.isin(example.word, links.target))
    elements = [np.flatnonzero(np.isin(example.word, element.words)) for element in links.elements]
    if not len(target) or not all(map(len, elements)):
        raise InputError(
            f"{links.source}: a word of a link has no token; raise max_tokens of the frames corpus"
        )
    return mean_of([link_attention(example.pattern, target, element) for element in elements])


def comparison(
    linked: Attention, control: Attention, documents: list[str], draws: int, seed: int
) -> pd.DataFrame:
    """One row per head and direction: means along links and controls, their difference, p-values.

    `linked` and `control` are [sentence, layer, head], of sentences with a control. The p-values
    are corrected for the number of heads, in each direction apart.
    """
    differences = {name: linked[name] - control[name] for name in DIRECTIONS}
    frame = per_head(differences, "direction", "difference", draws, seed, documents)
    frame = frame.rename(columns={"ci_low": "difference_low", "ci_high": "difference_high"})
    frame = frame.rename(columns={"n": "n_compared", "n_documents": "n_documents_compared"})
    for column, values in (("linked", linked), ("control", control)):
        frame[column] = np.concatenate([values[name].mean(axis=0).ravel() for name in DIRECTIONS])
    flat = [differences[name].reshape(len(documents), -1) for name in DIRECTIONS]
    tested = [mean_p_values(values, draws, seed, documents) for values in flat]
    frame["p"], frame["p_corrected"] = (np.concatenate(p) for p in zip(*tested, strict=True))
    return frame


def main(
    attention: Path,
    corpus: Path,
    model: Path,
    annotation: Path,
    scores: Out,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write each head's means, with intervals over documents, and the comparison with controls."""
    links = read_links(annotation)
    values, compared = [], {}
    with Cache(attention, read_card(model)) as cache:
        cache.expect([sentence.id for sentence in links], str(annotation))
        documents = cache.documents(corpus)
        pairs = job.progress(zip(cache, links, strict=True), len(cache), "frames")
        for index, (example, sentence) in enumerate(pairs):
            values.append(of_sentence(example, sentence))
            if (result := compare(example, sentence)) is not None:
                compared[index] = result
    if not compared:
        raise InputError(
            f"{annotation}: no sentence has unlinked words at a link's distance; use more sentences"
        )
    frame = per_head(stacked(values), "direction", "attention", bootstrap, seed, documents)
    linked, control = (
        stacked([getattr(result, side) for result in compared.values()])
        for side in ("linked", "control")
    )
    theirs = [documents[index] for index in compared]
    beside = comparison(linked, control, theirs, bootstrap, seed)
    beside["links_compared"] = sum(result.links for result in compared.values())
    tables.write(frame.merge(beside, on=KEYS, validate="one_to_one"), scores)


def stacked(values: list[Attention]) -> Attention:
    """[sentence, layer, head] of the sentences' attention, for each of DIRECTIONS."""
    return {name: np.stack([value[name] for value in values]) for name in DIRECTIONS}


if __name__ == "__main__":
    job.run(main, globals())
