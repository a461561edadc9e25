"""Entropy of each head's attention distributions (Clark et al. 2019, section 3.3, Figure 4)."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.patterns import CachedExample, row_entropy
from workflow_scripts.core.data.wordpieces import is_decoder
from workflow_scripts.core.measures.one_pass import Measure, in_one_pass, mean_per_segment
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import per_head

MEASURES = ("entropy", "largest", "at_most_tenth")
# For a decoder: `relative` is entropy as a share of its largest value, which is log i.
OF_DECODERS = (*MEASURES, "relative")


def measures_of(pattern: np.ndarray) -> dict[str, np.ndarray]:
    """MEASURES of each query's distribution, [layer, head, query] of [layer, head, query, key].

    `largest` is the largest weight on a single token, `at_most_tenth` is 1 where it is 10% or less.
    """
    largest = pattern.max(axis=-1).astype(np.float32)
    at_most_tenth = (largest <= np.float16(0.1)).astype(np.float32)
    return dict(zip(MEASURES, (row_entropy(pattern), largest, at_most_tenth), strict=True))


def uniform_of_decoder(lengths: np.ndarray) -> dict[str, float]:
    """The mean over segments of these lengths of OF_DECODERS if attention is uniform."""
    seen = [np.arange(2, length + 1) for length in lengths if length > 1]
    nulls = {
        "entropy": [np.log(n).mean() for n in seen],
        "largest": [(1 / n).mean() for n in seen],
        "at_most_tenth": [(n >= 10).mean() for n in seen],
        "relative": [1.0],
    }
    return {measure: float(np.mean(of_segments)) for measure, of_segments in nulls.items()}


def means_of(text: CachedExample, card: dict[str, Any]) -> dict[tuple[str, str], np.ndarray]:
    """Each measure's mean over all queries, and of an encoder from [CLS], [layer, head]; or NaN."""
    if is_decoder(card):
        if len(text.ids) == 1:
            return {(measure, "all"): np.array(np.nan) for measure in OF_DECODERS}
        rows = measures_of(text.pattern[..., 1:, :])  # the first query sees itself alone
        rows["relative"] = rows["entropy"] / np.log(np.arange(2, len(text.ids) + 1))
        return {(name, "all"): each.mean(axis=-1, dtype=np.float64) for name, each in rows.items()}
    cls, means = text.ids == card["special"]["cls"], {}
    for measure, rows in measures_of(text.pattern).items():
        means[measure, "all"] = rows.mean(axis=-1, dtype=np.float64)
        means[measure, "cls"] = rows[..., cls].mean(axis=-1) if cls.any() else np.array(np.nan)
    return means


@in_one_pass
def main(
    attention: Path,
    corpus: Path,
    model: Path,
    entropy: job.Out,
    table: job.Out,
    broad: float,
    bootstrap: int,
    seed: int = 1,
) -> Measure:
    """Write each head's mean entropy and largest weight, over all queries and from [CLS].

    Column `uniform` is the entropy of attending to all tokens alike: the mean of log L. The table
    lists the heads with an entropy above `broad` nats.

    For a decoder, the first token is no query, and the table lists the heads with a mean share of
    the largest possible entropy, log i at position i, above `broad`. Column `uniform` is the mean
    of log i; `largest_uniform` and `at_most_tenth_uniform` are what uniform attention gives, too.
    """
    card = read_card(model)
    decoder = is_decoder(card)
    patterns = open_patterns(attention, card)
    documents = patterns.documents(corpus)

    def write(values: dict[tuple[str, str], np.ndarray]) -> None:
        def rows(measure: str) -> pd.DataFrame:
            of_measure = {query: each for (name, query), each in values.items() if name == measure}
            return per_head(of_measure, "query", measure, bootstrap, seed, documents, by_unit=True)

        lengths = patterns.lengths
        uniform = uniform_of_decoder(lengths) if decoder else {"entropy": np.log(lengths).mean()}
        frame = rows("entropy").assign(uniform=float(uniform["entropy"]))
        for measure in OF_DECODERS[1:] if decoder else MEASURES[1:]:
            others = rows(measure)
            frame[[measure, f"{measure}_sums"]] = others[[measure, "sums"]]
            frame[f"{measure}_low"], frame[f"{measure}_high"] = others["ci_low"], others["ci_high"]
            if decoder:
                frame[f"{measure}_uniform"] = uniform[measure]
        tables.write(frame, entropy)
        by = "relative" if decoder else "entropy"
        dropped = [name for name in frame if name.endswith(("sums", "counts"))]
        above = frame[(frame["query"] == "all") & (frame[by] > broad)]
        above = above.sort_values(by, ascending=False)
        above = above.assign(head=head_labels(above)).drop(columns=["layer", "query", *dropped])
        tables.write_csv(above, table)

    return mean_per_segment(patterns, documents, partial(means_of, card=card), write)


if __name__ == "__main__":
    job.run(main, globals())
