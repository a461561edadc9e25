"""Attention to other occurrences of the same word, and to other words as far away."""

from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample
from workflow_scripts.core.data.wordpieces import is_decoder, without_first
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import bootstrap_accuracy

# Each number with the ends of its interval; of the same tokens.
COLUMNS = [
    ("attention", "ci_low", "ci_high"),
    *((name, f"{name}_low", f"{name}_high") for name in ("other", "difference")),
]


def word_types(ids: np.ndarray, word: np.ndarray, card: dict[str, Any]) -> np.ndarray:
    """A number for each token's word, int [L], the same for words of the same wordpieces.

    -1 is none: special tokens, periods and commas, and the first word of a decoder, on which most
    heads rest. `ids` and `word` are int [L].
    """
    if is_decoder(card):
        word = without_first(word)
    found, types = np.full(len(ids), -1), {}
    for index in np.unique(word[(word >= 0) & ~np.isin(ids, card["punctuation"])]):
        spelled = tuple(ids[word == index])
        found[word == index] = types.setdefault(spelled, len(types))
    return found


def pair_weights(ids: np.ndarray, word: np.ndarray, card: dict[str, Any]) -> tuple[np.ndarray, int]:
    """What each pair of tokens counts, float32 [2, L, L] (query, key), and how many queries ask.

    The first counts each query's copies: tokens of other occurrences of its word, of a decoder
    earlier ones. The second gives each copy's weight to the pairs at its distance whose key is of
    another word that is repeated, too, in equal parts. A copy without such a pair is left out.
    """
    types, length = word_types(ids, word, card), len(ids)
    known = (types[:, None] >= 0) & (types >= 0)
    if is_decoder(card):
        known &= np.tri(length, k=-1, dtype=bool)
    same = types[:, None] == types
    copies = known & same & (word[:, None] != word)
    repeated = (same & (types >= 0) & (word[:, None] != word)).any(axis=0)
    others = known & ~same & repeated
    distance = np.arange(length) - np.arange(length)[:, None] + length - 1
    n_others = np.bincount(distance[others], minlength=2 * length)
    copies &= n_others[distance] > 0
    n_copies = np.bincount(distance[copies], minlength=2 * length)
    share = n_copies / np.maximum(n_others, 1)
    weights = np.stack([copies, others * share[distance]]).astype(np.float32)
    return weights, int(copies.any(axis=1).sum())


@in_one_pass
def main(
    attention: Path,
    corpus: Path,
    model: Path,
    same_word: job.Out,
    bootstrap: int,
    seed: int = 1,
) -> Measure:
    """Write each head's mean weight on copies of a token's word, and on other words as far away.

    The means are over the `n` tokens whose word occurs elsewhere in the text, of a decoder earlier.
    `difference` is of the same tokens; intervals resample documents.
    """
    card = read_card(model)
    patterns = open_patterns(attention, card)
    units = tables.document_units(patterns.documents(corpus))
    n_queries = np.zeros(units.max() + 1, int)
    sums = np.zeros((len(n_queries), patterns.n_layers, patterns.n_heads, 2))

    def update(text: CachedExample) -> None:
        weights, n = pair_weights(text.ids, text.word, card)
        pattern, unit = text.pattern.astype(np.float32), units[text.index]
        sums[unit, text.layers] += np.einsum("lhqk,wqk->lhw", pattern, weights, optimize=True)
        n_queries[unit] += n if text.is_first else 0

    def write() -> None:
        numbers = np.concatenate([sums, sums[..., :1] - sums[..., 1:]], axis=-1)
        total = np.repeat(n_queries[:, None], len(COLUMNS), axis=1)
        means = np.stack(bootstrap_accuracy(numbers, total, bootstrap, seed))
        columns = {
            name: means[end, ..., k]
            for k, names in enumerate(COLUMNS)
            for end, name in enumerate(names)
        }
        axes = {"layer": range(patterns.n_layers), "head": range(patterns.n_heads)}
        counts = {"n": n_queries.sum(), "n_documents": np.count_nonzero(n_queries)}
        tables.write(tables.tidy(axes, **columns, **counts), same_word)

    return Measure(patterns, update, write, units=lambda: {"same_word": (sums[..., 0], n_queries)})


if __name__ == "__main__":
    job.run(main, globals())
