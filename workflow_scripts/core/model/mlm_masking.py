"""Masking of tokens as in BERT's pre-training (Devlin et al. 2019, section 3.1)."""

from dataclasses import replace

import numpy as np

from workflow_scripts.core.data.tokens import Tokens

SHARE = 0.15
IGNORED = -100  # the label that torch's cross entropy leaves out


def mask_tokens(
    ids: np.ndarray, maskable: np.ndarray, mask_id: int, vocabulary: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Masked ids and labels, int64 [L] each; labels are IGNORED where nothing is predicted.

    15% of the `maskable` positions (bool [L]), at least one, are predicted; of these 80% become
    the mask token, 10% a random token of the vocabulary and 10% stay.
    """
    candidates = np.flatnonzero(maskable)
    count = max(1, round(SHARE * len(candidates)))
    chosen = rng.choice(candidates, size=count, replace=False)
    masked, labels = ids.astype(np.int64), np.full(len(ids), IGNORED, dtype=np.int64)
    labels[chosen] = ids[chosen]
    draw = rng.random(count)
    masked[chosen[draw < 0.8]] = mask_id
    randomised = chosen[draw >= 0.9]
    masked[randomised] = rng.integers(vocabulary, size=len(randomised))
    return masked, labels


def mask_example(
    tokens: Tokens, mask_id: int, vocabulary: int, rng: np.random.Generator
) -> tuple[Tokens, np.ndarray]:
    """An example with masked ids, and its labels; special tokens are never masked."""
    ids, labels = mask_tokens(tokens.ids, tokens.word >= 0, mask_id, vocabulary, rng)
    return replace(tokens, ids=ids), labels
