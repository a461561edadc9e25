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
from workflow_scripts.core.data.wordpieces import remedy, word_attention
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.coreference import antecedents
from workflow_scripts.coreference.antecedents import CANDIDATES, SYSTEMS, TYPES

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MentionCounts:
    """Mentions counted in each unit with a coreferent mention; a unit is a document.

    `correct` (antecedents chosen by heads) is [unit, candidates, layer, head, type], `rules`
    (chosen by rules) [unit, system, type], `total` [unit, type]. `tied` [candidates, layer, head,
    type] and `n_documents` [type] are of all units together. `mentions` states what was read.
    """

    correct: np.ndarray
    rules: np.ndarray
    total: np.ndarray
    tied: np.ndarray
    n_documents: np.ndarray
    mentions: dict[str, int]


def count_corpus(cache: Cache, documents: list[Document], names: list[str]) -> MentionCounts:
    """Count over all texts, with the document of each; InputError if no mention is coreferent."""
    cache.expect([document.id for document in documents], "the mentions")
    units, codes = head_accuracy.units(names), pd.factorize(np.array(names, object))[0]
    heads = (len(CANDIDATES), cache.n_layers, cache.n_heads, len(TYPES))
    correct, tied = np.zeros((units.max() + 1, *heads), int), np.zeros(heads, int)
    rules = np.zeros((len(correct), len(SYSTEMS), len(TYPES)), int)
    total = np.zeros((len(correct), len(TYPES)), int)
    of_documents = np.zeros((codes.max() + 1, len(TYPES)), int)
    n_mentions = n_cut = n_texts = 0
    texts = zip(documents, cache, units, codes, strict=True)
    for document, example, unit, code in job.progress(texts, len(documents), "coreference"):
        attention = word_attention(example.pattern, example.word)
        mentions = antecedents.readable(document, attention.words)
        n_mentions += len(document.mentions)
        n_cut += len(document.mentions) - len(mentions)
        if not antecedents.coreferent(mentions):
            continue
        found = antecedents.hits(attention.among, attention.words, mentions)
        correct[unit] += found.correct
        tied += found.tied
        total[unit] += found.total
        of_documents[code] += found.total
        rules[unit] += antecedents.baselines(document, mentions)
        n_texts += 1
    if not n_texts:
        why = remedy(documents, [cache.tokens(k)["word"] for k in range(len(cache))])
        raise InputError(
            f"{cache.path}: none of {n_mentions} mentions in {len(documents)} texts has an "
            f"antecedent; {why or 'use documents with chains of several mentions'}"
        )
    resampled = total.any(axis=1)
    read = {
        "mentions read": n_mentions,
        "mentions without tokens": n_cut,
        "coreferent mentions": int(total[:, 0].sum()),
        "texts with a coreferent mention": n_texts,
    }
    log.info("%s", read)
    n_documents = np.count_nonzero(of_documents, axis=0)
    return MentionCounts(
        correct[resampled], rules[resampled], total[resampled], tied, n_documents, read
    )


def of_heads(counts: MentionCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per candidates, head and type."""
    n_layers, n_heads = counts.correct.shape[2:4]
    axes = {"candidates": CANDIDATES, "layer": range(n_layers), "head": range(n_heads)}
    return _frame(axes, counts.correct, counts, draws, seed).assign(tied=counts.tied.ravel())


def of_rules(counts: MentionCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per baseline and type."""
    return _frame({"system": list(SYSTEMS)}, counts.rules, counts, draws, seed)


def _frame(
    axes: dict[str, Sequence], correct: np.ndarray, counts: MentionCounts, draws: int, seed: int
) -> pd.DataFrame:
    mean, low, high = head_accuracy.accuracy(correct, counts.total, draws, seed)
    return tables.tidy(
        axes | {"type": TYPES},
        accuracy=mean,
        ci_low=low,
        ci_high=high,
        n=counts.total.sum(axis=0),
        n_documents=counts.n_documents,
    )


def held_out(counts: MentionCounts, draws: int, seed: int) -> pd.DataFrame:
    """The best head of each type chosen on one half of the documents, scored on the other.

    `gain_<rule>` is what it gains over each of SYSTEMS on the same mentions; both ways.
    """
    rows = []
    for row, candidates in enumerate(CANDIDATES):
        correct = counts.correct[:, row]
        best = head_accuracy.held_out(correct, counts.total, seed)
        gains = {
            f"gain_{system}": head_accuracy.held_out_gains(
                correct, counts.rules[:, [k]], counts.total, draws, seed
            )
            for k, system in enumerate(SYSTEMS)
        }
        for column, (kind, ((layer, head), accuracy, n)) in enumerate(
            zip(TYPES, best, strict=True)
        ):
            over = {name: of_kind[column] for name, of_kind in gains.items()}
            rows.append(
                {
                    "candidates": candidates,
                    "type": kind,
                    "held_out_layer": layer,
                    "held_out_head": head,
                    "held_out_accuracy": accuracy,
                    "held_out_n": n,
                    **{name: gain.gain for name, gain in over.items()},
                    **{f"{name}_low": gain.low for name, gain in over.items()},
                    **{f"{name}_high": gain.high for name, gain in over.items()},
                }
            )
    return pd.DataFrame(rows)


def main(
    attention: Path,
    model: Path,
    annotation: Path,
    corpus: Path,
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
        counts = count_corpus(cache, read_documents(annotation), cache.documents(corpus))
    tables.write(of_heads(counts, bootstrap, seed), scores)
    tables.write(of_rules(counts, bootstrap, seed), rules)
    tables.write(held_out(counts, bootstrap, seed), best)
    tables.write_counts(counts.mentions, mentions)


if __name__ == "__main__":
    job.run(main, globals())
