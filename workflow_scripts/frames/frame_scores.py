"""Each head's attention between predicates and their core frame elements (Kovaleva et al., 4.2)."""

from pathlib import Path

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.frames import FrameLinks, read_links
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head

DIRECTIONS = ("either", "from predicate", "to predicate")


def link_attention(
    pattern: np.ndarray, target: np.ndarray, element: np.ndarray
) -> dict[str, np.ndarray]:
    """The maximum attention over the token pairs of one link, [layer, head] for each of DIRECTIONS.

    `pattern` is [layer, head, query, key]; `target` and `element` are indices of tokens.
    """
    out = pattern[:, :, target[:, None], element].max(axis=(-2, -1))
    back = pattern[:, :, element[:, None], target].max(axis=(-2, -1))
    return {"either": np.maximum(out, back), "from predicate": out, "to predicate": back}


def of_sentence(example: CachedExample, links: FrameLinks) -> dict[str, np.ndarray]:
    """The mean over the sentence's links, float64 [layer, head] for each of DIRECTIONS."""
    target = np.flatnonzero(np.isin(example.word, links.target))
    elements = [np.flatnonzero(np.isin(example.word, element.words)) for element in links.elements]
    if not len(target) or not all(map(len, elements)):
        raise InputError(
            f"{links.source}: a word of a link has no token; raise max_tokens of the frames corpus"
        )
    attended = [link_attention(example.pattern, target, element) for element in elements]
    return {
        direction: np.mean([link[direction] for link in attended], axis=0, dtype=np.float64)
        for direction in DIRECTIONS
    }


def main(
    attention: Path, model: Path, annotation: Path, scores: Out, bootstrap: int, seed: int = 1
) -> None:
    """Write each head's mean over the sentences, with intervals over sentences."""
    links = read_links(annotation)
    with Cache(attention, read_card(model)) as cache:
        cache.expect([sentence.id for sentence in links], str(annotation))
        shape = (len(cache), cache.n_layers, cache.n_heads)
        values = {direction: np.empty(shape) for direction in DIRECTIONS}
        pairs = job.progress(zip(cache, links, strict=True), len(cache), "frames")
        for index, (example, sentence) in enumerate(pairs):
            for direction, attended in of_sentence(example, sentence).items():
                values[direction][index] = attended
    frame = per_head(values, "direction", "attention", bootstrap, seed)
    tables.write(frame, scores)


if __name__ == "__main__":
    job.run(main, globals())
