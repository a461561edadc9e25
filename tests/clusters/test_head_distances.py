"""Jensen-Shannon distances against the formula written out, and the memory that they take."""

from collections.abc import Iterable

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from tests.core.decoder_patterns import pattern_of
from workflow_scripts.clusters import head_distances
from workflow_scripts.clusters.head_distances import BLOCK, MeanDistances, distances
from workflow_scripts.core.data.cache import triangle
from workflow_scripts.core.data.wordpieces import uniform_attention


def mean_distances(
    patterns: Iterable[tuple[int, np.ndarray]], threads: int, decoder: bool = False
) -> np.ndarray:
    means = MeanDistances(0.0, threads, decoder)
    for pattern in patterns:
        means.add(*pattern)
        del pattern
    return means.mean()


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
    backwards = list(enumerate(patterns))[::-1]
    one, three = mean_distances(enumerate(patterns), 1), mean_distances(backwards, 3)
    np.testing.assert_allclose(one, sums / 28, atol=1e-5)
    assert (one == three).all()


def test_a_decoders_first_query_is_left_out_and_uniform_attention_is_next_to_its_heads() -> None:
    pattern = pattern_of(6, 0).astype(np.float64)
    seen = np.tril(np.ones((6, 6)))
    uniform = seen / seen.sum(-1, keepdims=True)
    heads = [*pattern.reshape(-1, 6, 6), uniform]
    smoothed = np.array([[0.9 * head[1:] + 0.1 * uniform[1:] for head in heads]])
    np.testing.assert_allclose(
        head_distances.decoder_distances(pattern, 0.1), slow(smoothed), atol=2e-4
    )
    examples = [(0, pattern), (1, pattern_of(1, 1)), (2, pattern_of(4, 2))]
    mean = mean_distances(examples, 1, decoder=True)
    expected = [
        head_distances.decoder_distances(examples[k][1], 0.0) * n for k, n in ((0, 5), (2, 3))
    ]
    np.testing.assert_allclose(mean, sum(expected) / 8)
    triangles = [(index, triangle(each)) for index, each in examples]
    assert (mean_distances(triangles, 1, decoder=True) == mean).all()


def test_a_decoders_pattern_is_read_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit as from a copy without the first query and with uniform attention."""
    monkeypatch.setattr(head_distances, "BLOCK", 1000)
    pattern = np.concatenate([pattern_of(160, seed) for seed in range(5)])
    uniform = uniform_attention(160)[0, 0, 1:].astype(np.float32)
    copy = np.concatenate([pattern[:, :, 1:].reshape(-1, 159, 160), uniform[None]])[None]
    expected = distances(copy)
    assert head_distances.decoder_distances(pattern, 0.0).tobytes() == expected.tobytes()
    assert head_distances.decoder_distances(triangle(pattern), 0.0).tobytes() == expected.tobytes()
    smoothed = [
        head_distances.decoder_distances(each, 0.1) for each in (pattern, triangle(pattern))
    ]
    assert smoothed[0].tobytes() == smoothed[1].tobytes()
