"""Attention between words of one sentence: verb and subject, pronoun and noun (Kovaleva, 4.5)."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core import job, tables
from workflow_scripts.core.cache import Cache, CachedExample
from workflow_scripts.core.cards import read_card
from workflow_scripts.core.examples import read_examples
from workflow_scripts.core.job import Out
from workflow_scripts.core.trees import Tree, read_trees
from workflow_scripts.finetuning.kinds import sentences_of, word_links

LINKS = ("verb-subject", "subject-verb", "pronoun-noun", "noun-pronoun")
FAR = 2  # wordpieces apart from which a link is no neighbourhood


def link_attention(pattern: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Most attention from a chosen query to a chosen key, [layer, head] (both int arrays)."""
    return pattern[:, :, queries[:, None], keys].max(axis=(-2, -1)).astype(np.float64)


def of_example(
    example: CachedExample, pairs: Iterable[tuple[int, int]], far: bool
) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean attention along and against the links of one example, [layer, head] each, and how many.

    With `far` only links whose tokens are FAR or more apart count. NaN where there is none.
    """
    along, against = [], []
    for one, other in pairs:
        a, b = np.flatnonzero(example.word == one), np.flatnonzero(example.word == other)
        if not len(a) or not len(b):
            continue  # the word was cut off
        if far and np.abs(a[:, None] - b).min() < FAR:
            continue
        along.append(link_attention(example.pattern, a, b))
        against.append(link_attention(example.pattern, b, a))
    if not along:
        nothing = np.full(example.pattern.shape[:2], np.nan)
        return nothing, nothing, 0
    return np.mean(along, axis=0), np.mean(against, axis=0), len(along)


def neighbours(pattern: np.ndarray) -> np.ndarray:
    """Mean attention to the previous and next token together, [layer, head]."""
    length = pattern.shape[-1]
    before = np.diagonal(pattern, -1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    after = np.diagonal(pattern, 1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    return (before + after) / length


def measure(cache: Cache, trees: list[Tree]) -> tuple[dict[str, dict], np.ndarray, dict]:
    """Attention [example, layer, head] by distance and link; to neighbours; links counted."""
    shape = (len(cache), cache.n_layers, cache.n_heads)
    values = {far: {link: np.empty(shape) for link in LINKS} for far in (False, True)}
    diagonal, counts = np.empty(shape), {far: dict.fromkeys(LINKS, 0) for far in (False, True)}
    for index, example in enumerate(job.progress(cache, len(cache), "links")):
        found = word_links(trees[index], sentences_of(trees[index]))
        diagonal[index] = neighbours(example.pattern)
        for far in (False, True):
            for number, pairs in enumerate(found.values()):
                names = LINKS[2 * number : 2 * number + 2]
                *both, n = of_example(example, pairs, far)
                for name, attention in zip(names, both, strict=True):
                    values[far][name][index] = attention
                    counts[far][name] += n
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
    """Write both stages' attention along the links: of all, and of those FAR apart."""
    ids, trees, frames = [one.id for one in read_examples(examples)], read_trees(annotation), []
    for stage, path, its_card in (("pretrained", body, model), ("fine-tuned", tuned, card)):
        with Cache(path, read_card(its_card)) as cache:
            cache.expect(ids, str(examples))
            values, diagonal, counts = measure(cache, trees)
        near = diagonal.mean(axis=0).ravel()
        for far, by_link in values.items():
            frame = tables.per_head(by_link, "link", "attention", bootstrap, seed)
            frame["links"] = frame["link"].map(counts[far])
            frame["neighbours"] = np.tile(near, len(LINKS))
            frames.append(frame.assign(stage=stage, far=far))
    tables.write(pd.concat(frames, ignore_index=True).assign(task=task, seed=seed), links)


if __name__ == "__main__":
    job.run(main, globals())
