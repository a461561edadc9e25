"""Every head's antecedent selection accuracy, and that of simple rules (Clark et al., 4.3)."""

import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core import job, tables
from workflow_scripts.core.cache import Cache
from workflow_scripts.core.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.job import Out
from workflow_scripts.core.mentions import Document, read_documents
from workflow_scripts.core.words import among_words
from workflow_scripts.coreference import selecting
from workflow_scripts.coreference.selecting import CANDIDATES, SYSTEMS, TYPES

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Counts:
    """What was counted in each text with a coreferent mention.

    `found` is [text, candidates, layer, head, type], `rules` [text, system, type], `total`
    [text, type]. `mentions` are all that were read, `cut` those without tokens.
    """

    found: np.ndarray
    rules: np.ndarray
    total: np.ndarray
    mentions: int
    cut: int


def count_corpus(cache: Cache, documents: list[Document]) -> Counts:
    """Count over all texts. Raises InputError where no mention is coreferent."""
    cache.expect([one.id for one in documents], "the mentions")
    found, rules, total = [], [], []
    read = cut = 0
    for document, example in job.progress(
        zip(documents, cache, strict=True), len(documents), "coreference"
    ):
        attention, words = among_words(example.pattern, example.word)
        mentions = selecting.readable(document, words)
        read += len(document.mentions)
        cut += len(document.mentions) - len(mentions)
        right, all_ = selecting.hits(attention, words, mentions)
        if all_[0]:
            found.append(right)
            total.append(all_)
            rules.append(selecting.baselines(document, mentions))
    if not found:
        raise InputError(f"{cache.path}: no mention has an antecedent; raise max_tokens")
    log.info("%d mentions, %d of them without tokens", read, cut)
    return Counts(np.stack(found), np.stack(rules), np.stack(total), read, cut)


def accuracy(
    found: np.ndarray, total: np.ndarray, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accuracy of [text, ..., type] counts and its 95% bootstrap interval over texts."""
    n = len(found)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws)
    shape = (draws, *(1,) * (found.ndim - 2), total.shape[1])
    with np.errstate(invalid="ignore"):
        drawn = np.tensordot(weights, found, 1) / (weights @ total).reshape(shape)
        mean = found.sum(axis=0) / total.sum(axis=0)
        low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
    return mean, low, high


def of_heads(counts: Counts, draws: int, seed: int) -> pd.DataFrame:
    """One row per candidates, head and type."""
    mean, low, high = accuracy(counts.found, counts.total, draws, seed)
    candidates, layer, head, kind = np.indices(mean.shape)
    return pd.DataFrame(
        {
            "candidates": np.array(CANDIDATES)[candidates.ravel()],
            "layer": layer.ravel(),
            "head": head.ravel(),
            "type": np.array(TYPES)[kind.ravel()],
            "accuracy": mean.ravel(),
            "ci_low": low.ravel(),
            "ci_high": high.ravel(),
            "n": counts.total.sum(axis=0)[kind.ravel()],
        }
    )


def of_rules(counts: Counts, draws: int, seed: int) -> pd.DataFrame:
    """One row per baseline and type."""
    mean, low, high = accuracy(counts.rules, counts.total, draws, seed)
    system, kind = np.indices(mean.shape)
    return pd.DataFrame(
        {
            "system": np.array(list(SYSTEMS))[system.ravel()],
            "type": np.array(TYPES)[kind.ravel()],
            "accuracy": mean.ravel(),
            "ci_low": low.ravel(),
            "ci_high": high.ravel(),
            "n": counts.total.sum(axis=0)[kind.ravel()],
        }
    )


def held_out(counts: Counts, seed: int) -> pd.DataFrame:
    """The best head of each type chosen on one half of the texts, scored on the other."""
    order = np.random.default_rng(seed).permutation(len(counts.found))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    chosen, scored = [counts.found[half].sum(axis=0) for half in halves]
    n = counts.total[halves[1]].sum(axis=0)
    rows = []
    for (row, candidates), (column, kind) in (
        (a, b) for a in enumerate(CANDIDATES) for b in enumerate(TYPES)
    ):
        layer, head = np.unravel_index(chosen[row, ..., column].argmax(), chosen.shape[1:3])
        right = scored[row, layer, head, column]
        rows.append(
            {
                "candidates": candidates,
                "type": kind,
                "held_out_layer": layer,
                "held_out_head": head,
                "held_out_accuracy": right / n[column] if n[column] else np.nan,
                "held_out_n": n[column],
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
    tables.write_csv(pd.DataFrame(used.items(), columns=["what", "n"]), mentions)


if __name__ == "__main__":
    job.run(main, globals())
