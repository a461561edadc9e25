"""Correct attachments and edges, what uniform attention allows at most, and paired differences."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

from tests.core.builders import plain_ends
from tests.probes.builders import sentence
from workflow_scripts.probes.figures import pairs
from workflow_scripts.probes.probe_scores import (
    Answers,
    SentenceCounts,
    attachments,
    by_document,
    right_branching,
    score,
    undirected,
    uniform_attention_bound,
)
from workflow_scripts.probes.probe_sentences import Sentence


def with_heads(heads: list[int], scored: list[bool] | None = None, document: str = "d") -> Sentence:
    marks = np.array(scored or [True] * len(heads))
    changed = {"heads": np.array(heads), "scored": marks, "document": document}
    return Sentence(**(vars(sentence(len(heads), 0)) | changed))


def test_right_branching_by_hand() -> None:
    case = with_heads([2, 3, 0, 3])
    answers = right_branching([case])
    assert answers.predicted[0].tolist() == [2, 3, 4, 0]
    assert attachments(answers).correct.tolist() == [2]  # words 1 and 2; the last word is no root
    assert attachments(answers).total.tolist() == [4]
    counts = undirected(answers)  # edges 1-2, 2-3 and 3-4, all of them predicted
    assert (counts.correct.tolist(), counts.total.tolist()) == ([3], [3])


def test_attachments_and_edges_leave_punctuation_out() -> None:
    case = with_heads([2, 0, 2, 2], [True, True, True, False])
    predicted = [np.array([3, 1, 2, 2])]
    answers = Answers([case], predicted, [case.heads])
    assert attachments(answers) == (1, 3)  # only the third word's head
    # Gold edges 1-2 and 2-3; predicted 1-3, 1-2 (the other way round) and 2-3.
    assert undirected(answers) == (2, 2)


def slow_bound(heads: list[int], scored: list[bool]) -> int:
    """Every order of the candidates, and every word's own choice between the root and a word."""
    n, best = len(heads), 0
    for order in permutations(range(1, n + 1)):
        for roots in product([False, True], repeat=n):
            right = 0
            for word in range(n):
                first = next((k for k in order if k != word + 1), None)
                choice = 0 if roots[word] or first is None else first
                right += scored[word] and choice == heads[word]
            best = max(best, right)
    return best


def test_uniform_attention_bound_against_all_choices() -> None:
    rng = np.random.default_rng(0)
    for length in (2, 3, 4, 5):
        for _ in range(6):
            heads = (np.arange(length) + rng.integers(1, length, size=length)) % length + 1
            heads[rng.integers(length)] = 0
            scored = rng.random(length) < 0.8
            case = with_heads(heads.tolist(), scored.tolist())
            counts = uniform_attention_bound([case])
            assert counts.correct[0] == slow_bound(heads.tolist(), scored.tolist())
            assert counts.total[0] == scored.sum()


def test_score_is_over_words_and_draws_documents() -> None:
    cases = [with_heads([2, 0, 2], document=name) for name in "aab"]
    documents = by_document(SentenceCounts(np.array([1, 2, 3]), np.array([3, 3, 3])), cases)
    assert documents.to_numpy().tolist() == [["a", 3, 6], ["b", 3, 3]]
    row = score(documents, draws=200, seed=1)
    assert row["score"] == pytest.approx(6 / 9)
    assert (row["n"], row["n_documents"]) == (9, 2)
    # Draws of two documents: a twice, both, or b twice.
    assert (row["ci_low"], row["ci_high"]) == (0.5, 1)


def counts_of(correct: dict[str, list[int]], total: list[int], measure: str) -> pd.DataFrame:
    return pd.concat(
        pd.DataFrame({"document": list("abcde"), "correct": right, "total": total}).assign(
            probe=probe, task="real", measure=measure
        )
        for probe, right in correct.items()
    )


def test_paired_differences_against_a_slow_version() -> None:
    total = [10, 20, 5, 8, 40]
    words = {"distances-and-words": [6, 9, 3, 5, 20], "attention-only": [5, 9, 2, 4, 22]}
    edges = {"attention-only": [7, 15, 3, 6, 30], "structural": [8, 14, 4, 7, 33]}
    counts = pd.concat([counts_of(words, total, "UAS"), counts_of(edges, total, "UUAS")])
    counts = pd.concat([counts, counts.assign(task="control", correct=0)])
    table = pairs(counts, draws=300, seed=2)
    assert table[["measure", "probe", "other"]].to_numpy().tolist() == [
        ["UAS", "attention-only", "distances-and-words"],
        ["UUAS", "structural", "attention-only"],
    ]
    for row, (probe, other) in zip(
        table.itertuples(),
        [("attention-only", "distances-and-words"), ("structural", "attention-only")],
        strict=True,
    ):
        source = words if row.measure == "UAS" else edges
        more = np.array(source[probe]) - np.array(source[other])
        assert row.difference == pytest.approx(
            100 * (sum(source[probe]) - sum(source[other])) / sum(total)
        )
        ends = plain_ends(more, np.array(total), 300, 2)
        assert (row.ci_low, row.ci_high) == pytest.approx([100 * end for end in ends])
        assert (row.n, row.n_documents) == (83, 5)
    assert table["paper_difference"].fillna(-1).tolist() == [3, -1]
