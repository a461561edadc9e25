"""Attention to linguistic features and special tokens (Kovaleva et al., 4.4 and 4.5, Fig. 6-7)."""

import numpy as np
import pandas as pd

from workflow_scripts.core.stats.intervals import INDEPENDENT, per_head
from workflow_scripts.finetuning.token_kinds import KINDS

QUERIES = ("all", "cls")


def largest_attention(attention: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Each head's attention to the most attended of the chosen tokens, [layer, head].

    `attention` is [layer, head, key], `chosen` bool [key]; NaN where no token is chosen.
    """
    if not chosen.any():
        return np.full(attention.shape[:2], np.nan)
    return attention[..., chosen].max(axis=-1)


def attention_to_tokens(pattern: np.ndarray) -> dict[str, np.ndarray]:
    """For each of QUERIES the attention to every token, float64 [layer, head, key].

    From all queries: their sum, divided by the length; from the first token, [CLS]. `pattern` is
    [layer, head, query, key].
    """
    return {
        "all": pattern.mean(axis=-2, dtype=np.float64),
        "cls": pattern[..., 0, :].astype(np.float64),
    }


class KindAttention:
    """For each of QUERIES and KINDS the attention of a cache's examples.

    `values` is the attention to the most attended token of the kind, NaN without one; `shares` is
    the attention to all of them together, 0 without one, and `tokens` their share of the tokens,
    which uniform attention would give them. `shape` is (examples, layers, heads).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.values, self.shares = (
            {query: {kind: np.empty(shape) for kind in KINDS} for query in QUERIES}
            for _ in range(2)
        )
        self.tokens = {kind: np.empty(shape[0]) for kind in KINDS}

    def add(self, index: int, pattern: np.ndarray, kinds: dict[str, np.ndarray]) -> None:
        """Measure example `index`, whose tokens of each kind are `kinds`, bool [L]."""
        for kind in KINDS:
            self.tokens[kind][index] = kinds[kind].mean()
        for query, attention in attention_to_tokens(pattern).items():
            for kind in KINDS:
                self.values[query][kind][index] = largest_attention(attention, kinds[kind])
                self.shares[query][kind][index] = attention[..., kinds[kind]].sum(axis=-1)

    def table(self, draws: int, seed: int) -> pd.DataFrame:
        """A row per query, kind and head; `n_without` counts the examples without the kind.

        `attention` is a mean over the examples with the kind, `share` and `tokens` over all.
        """
        frames = []
        for query in QUERIES:
            frame = per_head(self.values[query], "kind", "attention", draws, seed, INDEPENDENT)
            shares = per_head(self.shares[query], "kind", "share", draws, seed, INDEPENDENT)
            frame[["share", "share_low", "share_high"]] = shares[["share", "ci_low", "ci_high"]]
            frames.append(frame.assign(query=query))
        frame = pd.concat(frames, ignore_index=True)
        frame["tokens"] = frame["kind"].map({name: of.mean() for name, of in self.tokens.items()})
        return frame.assign(n_without=len(self.tokens["cls"]) - frame["n"])
