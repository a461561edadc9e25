"""Jensen-Shannon distances against the formula written out."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from workflow_scripts.clusters.head_distances import distances


def slow(pattern: np.ndarray) -> np.ndarray:
    """SciPy's distance is the root of the divergence; the mean over queries of its square."""
    heads = pattern.astype(np.float64).reshape(-1, *pattern.shape[2:])
    heads = heads / heads.sum(axis=-1, keepdims=True)
    result = np.zeros((len(heads), len(heads)))
    for i, p in enumerate(heads):
        for j, q in enumerate(heads):
            rows = [jensenshannon(a, b) ** 2 for a, b in zip(p, q, strict=True)]
            result[i, j] = np.mean(rows)
    return result


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    pattern = rng.dirichlet(np.full(7, 0.3), size=(2, 3, 7)).astype(np.float32)
    actual = distances(pattern)
    np.testing.assert_allclose(actual, slow(pattern), atol=1e-5)
    assert (actual == actual.T).all()
    assert (np.diag(actual) == 0).all()


def test_zeros_and_disjoint_heads() -> None:
    """Two heads that never look at the same token are log 2 apart; a head is 0 from itself."""
    left, right = np.zeros((3, 3)), np.zeros((3, 3))
    left[:, 0] = right[:, 2] = 1
    actual = distances(np.stack([left, right, left])[None])
    assert actual[0, 1] == pytest.approx(np.log(2), abs=1e-6)
    assert actual[0, 2] == 0


def test_float16_maps_as_the_cache_stores_them() -> None:
    rng = np.random.default_rng(1)
    pattern = rng.dirichlet(np.full(40, 0.2), size=(1, 4, 40)).astype(np.float16)
    np.testing.assert_allclose(distances(pattern), slow(pattern), atol=2e-4)
