"""Scores of the probes against the paper's formulas in loops, padded and alone."""

import numpy as np
import pytest
import torch

from tests.probes.builders import DIMENSION, HEADS, sentence, sentences
from workflow_scripts.probes import probing_classifiers
from workflow_scripts.probes.probe_sentences import Sentence
from workflow_scripts.probes.probing_classifiers import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
    distances,
)


def randomised(probe: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(0)
    for parameter in probe.parameters():
        torch.nn.init.normal_(parameter)
    return probe


def slow_attention_only(probe: AttentionOnly, case: Sentence) -> np.ndarray:
    """Section 5, with a of shape [head, from, to] and the root's two features."""
    w, u = probe.weight.detach().numpy().reshape(2, HEADS).astype(float)
    start, end = probe.root.detach().numpy().astype(float)
    a, edges = case.attention.astype(float), case.edges.astype(float)
    n = len(case)
    scores = np.zeros((n, n + 1))
    for dependent in range(n):
        for k in range(HEADS):
            to, back = edges[:2, k, dependent], edges[2:, k, dependent]
            scores[dependent, 0] += w[k] * (start * to[0] + end * to[1])
            scores[dependent, 0] += u[k] * (start * back[0] + end * back[1])
            for candidate in range(n):
                scores[dependent, candidate + 1] += (
                    w[k] * a[k, dependent, candidate] + u[k] * a[k, candidate, dependent]
                )
    return scores


def slow_attention_and_words(probe: AttentionAndWords, case: Sentence) -> np.ndarray:
    """W (v_dependent + v_candidate) for every pair; the root's vector is zero."""
    of_dependent = probe.dependent.weight.detach().numpy().astype(float)
    of_candidate = probe.candidate.weight.detach().numpy().astype(float)
    bias = probe.dependent.bias.detach().numpy().astype(float)
    start, end = probe.root.detach().numpy().astype(float)
    a, edges, v = case.attention.astype(float), case.edges.astype(float), case.vectors.astype(float)
    n = len(case)
    scores = np.zeros((n, n + 1))
    for i in range(n):
        weights = of_dependent @ v[i] + bias
        at_root = np.concatenate(
            [start * e[0] + end * e[1] for e in (edges[:2, :, i], edges[2:, :, i])]
        )
        scores[i, 0] = weights @ at_root
        for j in range(n):
            maps = np.concatenate([a[:, i, j], a[:, j, i]])
            scores[i, j + 1] = (weights + of_candidate @ v[j]) @ maps
    return scores


def slow_distances(length: int) -> np.ndarray:
    """Footnote 4 in loops, [dependent, candidate, feature]."""
    features = np.zeros((length, length + 1, 8))
    features[:, 0, 7] = 1
    for i in range(length):
        for j in range(length):
            features[i, j + 1, 0] = max(0, j - i) / length
            features[i, j + 1, 1] = max(0, i - j) / length
            for feature, offset in enumerate(range(-2, 3)):
                features[i, j + 1, 2 + feature] = j - i == offset
    return features


@pytest.mark.parametrize(
    ("probe", "slow"),
    [
        (AttentionOnly(HEADS), slow_attention_only),
        (AttentionAndWords(HEADS, DIMENSION), slow_attention_and_words),
    ],
    ids=["attention-only", "attention-and-words"],
)
def test_scores_are_the_papers(probe: torch.nn.Module, slow) -> None:
    randomised(probe)
    cases = [sentence(length, seed) for seed, length in enumerate([4, 7, 5])]
    batch = probing_classifiers.collate(cases, [case.heads for case in cases])
    with torch.no_grad():
        scores = probe(batch).numpy()
    for row, case in enumerate(cases):
        n = len(case)
        np.testing.assert_allclose(scores[row, :n, : n + 1], slow(probe, case), atol=2e-5)


def test_distances_of_padded_sentences() -> None:
    mask = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    features = distances(mask).numpy()
    np.testing.assert_allclose(features[0], slow_distances(6), atol=1e-6)
    np.testing.assert_allclose(features[1, :4, :5], slow_distances(4), atol=1e-6)


def test_distances_and_words_is_one_hidden_layer() -> None:
    probe = randomised(DistancesAndWords(DIMENSION, 5))
    case = sentence(6, 3)
    with torch.no_grad():
        scores = probe(probing_classifiers.collate([case], [case.heads]))[0].numpy()
    weight = {name: value.detach().numpy() for name, value in probe.named_parameters()}
    candidates = np.concatenate([np.zeros((1, DIMENSION)), case.vectors])
    features = slow_distances(6)
    for i in range(6):
        for j in range(7):
            hidden = (
                weight["dependent.weight"] @ case.vectors[i]
                + weight["dependent.bias"]
                + weight["candidate.weight"] @ candidates[j]
                + weight["distance.weight"] @ features[i, j]
            )
            assert scores[i, j] == pytest.approx(
                float(weight["out.weight"][0] @ np.tanh(hidden)), abs=1e-4
            )


@pytest.mark.parametrize(
    "probe",
    [AttentionOnly(HEADS), AttentionAndWords(HEADS, DIMENSION), DistancesAndWords(DIMENSION, 4)],
    ids=["attention-only", "attention-and-words", "distances"],
)
def test_batch_size_changes_no_score(probe: torch.nn.Module) -> None:
    randomised(probe)
    cases = sentences(13)
    heads = [case.heads for case in cases]
    cpu = torch.device("cpu")

    def predicted(size: int, **kept: int) -> list[list[int]]:
        batches = probing_classifiers.Batches(cases, heads, size, **kept)
        found = probing_classifiers.predictions(probe, batches, cpu)
        return [found[batches.order.index(k)].tolist() for k in range(len(cases))]

    alone = predicted(1)
    assert [len(words) for words in alone] == [len(case) for case in cases]
    for size in (2, 5, 13):
        assert predicted(size) == alone
        assert predicted(size, kept_bytes=0) == alone


def test_released_pairing_takes_the_next_words_vector() -> None:
    """Against the released code's own order: attention with the root first, its dummy last."""
    probe = randomised(AttentionAndWords(HEADS, DIMENSION))
    cases = [sentence(6, 1), sentence(4, 2)]
    heads = [case.heads for case in cases]
    batch = probing_classifiers.collate(cases, heads, released_pairing=True)
    with torch.no_grad():
        scores = probe(batch).numpy()
    weight = {name: value.detach().numpy() for name, value in probe.named_parameters()}
    for row, case in enumerate(cases):
        n = len(case)
        attention = case.attention.astype(np.float32)
        maps = np.concatenate([attention, attention.transpose(0, 2, 1)])
        to_ends, from_ends = case.edges.astype(np.float32).reshape(2, 2, HEADS, n)
        ends = np.concatenate([to_ends, from_ends], axis=1)  # [start or end, 2 heads, word]
        root = weight["root"][0] * ends[0] + weight["root"][1] * ends[1]
        maps = np.concatenate([root[..., None], maps], axis=-1)  # the root comes first
        vectors = np.concatenate([case.vectors, np.zeros((1, DIMENSION))])  # the dummy comes last
        for i in range(n):
            for j in range(n + 1):
                weights = weight["dependent.weight"] @ case.vectors[i] + weight["dependent.bias"]
                weights = weights + weight["candidate.weight"] @ vectors[j]
                assert scores[row, i, j] == pytest.approx(weights @ maps[:, i, j], abs=2e-5)
