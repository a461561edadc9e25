"""Attention to linguistic features and special tokens (Kovaleva et al., 4.4 and 4.5, Fig. 6-7)."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.examples import Example, read_examples
from workflow_scripts.core.data.trees import Tree, read_trees
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head
from workflow_scripts.finetuning.stages import both_stages
from workflow_scripts.finetuning.token_kinds import KINDS, tokens_of_kinds, words_of_kinds

log = logging.getLogger(__name__)
QUERIES = ("all", "cls")


def attention_to_kind(pattern: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Sum over all queries of the attention to a token, divided by the length: [layer, head].

    Of several chosen tokens (bool [L]) each head's most attended one counts; NaN where none is
    chosen. `pattern` is [layer, head, query, key].
    """
    if not chosen.any():
        return np.full(pattern.shape[:2], np.nan)
    return pattern[..., chosen].mean(axis=-2, dtype=np.float64).max(axis=-1)


def attention_from_cls(pattern: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Attention of the first token, [CLS], to the chosen token with most of it: [layer, head]."""
    if not chosen.any():
        return np.full(pattern.shape[:2], np.nan)
    return pattern[..., 0, chosen].astype(np.float64).max(axis=-1)


def measure(cache: Cache, kinds: list[dict[str, np.ndarray]]) -> dict[str, dict[str, np.ndarray]]:
    """For each of QUERIES and KINDS the attention, [example, layer, head]; NaN without the kind."""
    shape = (len(cache), cache.n_layers, cache.n_heads)
    values = {query: {kind: np.empty(shape) for kind in KINDS} for query in QUERIES}
    for index, example in enumerate(job.progress(cache, len(cache), "features")):
        for kind in KINDS:
            chosen = kinds[index][kind]
            values["all"][kind][index] = attention_to_kind(example.pattern, chosen)
            values["cls"][kind][index] = attention_from_cls(example.pattern, chosen)
    return values


def kinds_of(
    cache: Cache, examples: list[Example], trees: list[Tree], card: dict
) -> list[dict[str, np.ndarray]]:
    """The tokens of each kind, for every example of a cache."""
    cache.expect([example.id for example in examples], "the task's examples")
    words = [words_of_kinds(tree, example) for tree, example in zip(trees, examples, strict=True)]
    return [
        tokens_of_kinds(kinds, cached.word, cached.ids, card)
        for kinds, cached in zip(words, cache, strict=True)
    ]


def main(
    body: Path,
    tuned: Path,
    model: Path,
    card: Path,
    examples: Path,
    annotation: Path,
    features: Out,
    task: str,
    seed: int,
    bootstrap: int,
) -> None:
    """Write, for both stages, each head's attention to each kind.

    `n_without` counts the examples without the kind.
    """
    corpus, trees, frames = read_examples(examples), read_trees(annotation), []
    for stage, cache, stage_card in both_stages(body, tuned, model, card):
        kinds = kinds_of(cache, corpus, trees, stage_card)
        for query, values in measure(cache, kinds).items():
            frame = per_head(values, "kind", "attention", bootstrap, seed)
            frames.append(frame.assign(stage=stage, query=query))
    frame = pd.concat(frames, ignore_index=True).assign(task=task, seed=seed)
    frame["n_without"] = len(corpus) - frame["n"]
    first = frame[(frame["layer"] == 0) & (frame["head"] == 0) & (frame["stage"] == "pretrained")]
    for row in first[first["query"] == "all"].itertuples():
        log.info("%s: in %d examples, not in %d", row.kind, row.n, row.n_without)
    tables.write(frame, features)


if __name__ == "__main__":
    job.run(main, globals())
