"""Masked positions of the masked-LM loss."""

import numpy as np

from workflow_scripts.core.model.mlm import IGNORED, mask_tokens


def test_shares_and_labels() -> None:
    rng = np.random.default_rng(0)
    ids, maskable = np.arange(100, 1100), np.ones(1000, dtype=bool)
    maskable[[0, 999]] = False
    counts = np.zeros(3)
    for _ in range(50):
        masked, labels = mask_tokens(ids, maskable, 7, 30000, rng)
        chosen = labels != IGNORED
        assert chosen.sum() == round(0.15 * 998)
        assert not chosen[[0, 999]].any()
        assert (labels[chosen] == ids[chosen]).all()
        assert (masked[~chosen] == ids[~chosen]).all()
        kinds = masked[chosen]
        same = kinds == ids[chosen]
        counts += [(kinds == 7).sum(), same.sum(), (~same & (kinds != 7)).sum()]
    np.testing.assert_allclose(counts / counts.sum(), [0.8, 0.1, 0.1], atol=0.01)


def test_at_least_one() -> None:
    maskable = np.array([False, True, False])
    masked, labels = mask_tokens(np.array([1, 2, 3]), maskable, 7, 10, np.random.default_rng(0))
    assert labels.tolist() == [IGNORED, 2, IGNORED]
    assert masked[[0, 2]].tolist() == [1, 3]
