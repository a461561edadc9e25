"""Attention between words of one sentence: verb and subject, pronoun and noun (Kovaleva, 4.5)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.trees import Tree, read_trees
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head
from workflow_scripts.finetuning.stages import both_stages
from workflow_scripts.finetuning.token_kinds import sentences_of, word_links

BACK = {"verb-subject": "subject-verb", "pronoun-noun": "noun-pronoun"}  # the reverse of each
LINKS = tuple(name for pair in BACK.items() for name in pair)
FAR = 2  # wordpieces; closer tokens are neighbours


def link_attention(pattern: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Maximum attention from the chosen queries to the chosen keys (int arrays), [layer, head]."""
    return pattern[:, :, queries[:, None], keys].max(axis=(-2, -1)).astype(np.float64)


@dataclass(frozen=True)
class Link:
    """How far a link's tokens are apart, and attention along and against it, [layer, head]."""

    distance: int
    along: np.ndarray
    against: np.ndarray


def links_of(example: CachedExample, pairs: Iterable[tuple[int, int]]) -> list[Link]:
    """The links between pairs of words of one example; pairs with truncated words are left out."""
    links = []
    for first, second in pairs:
        a, b = np.flatnonzero(example.word == first), np.flatnonzero(example.word == second)
        if len(a) and len(b):
            distance = int(np.abs(a[:, None] - b).min())
            along = link_attention(example.pattern, a, b)
            links.append(Link(distance, along, link_attention(example.pattern, b, a)))
    return links


def neighbours(pattern: np.ndarray) -> np.ndarray:
    """Mean attention to the previous and next token together, [layer, head]."""
    length = pattern.shape[-1]
    before = np.diagonal(pattern, -1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    after = np.diagonal(pattern, 1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    return (before + after) / length


def measure(cache: Cache, trees: list[Tree]) -> tuple[dict[bool, dict], np.ndarray, dict]:
    """Attention [example, layer, head] by distance and link; to neighbours; links counted.

    An example's value is the mean over its links, NaN where it has none; under the key True, over
    those whose tokens are FAR or more apart.
    """
    shape = (len(cache), cache.n_layers, cache.n_heads)
    values = {far: {link: np.full(shape, np.nan) for link in LINKS} for far in (False, True)}
    diagonal, counts = np.empty(shape), {far: dict.fromkeys(LINKS, 0) for far in (False, True)}
    for index, example in enumerate(job.progress(cache, len(cache), "links")):
        diagonal[index] = neighbours(example.pattern)
        for link, pairs in word_links(trees[index], sentences_of(trees[index])).items():
            links = links_of(example, pairs)
            for far in (False, True):
                kept = [each for each in links if not far or each.distance >= FAR]
                for name in (link, BACK[link]):
                    counts[far][name] += len(kept)
                if kept:
                    along, against = [each.along for each in kept], [each.against for each in kept]
                    values[far][link][index] = np.mean(along, axis=0)
                    values[far][BACK[link]][index] = np.mean(against, axis=0)
    return values, diagonal, counts


def main(
    body: Path,
    tuned: Path,
    model: Path,
    card: Path,
    examples: Path,
    annotation: Path,
    links: Out,
    task: str,
    seed: int,
    bootstrap: int,
) -> None:
    """Write both stages' attention along all links, and along those FAR or more apart."""
    ids = [example.id for example in read_examples(examples)]
    trees, frames = read_trees(annotation), []
    for stage, cache, _ in both_stages(body, tuned, model, card):
        cache.expect(ids, str(examples))
        values, diagonal, counts = measure(cache, trees)
        near = diagonal.mean(axis=0).ravel()
        for far, by_link in values.items():
            frame = per_head(by_link, "link", "attention", bootstrap, seed)
            frame["links"] = frame["link"].map(counts[far])
            frame["neighbours"] = np.tile(near, len(LINKS))
            frames.append(frame.assign(stage=stage, far=far))
    tables.write(pd.concat(frames, ignore_index=True).assign(task=task, seed=seed), links)


if __name__ == "__main__":
    job.run(main, globals())
