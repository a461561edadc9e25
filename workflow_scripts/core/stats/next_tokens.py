"""Nats per token of variants of a causal model: intervals and tests over documents.

Segments of one document are alike, so whole documents are resampled, and swapped in tests.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow_scripts.core.stats import randomisation, resampling
from workflow_scripts.core.stats.randomisation import Test
from workflow_scripts.core.stats.swaps import OfSums


def by_document(nats: np.ndarray, n_tokens: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Sums of nats [variant, segment] and of tokens [segment]: [variant, document, 2]."""
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    sums = np.zeros((len(nats), len(names), 2))
    np.add.at(sums[..., 0].T, codes, nats.T)
    np.add.at(sums[..., 1].T, codes, np.broadcast_to(n_tokens[:, None], nats.T.shape))
    return sums


def per_token(sums: np.ndarray) -> np.ndarray:
    """Nats per token, [...] of sums of nats and of tokens, [2, ...]."""
    return sums[0] / sums[1]


def resampled(sums: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Nats per token of sums [variant, document, 2]: [1 + draw, variant], those observed first."""
    return weighted(sums, resampling.observed_and_resampled(sums.shape[1], draws, seed))


def weighted(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Nats per token [draw, variant]: sums [variant, document, 2], weights [draw, document]."""
    return per_token(np.einsum("dn,vns->sdv", weights.astype(float), sums))


def tested(baseline: np.ndarray, variants: np.ndarray, draws: int, seed: int) -> Test:
    """The paired randomisation test of variants [variant, document, 2] against [document, 2]."""
    compared = OfSums(lambda sums: np.moveaxis(sums, -1, 0), per_token)
    return randomisation.test(compared, baseline, variants, draws, seed)
