"""Attention to the same, the previous and the next token (Clark et al. 2019, section 3.1)."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.patterns import CachedExample
from workflow_scripts.core.data.wordpieces import is_decoder, uniform_attention
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass, mean_per_segment
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import per_head

OFFSETS = {"self": 0, "previous": -1, "next": 1}
OF_DECODERS = ("self", "previous")


def attention_at(pattern: np.ndarray, offset: int) -> np.ndarray:
    """Mean attention from each token to the one `offset` tokens later, [layer, head].

    `pattern` is [layer, head, query, key]. Queries without such a key are left out; NaN where
    no query has one.
    """
    diagonal = np.diagonal(pattern, offset, axis1=2, axis2=3)
    if diagonal.shape[-1] == 0:
        return np.full(pattern.shape[:2], np.nan)
    return diagonal.mean(axis=-1, dtype=np.float64)


def attention_back(pattern: np.ndarray, offset: int) -> np.ndarray:
    """`attention_at` of a decoder, whose first token is no query; `offset` is at most 0."""
    return attention_at(pattern[:, :, 1:], 1 + offset)


def heads_above(frame: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """The heads that put more than `threshold` on one target, strongest first."""
    above = frame[frame["attention"] > threshold]
    above = above.sort_values(["target", "attention"], ascending=[True, False])
    columns = ["target", "head", "attention", "ci_low", "ci_high", "n", "n_documents"]
    columns += [column for column in ["uniform"] if column in frame]
    return above.assign(head=head_labels(above))[columns]


@in_one_pass
def main(
    attention: Path,
    corpus: Path,
    model: Path,
    position: job.Out,
    above: job.Out,
    threshold: float,
    bootstrap: int,
    seed: int = 1,
) -> Measure:
    """Write the averages of every head, and the list of heads above `threshold`.

    For a decoder, without the next token. Column `uniform` is then what uniform attention gives:
    the mean of 1/i over the tokens at position i.
    """
    card = read_card(model)
    measured = attention_back if is_decoder(card) else attention_at
    offsets = {to: OFFSETS[to] for to in (OF_DECODERS if is_decoder(card) else OFFSETS)}
    patterns = open_patterns(attention, card)
    documents, lengths = patterns.documents(corpus), patterns.lengths

    def averages(text: CachedExample) -> dict[str, np.ndarray]:
        return {target: measured(text.pattern, offset) for target, offset in offsets.items()}

    def write(values: dict[str, np.ndarray]) -> None:
        frame = per_head(values, "target", "attention", bootstrap, seed, documents)
        if is_decoder(card):
            uniform = {
                target: np.nanmean([measured(uniform_attention(n), at).item() for n in lengths])
                for target, at in offsets.items()
            }
            frame = frame.assign(uniform=frame["target"].map(uniform))
        tables.write(frame, position)
        tables.write_csv(heads_above(frame, threshold), above)

    return mean_per_segment(patterns, documents, averages, write)


if __name__ == "__main__":
    job.run(main, globals())
