"""Attention to [CLS], [SEP], periods and commas (Clark et al. 2019, section 3.2, Figure 2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample
from workflow_scripts.core.data.wordpieces import is_decoder, uniform_attention
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass, mean_per_segment
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import per_head


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
    """The keys of each average of Figure 2, bool [L]; `card` is the model's.

    For a decoder the first token, whatever it is, takes the place of [CLS].
    """
    if is_decoder(card):
        first = np.arange(len(ids)) == 0
        return {"first": first, "punctuation": np.isin(ids, card["punctuation"]) & ~first}
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
    """The averages of Figure 2, each [layer, head]; the first token of a decoder is no query."""
    masks = key_masks(ids, card)
    every = np.ones(len(ids), dtype=bool)
    if is_decoder(card):
        every[0], queries = False, {}
    else:
        queries = {"sep_to_sep": masks["sep"], "other_to_sep": ~masks["sep"]}
    return {
        target: attention_to(pattern, keys, queries.get(target, every))
        for target, keys in masks.items()
    }


def uniform_to_special(segments: Sequence[np.ndarray], card: dict[str, Any]) -> dict[str, float]:
    """What `attention_to_special` gives where attention is uniform: means over `segments`, ids [L].

    Those of a decoder that have a single token are left out.
    """
    if is_decoder(card):
        several = [ids for ids in segments if len(ids) > 1]
        shares = [attention_to_special(uniform_attention(len(ids)), ids, card) for ids in several]
    else:
        several = segments
        shares = [{to: keys.mean() for to, keys in key_masks(ids, card).items()} for ids in several]
    return {
        target: float(sum(share[target].item() / len(several) for share in shares))
        for target in shares[0]
    }


@in_one_pass
def main(
    attention: Path,
    corpus: Path,
    model: Path,
    special_tokens: job.Out,
    bootstrap: int,
    seed: int = 1,
) -> Measure:
    """Write the averages of every head with their intervals.

    Column `uniform` is what attending to all tokens alike gives: the mean share of such tokens,
    for [SEP] twice in 128 tokens 1/64. For a decoder: the mean share of such tokens among those up
    to a query.
    """
    card = read_card(model)
    patterns = open_patterns(attention, card)
    documents = patterns.documents(corpus)

    def averages(text: CachedExample) -> dict[str, np.ndarray]:
        return attention_to_special(text.pattern, text.ids, card)

    def write(values: dict[str, np.ndarray]) -> None:
        segments = [patterns.tokens(index)["ids"] for index in range(len(patterns))]
        uniform = uniform_to_special(segments, card)
        frame = per_head(values, "target", "attention", bootstrap, seed, documents, by_unit=True)
        tables.write(frame.assign(uniform=frame["target"].map(uniform)), special_tokens)

    return mean_per_segment(patterns, documents, averages, write)


if __name__ == "__main__":
    job.run(main, globals())
