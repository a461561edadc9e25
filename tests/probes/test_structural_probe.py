"""The structural probe: distances in trees, the fitted map, spanning trees."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import torch

from workflow_scripts.core.data.annotations import Example, spans_of
from workflow_scripts.core.model import models
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.probes import structural_probe
from workflow_scripts.probes.probe_scores import edges_of

CPU = torch.device("cpu")


def slow_distance(edges: set, n: int, a: int, b: int) -> int:
    """Steps of a breadth-first search."""
    reached, steps = {a}, 0
    while b not in reached:
        reached |= {y for x, y in product(list(reached), range(n)) if {(x, y), (y, x)} & edges}
        steps += 1
        assert steps <= n
    return steps


def test_tree_distances_against_a_search() -> None:
    heads = np.array([2, 0, 2, 5, 3, 5])
    distances = structural_probe.tree_distances(heads)
    edges = edges_of(heads)
    assert edges == {(0, 1), (1, 2), (3, 4), (2, 4), (4, 5)}
    for a, b in combinations(range(6), 2):
        assert distances[a, b] == distances[b, a] == slow_distance(edges, 6, a, b)


def slow_spanning(distances: np.ndarray, words: list[int]) -> set:
    """Kruskal's algorithm."""
    group = {word: word for word in words}
    edges = set()
    for _, a, b in sorted((distances[a, b], a, b) for a, b in combinations(words, 2)):
        if group[a] != group[b]:
            old = group[a]
            group = {word: group[b] if of == old else of for word, of in group.items()}
            edges.add((a, b))
    return edges


def test_spanning_tree_against_kruskal() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        points = rng.normal(size=(8, 2))
        distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
        words = np.array([0, 2, 3, 5, 6, 7])
        assert structural_probe.spanning_edges(distances, words) == slow_spanning(
            distances, list(words)
        )


def test_a_map_that_holds_the_tree_is_found() -> None:
    """States are walks in the tree, hidden in 12 dimensions by a rotation, noise in the rest."""
    rng = np.random.default_rng(1)
    states, heads = [], []
    rotation = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    for _ in range(60):
        n = 7
        tree = np.array([0, *(int(rng.integers(1, k + 1)) for k in range(1, n))])
        walk = np.zeros((n, 12))
        for word in range(1, n):
            walk[word] = walk[tree[word] - 1]
            walk[word, word] += 1
        walk[:, 8:] = 3 * rng.normal(size=(n, 4))
        states.append((walk @ rotation).astype(np.float16))
        heads.append(tree)
    targets = [structural_probe.tree_distances(tree) for tree in heads]
    recipe = Recipe(seed=1, epochs=60, batch_size=8, learning_rate=0.02)
    matrix = structural_probe.fit(states[:40], targets[:40], 8, recipe, CPU)
    scored = [np.ones(7, dtype=bool)] * 20
    right, total = structural_probe.counts(matrix, states[40:], heads[40:], scored)
    assert right.sum() / total.sum() > 0.9
    blind = torch.randn(12, 8, generator=torch.Generator().manual_seed(0))
    right, total = structural_probe.counts(blind, states[40:], heads[40:], scored)
    assert right.sum() / total.sum() < 0.7


def test_states_are_means_over_wordpieces(tiny_model_dir: Path) -> None:
    words = ("the", "cityflow", "­", "river")  # the third vanishes
    example = Example("e", "d", "s:1", (" ".join(words),), (spans_of(words),))
    longer = Example("f", "d", "s:2", ("an old city near the river and hills",), None)
    states_of_words = structural_probe.word_states(
        tiny_model_dir, [example, longer], 40, 128, "cpu", 4096
    )["e"]
    model = models.load_body(tiny_model_dir, CPU)
    tokenizer = models.load_tokenizer(tiny_model_dir)
    batch = tokenizer(example.texts[0], return_tensors="pt")
    with torch.inference_mode():
        states = model(**batch, output_hidden_states=True).hidden_states
    names = tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
    pieces = [k for k, name in enumerate(names) if name in ("city", "##flow")]
    assert len(pieces) == 2
    expected = states[2][0, pieces].mean(dim=0).numpy()
    np.testing.assert_allclose(states_of_words[2, 1], expected, atol=5e-2, rtol=5e-3)
    assert (states_of_words[:, 2] == 0).all()
