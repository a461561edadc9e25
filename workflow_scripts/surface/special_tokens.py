"""Attention to [CLS], [SEP], periods and commas (Clark et al. 2019, section 3.2, Figure 2)."""

from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import per_head

TARGETS = ("cls", "sep", "punctuation", "sep_to_sep", "other_to_sep")


def attention_to(pattern: np.ndarray, keys: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Mean over the chosen queries of the attention summed over the chosen keys, [layer, head].

    `pattern` is [layer, head, query, key]; `keys` and `queries` are bool [L]. NaN where
    no query is chosen.
    """
    if not queries.any():
        return np.full(pattern.shape[:2], np.nan)
    to_keys = pattern.astype(np.float32) @ keys.astype(np.float32)
    return to_keys[..., queries].mean(axis=-1, dtype=np.float64)


def key_masks(ids: np.ndarray, card: dict[str, Any]) -> dict[str, np.ndarray]:
    """The keys of each average of Figure 2, bool [L]; `card` is the model's."""
    sep = ids == card["special"]["sep"]
    return {
        "cls": ids == card["special"]["cls"],
        "sep": sep,
        "punctuation": np.isin(ids, card["punctuation"]),
        "sep_to_sep": sep,
        "other_to_sep": sep,
    }


def attention_to_special(
    pattern: np.ndarray, ids: np.ndarray, card: dict[str, Any]
) -> dict[str, np.ndarray]:
    """The five averages of Figure 2, each [layer, head]; `card` is the model's."""
    masks = key_masks(ids, card)
    queries = {"sep_to_sep": masks["sep"], "other_to_sep": ~masks["sep"]}
    every = np.ones(len(ids), dtype=bool)
    return {
        target: attention_to(pattern, keys, queries.get(target, every))
        for target, keys in masks.items()
    }


def main(
    attention: Path,
    corpus: Path,
    model: Path,
    special_tokens: Out,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write the averages of every head with their intervals.

    Column `uniform` is what attending to all tokens alike gives: the mean share of such tokens,
    for [SEP] twice in 128 tokens 1/64.
    """
    card = read_card(model)
    with Cache(attention, card) as cache:
        documents = cache.documents(corpus)
        shape = (len(cache), cache.n_layers, cache.n_heads)
        values = {target: np.empty(shape) for target in TARGETS}
        uniform = dict.fromkeys(TARGETS, 0.0)
        for index, example in enumerate(job.progress(cache, len(cache), "special tokens")):
            averages = attention_to_special(example.pattern, example.ids, card)
            for target, average in averages.items():
                values[target][index] = average
            for target, keys in key_masks(example.ids, card).items():
                uniform[target] += keys.mean() / len(cache)
    frame = per_head(values, "target", "attention", bootstrap, seed, documents)
    tables.write(frame.assign(uniform=frame["target"].map(uniform)), special_tokens)


if __name__ == "__main__":
    job.run(main, globals())
