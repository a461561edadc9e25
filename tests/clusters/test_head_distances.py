"""Jensen-Shannon distances against the formula written out."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from threadpoolctl import threadpool_info, threadpool_limits

from workflow_scripts.clusters.head_distances import BLOCK, distances, mean_distances


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


def test_more_weights_than_a_block_and_a_rest() -> None:
    pattern = np.random.default_rng(2).dirichlet(np.full(130, 0.2), size=(1, 2, 130))
    assert BLOCK < pattern[0, 0].size < 2 * BLOCK
    np.testing.assert_allclose(distances(pattern), slow(pattern), atol=1e-5)


def test_smoothing_mixes_uniform_attention_into_every_map() -> None:
    pattern = np.random.default_rng(3).dirichlet(np.full(9, 0.3), size=(2, 2, 9))
    np.testing.assert_allclose(distances(pattern, 0.2), slow(0.8 * pattern + 0.2 / 9), atol=1e-5)


def test_the_mean_is_over_the_queries_of_all_examples_with_any_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    patterns = [rng.dirichlet(np.ones(length), size=(1, 3, length)) for length in (4, 12, 7, 5)]
    sums = sum(slow(pattern) * pattern.shape[-1] for pattern in patterns)
    one, three = (mean_distances(patterns.__getitem__, 4, 0, threads) for threads in (1, 3))
    np.testing.assert_allclose(one, sums / 28, atol=1e-5)
    assert (one == three).all()


def test_libraries_use_one_thread_within_each_of_ours() -> None:
    pattern = np.random.default_rng(5).dirichlet(np.ones(5), size=(1, 2, 5))
    seen: list[int] = []

    def read(index: int) -> np.ndarray:
        seen.extend(library["num_threads"] for library in threadpool_info())
        return pattern

    with threadpool_limits(2):
        before = [library["num_threads"] for library in threadpool_info()]
        mean_distances(read, 4, 0, 2)
        assert [library["num_threads"] for library in threadpool_info()] == before
    assert set(seen) == {1}
