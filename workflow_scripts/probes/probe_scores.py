"""Correct attachments and edges of predicted heads, baselines, and scores over documents.

Heads are those of `Sentence.heads`: 0 for the root and k + 1 for word k.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from workflow_scripts.core.stats import bootstrap
from workflow_scripts.probes.probe_sentences import Sentence

BOUND = "uniform-attention-bound"


class Answers(NamedTuple):
    """Predicted and correct heads of sentences, int [word] each."""

    sentences: Sequence[Sentence]
    predicted: Sequence[np.ndarray]
    heads: Sequence[np.ndarray]


class SentenceCounts(NamedTuple):
    """Correct answers and all answers of every sentence, int [sentence]."""

    correct: np.ndarray
    total: np.ndarray

    @property
    def share(self) -> float:
        """Correct answers as a share of all; 0 where there are none."""
        return float(self.correct.sum() / max(self.total.sum(), 1))


def attachments(answers: Answers) -> SentenceCounts:
    """Scored words whose head is predicted, of all scored words (UAS)."""
    rows = zip(*answers, strict=True)
    correct = [((predicted == heads) & each.scored).sum() for each, predicted, heads in rows]
    return SentenceCounts(np.array(correct), _scored(answers.sentences))


def undirected(answers: Answers) -> SentenceCounts:
    """Edges between scored words that are predicted in either direction (UUAS)."""
    correct, total = [], []
    for sentence, predicted, heads in zip(*answers, strict=True):
        edges = edges_of(heads, sentence.scored)
        correct.append(len(edges & edges_of(predicted, sentence.scored)))
        total.append(len(edges))
    return SentenceCounts(np.array(correct), np.array(total))


def edges_of(heads: np.ndarray, kept: np.ndarray | None = None) -> set[tuple[int, int]]:
    """Undirected edges between words, or between those words that `kept` marks."""
    pairs = ((word, head - 1) for word, head in enumerate(heads) if head > 0)
    edges = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    return edges if kept is None else {edge for edge in edges if kept[list(edge)].all()}


def right_branching(sentences: Sequence[Sentence]) -> Answers:
    """Every word's head is the word to its right; the last word is the root."""
    predicted = [np.append(np.arange(2, len(sentence) + 1), 0) for sentence in sentences]
    return Answers(sentences, predicted, [sentence.heads for sentence in sentences])


def uniform_attention_bound(sentences: Sequence[Sentence]) -> SentenceCounts:
    """What no attention-and-words probe exceeds where attention is the same to all words.

    The candidates then have one order for all words; each word only chooses between the first one
    and the root, and the first one itself takes the second. At best the root, all words whose head
    comes first, and that one word are right: the best first one counts.
    """
    correct = []
    for sentence in sentences:
        heads, words = sentence.heads, np.arange(len(sentence))
        right = (heads == 0) | (heads == words[:, None] + 1) | np.eye(len(words), dtype=bool)
        correct.append(int((right & sentence.scored).sum(axis=1).max()))
    return SentenceCounts(np.array(correct), _scored(sentences))


def _scored(sentences: Sequence[Sentence]) -> np.ndarray:
    return np.array([int(each.scored.sum()) for each in sentences])


def by_document(counts: SentenceCounts, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """One row per document that has any answers: document, correct, total."""
    documents = [sentence.document for sentence in sentences]
    frame = pd.DataFrame({"document": documents, **counts._asdict()})
    summed = frame.groupby("document", sort=False, as_index=False).sum()
    return summed[summed["total"] > 0].reset_index(drop=True)


def score(documents: pd.DataFrame, draws: int, seed: int) -> dict[str, float]:
    """Share of correct answers with its 95% interval over documents, NaN for a single one."""
    correct, total = (documents[[name]].to_numpy() for name in ("correct", "total"))
    mean, low, high = (
        value.item() for value in bootstrap.bootstrap_accuracy(correct, total, draws, seed)
    )
    if len(documents) < 2:
        low = high = np.nan
    ends = {"score": mean, "ci_low": low, "ci_high": high}
    return ends | {"n": int(total.sum()), "n_documents": len(documents)}
