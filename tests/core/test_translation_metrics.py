"""BLEU and chrF of summed statistics, against sacrebleu on the sentences themselves."""

import numpy as np
import pytest
import sacrebleu

from workflow_scripts.core.stats import bootstrap
from workflow_scripts.core.stats.translation_metrics import (
    COLUMNS,
    METRICS,
    scores_of,
    statistics,
)

CORPUS = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf}
WORDS = "the a dog, cat sees saw &amp; (big) 3.5 brown-eyed birds . Ärger naïve !".split()
# Pairs of translation and reference in which a count is 0, or the translation is short or empty.
EDGES = {
    "nothing translated": [("", "a dog")],
    "nothing translated nor true": [("", "")],
    "single words match": [("dog x cat y sees", "a dog sees the cat")],
    "no pair of three orders": [("a dog", "a dog")],
    "two words match": [("a dog x y z", "a dog sees the cat")],
    "one of two empty": [("", "a dog"), ("a dog sees the cat", "a dog sees the big cat")],
    "white space": [("  a dog  sees\tit \n", "a dog sees it")],
}


def corpus(n: int, seed: int) -> tuple[list[str], list[str]]:
    """Random references, and translations that keep or change words; some are empty or short."""
    rng = np.random.default_rng(seed)
    references = [list(rng.choice(WORDS, rng.integers(1, 14))) for _ in range(n)]
    translations = []
    for words in references:
        kept = [w if rng.random() < 0.8 else str(rng.choice(WORDS)) for w in words]
        translations.append(kept[: rng.integers(0, len(kept) + 2)])
    return [" ".join(words) for words in translations], [" ".join(words) for words in references]


def of_metric(metric: str, rows: np.ndarray) -> np.ndarray:
    """The statistics [..., column] that a metric is computed of."""
    return rows[..., [COLUMNS.index(name) for name in METRICS[metric].columns]]


@pytest.mark.parametrize("metric", CORPUS)
@pytest.mark.parametrize("pairs", EDGES.values(), ids=EDGES)
def test_a_small_corpus_scores_as_in_sacrebleu(metric: str, pairs: list[tuple[str, str]]) -> None:
    translations, references = (list(side) for side in zip(*pairs, strict=True))
    expected = CORPUS[metric](translations, [references]).score
    sums = of_metric(metric, statistics(translations, references)).sum(axis=0)
    actual = METRICS[metric].score(sums)
    assert float(actual) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("metric", CORPUS)
def test_resampled_corpora_score_as_in_sacrebleu(metric: str) -> None:
    """Every bootstrap sample of every variant, written out and given to sacrebleu."""
    variants = [corpus(25, seed) for seed in (1, 1, 2)]
    references = variants[0][1]
    variants = [translations for translations, _ in variants]
    rows = np.stack([statistics(translations, references) for translations in variants])
    weights = bootstrap.bootstrap_weights(25, 12, 3)
    actual = scores_of(metric, of_metric(metric, rows), weights).T
    assert actual.shape == (3, 12)
    assert np.ptp(actual[0]) > 1
    for row, translations in enumerate(variants):
        for draw, times in enumerate(weights):
            sample = np.repeat(np.arange(25), times)
            hypotheses, truths = [translations[i] for i in sample], [references[i] for i in sample]
            expected = CORPUS[metric](hypotheses, [truths]).score
            assert actual[row, draw] == pytest.approx(expected, rel=1e-12)


def test_the_loss_is_that_of_a_token() -> None:
    sums = np.array([[3.0, 1.0], [6.0, 4.0]])
    assert METRICS["loss"].score(sums).tolist() == [0.5, 0.25]
