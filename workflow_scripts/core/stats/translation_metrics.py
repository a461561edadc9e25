"""BLEU and chrF from the statistics of each sentence, and the loss per token.

The statistics are those of sacrebleu's own classes; the scores of their sums are sacrebleu's, for
many samples and variants at once. All are in percent, from 0 to 100, the loss in nats.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

from workflow_scripts.core.stats.metrics import ratio

ORDERS = {"bleu": BLEU().max_ngram_order, "chrf": CHRF().order}
# Statistics of a sentence: lengths of translation and reference, matches and n-grams of each order;
# for chrF the n-grams of the translation, of the reference and the matches, order by order.
SIZES = {"bleu": 2 + 2 * ORDERS["bleu"], "chrf": 3 * ORDERS["chrf"]}
COLUMNS = tuple(f"{metric}_{number}" for metric, size in SIZES.items() for number in range(size))


@dataclass(frozen=True)
class OfSentences:
    """A metric of sums over sentences.

    `columns` of a table hold a sentence's summands; `score` makes the metric [...] of their sums
    [column, ...]. `sign` is 1 where more is better, else -1.
    """

    columns: tuple[str, ...]
    score: Callable[[np.ndarray], np.ndarray]
    sign: int = 1


def statistics(translations: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """The sufficient statistics of each sentence, int32 [sentence, statistic], see COLUMNS.

    Equal pairs of translation and reference, of which a sweep has many, are computed once.
    """
    numbers: dict[tuple[str, str], int] = {}
    pairs = zip(translations, references, strict=True)
    index = [numbers.setdefault(pair, len(numbers)) for pair in pairs]
    if not index:
        return np.empty((0, len(COLUMNS)), np.int32)
    some, theirs = (list(side) for side in zip(*numbers, strict=True))
    # force: whether outputs end in a separated full stop is not to be counted over all variants.
    parts = [
        metric._extract_corpus_statistics(some, [theirs]) for metric in (BLEU(force=True), CHRF())
    ]
    return np.concatenate([np.array(part, np.int32) for part in parts], axis=1)[index]


def scores_of(metric: str, summands: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The metric of every variant on every sample, [draw, variant].

    `summands` [variant, sentence, column], `weights` [draw, sentence].
    """
    n_variants, n, n_columns = summands.shape
    flat = summands.transpose(1, 2, 0).reshape(n, -1).astype(float)
    sums = (weights.astype(float) @ flat).reshape(len(weights), n_columns, n_variants)
    return METRICS[metric].score(sums.swapaxes(0, 1))


def _bleu(sums: np.ndarray) -> np.ndarray:
    """BLEU with exponential smoothing, as sacrebleu.BLEU.compute_bleu; 0 without any match."""
    length, reference = np.asarray(sums[:2], dtype=float)
    matches, ngrams = np.asarray(sums[2:], dtype=float).reshape(2, ORDERS["bleu"], *sums.shape[1:])
    # The k-th order without a match counts as 1 / 2^k matches.
    smoothed = np.where(matches > 0, matches, 0.5 ** (matches == 0).cumsum(axis=0))
    known = (ngrams > 0).all(axis=0) & (matches > 0).any(axis=0)
    precision = np.log(100 * smoothed / np.where(ngrams > 0, ngrams, 1)).mean(axis=0)
    penalty = np.minimum(0, 1 - reference / np.where(length > 0, length, 1))
    return np.where(known, np.exp(penalty + precision), 0.0)


def _chrf(sums: np.ndarray) -> np.ndarray:
    """The F score of mean precision and recall over orders, as sacrebleu.CHRF; beta is 2."""
    counts = np.asarray(sums, dtype=float).reshape(ORDERS["chrf"], 3, *sums.shape[1:])
    produced, true, matches = np.moveaxis(counts, 1, 0)
    known = (produced > 0) & (true > 0)
    orders = np.maximum(known.sum(axis=0), 1)
    precision, recall = (
        np.where(known, matches / np.where(known, total, 1), 0).sum(axis=0) / orders
        for total in (produced, true)
    )
    weight = CHRF.BETA**2
    below = weight * precision + recall
    return 100 * (1 + weight) * precision * recall / np.where(below > 0, below, 1)


def _signature(metric: BLEU | CHRF) -> str:
    """How sacrebleu describes a metric, which it does only after its first corpus."""
    metric.corpus_score([""], [[""]])
    return str(metric.get_signature())


METRICS = {
    "bleu": OfSentences(COLUMNS[: SIZES["bleu"]], _bleu),
    "chrf": OfSentences(COLUMNS[SIZES["bleu"] :], _chrf),
    "loss": OfSentences(("loss", "tokens"), ratio, sign=-1),
}
SIGNATURES = {"bleu": _signature(BLEU()), "chrf": _signature(CHRF()), "loss": ""}
