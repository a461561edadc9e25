"""Every head's antecedent selection accuracy, and that of simple rules (Clark et al., 4.3)."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.mentions import Document, read_documents
from workflow_scripts.core.data.wordpieces import word_attention
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.coreference import antecedents
from workflow_scripts.coreference.antecedents import ALL, CANDIDATES, SYSTEMS, TYPES

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counts:
    """Mentions counted in each text with a coreferent mention.

    `correct` (antecedents chosen by heads) is [text, candidates, layer, head, type], `rules`
    (chosen by rules) [text, system, type], `total` [text, type]. `mentions` is the number of all
    mentions that were read, `cut` that of mentions without tokens.
    """

    correct: np.ndarray
    rules: np.ndarray
    total: np.ndarray
    mentions: int
    cut: int


def count_corpus(cache: Cache, documents: list[Document]) -> Counts:
    """Count over all texts. Raises InputError if no mention is coreferent."""
    cache.expect([document.id for document in documents], "the mentions")
    correct, rules, total = [], [], []
    n_mentions = n_cut = 0
    for document, example in job.progress(
        zip(documents, cache, strict=True), len(documents), "coreference"
    ):
        attention = word_attention(example.pattern, example.word)
        mentions = antecedents.readable(document, attention.words)
        n_mentions += len(document.mentions)
        n_cut += len(document.mentions) - len(mentions)
        hits, n_coreferent = antecedents.hits(attention.among, attention.words, mentions)
        if n_coreferent[TYPES.index(ALL)]:
            correct.append(hits)
            total.append(n_coreferent)
            rules.append(antecedents.baselines(document, mentions))
    if not correct:
        raise InputError(f"{cache.path}: no mention has an antecedent; raise max_tokens")
    log.info("%d mentions, %d of them without tokens", n_mentions, n_cut)
    return Counts(
        correct=np.stack(correct),
        rules=np.stack(rules),
        total=np.stack(total),
        mentions=n_mentions,
        cut=n_cut,
    )


def of_heads(counts: Counts, draws: int, seed: int) -> pd.DataFrame:
    """One row per candidates, head and type."""
    n_layers, n_heads = counts.correct.shape[2:4]
    axes = {"candidates": CANDIDATES, "layer": range(n_layers), "head": range(n_heads)}
    return _frame(axes, counts.correct, counts.total, draws, seed)


def of_rules(counts: Counts, draws: int, seed: int) -> pd.DataFrame:
    """One row per baseline and type."""
    return _frame({"system": list(SYSTEMS)}, counts.rules, counts.total, draws, seed)


def _frame(
    axes: dict[str, Sequence], correct: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> pd.DataFrame:
    mean, low, high = head_accuracy.accuracy(correct, total, draws, seed)
    columns = {"accuracy": mean, "ci_low": low, "ci_high": high, "n": total.sum(axis=0)}
    return tables.tidy(axes | {"type": TYPES}, **columns)


def held_out(counts: Counts, seed: int) -> pd.DataFrame:
    """The best head of each type chosen on one half of the texts, scored on the other."""
    rows = []
    for row, candidates in enumerate(CANDIDATES):
        best = head_accuracy.held_out(counts.correct[:, row], counts.total, seed)
        for kind, ((layer, head), accuracy, n) in zip(TYPES, best, strict=True):
            rows.append(
                {
                    "candidates": candidates,
                    "type": kind,
                    "held_out_layer": layer,
                    "held_out_head": head,
                    "held_out_accuracy": accuracy,
                    "held_out_n": n,
                }
            )
    return pd.DataFrame(rows)


def main(
    attention: Path,
    model: Path,
    annotation: Path,
    scores: Out,
    rules: Out,
    best: Out,
    mentions: Out,
    bootstrap: int,
    seed: int = 1,
) -> None:
    """Write the accuracies of heads and rules, the held-out best heads and mention counts."""
    card = read_card(model)
    with Cache(attention, card) as cache:
        counts = count_corpus(cache, read_documents(annotation))
    tables.write(of_heads(counts, bootstrap, seed), scores)
    tables.write(of_rules(counts, bootstrap, seed), rules)
    tables.write(held_out(counts, seed), best)
    used = {
        "mentions read": counts.mentions,
        "mentions without tokens": counts.cut,
        "coreferent mentions": counts.total[:, 0].sum(),
        "texts with a coreferent mention": len(counts.total),
    }
    tables.write_counts(used, mentions)


if __name__ == "__main__":
    job.run(main, globals())
