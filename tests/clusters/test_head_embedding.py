"""Places, behaviours and the cohesion of layers; the figure."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.clusters import figures, head_embedding
from workflow_scripts.core.data import tables

THRESHOLDS = {"previous": 0.5, "next": 0.5, "cls": 0.6, "sep": 0.6, "punctuation": 0.6, "broad": 3}


def planted(layers: int = 4, heads: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Points of one layer lie close together."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(layers), heads)
    points = rng.normal(size=(layers, 2))[label] * 5 + rng.normal(size=(layers * heads, 2))
    return np.linalg.norm(points[:, None] - points[None], axis=-1), label


def test_points_of_the_plane_are_found_again() -> None:
    matrix, _ = planted()
    coordinates, stress = head_embedding.embed(matrix, seed=1)
    actual = np.linalg.norm(coordinates[:, None] - coordinates[None], axis=-1)
    np.testing.assert_allclose(actual, matrix, atol=0.05 * matrix.max())
    assert stress < 0.01
    again, _ = head_embedding.embed(matrix, seed=1)
    np.testing.assert_array_equal(coordinates, again)


def test_permutation_finds_layers_only_where_they_are() -> None:
    matrix, layers = planted()
    assert head_embedding.shuffle(matrix, layers, 200, seed=1)[0] == pytest.approx(1 / 201)
    rng = np.random.default_rng(3)
    shuffled = [
        head_embedding.shuffle(matrix, rng.permutation(layers), 200, seed=k)[0] for k in range(20)
    ]
    assert 0.2 < np.mean(shuffled) < 0.8


def test_behaviours() -> None:
    rows = {
        "previous": [0.9, 0.1, 0.2, 0.1],
        "next": [0.6, 0.0, 0.0, 0.0],
        "cls": [0.1, 0.1, 0.1, 0.1],
        "sep": [0.1, 0.1, 0.7, 0.1],
        "punctuation": [0.1, 0.1, 0.1, 0.1],
        "broad": [1.0, 1.0, 1.0, 4.0],
    }
    actual = head_embedding.behaviours(pd.DataFrame(rows), THRESHOLDS)
    assert actual.tolist() == ["previous", "other", "sep", "broad"]


def test_few_heads_have_an_exact_p_value() -> None:
    """Of the 24 permutations of two layers of two heads, 8 keep the layers' heads together."""
    matrix = np.full((4, 4), 3.0)
    matrix[:2, :2] = matrix[2:, 2:] = 1.0
    np.fill_diagonal(matrix, 0.0)
    table = head_embedding.cohesion(matrix, np.array([0, 0, 1, 1]), 100, seed=1)
    assert table["permutations"][0] == 24
    assert table["p"][0] == pytest.approx(8 / 24)
    # In 8 permutations the means are 3 between layers and 1 within them; in 16 they are
    # (1 + 1 + 3 + 3) / 4 and 3.
    assert table[["shuffled_low", "shuffled_high"]].loc[0].tolist() == [-1, 2]
    assert table[["shuffled_low", "shuffled_high"]].loc[1:].isna().all(axis=None)


def test_figure(tmp_path: Path) -> None:
    matrix, layers = planted()
    coordinates, stress = head_embedding.embed(matrix, seed=1)
    frame = pd.DataFrame({"layer": layers, "head": np.tile(np.arange(5), 4)}).assign(
        x=coordinates[:, 0],
        y=coordinates[:, 1],
        stress=stress,
        behaviour=["broad", *["other"] * 19],
    )
    tables.write(frame, tmp_path / "embedding")
    files = {kind: tmp_path / f"fig6.{kind}" for kind in ("svg", "pdf", "png")}
    rows = [("det", 1, 2, True), ("dobj", 1, 2, True), ("pobj", 0, 3, False)]
    linguistic = pd.DataFrame(rows, columns=["behaviour", "layer", "head", "marked"])
    tables.write(linguistic, tmp_path / "linguistic")
    inputs = {"embedding": tmp_path / "embedding", "linguistic": tmp_path / "linguistic"}
    figures.clark2019_fig6(**inputs, **files)
    svg = files["svg"].read_text()
    for text in ("layer 4", "broad", "other", "1-1", "2-3 det, dobj", "linguistic", "stress 0.0"):
        assert text in svg
    assert "pobj" not in svg


def test_behaviours_of_a_decoder_and_distances_from_uniform_attention() -> None:
    numbers = pd.DataFrame({"punctuation": [0.1, 0.1], "first": [0.7, 0.1], "broad": [0.9, 0.9]})
    thresholds = {"punctuation": 0.6, "first": 0.6, "broad": 0.8, "previous": 0.5}
    found = head_embedding.behaviours(numbers.assign(previous=0.9), thresholds)
    assert found.tolist() == ["first", "broad"]
    pairs = pd.DataFrame(
        {"layer_a": [0, 0, 0], "head_a": [0, 0, 1], "layer_b": [0, 1, 1], "head_b": [1, 0, 0]}
    ).assign(uniform_a=[0.1, 0.1, 0.3], uniform_b=[0.3, 0.5, 0.5])
    assert head_embedding.from_uniform(pairs) == pytest.approx([0.3, 0.2, 0.5])


def test_square_puts_pairs_at_their_indices() -> None:
    matrix, _ = planted(2, 3)
    a, b = np.triu_indices(6, k=1)
    frame = pd.DataFrame(
        {"layer_a": a // 3, "head_a": a % 3, "layer_b": b // 3, "head_b": b % 3}
    ).assign(distance=matrix[a, b])
    np.testing.assert_array_equal(head_embedding.square(frame), matrix)
