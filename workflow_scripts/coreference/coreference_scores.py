"""Every head's antecedent selection accuracy, and that of simple rules (Clark et al., 4.3)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Document, read_documents
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.wordpieces import (
    attention_to_earlier,
    is_decoder,
    remedy,
    word_attention,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.one_pass import Measure, Units, in_one_pass
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.coreference import antecedents


@dataclass(frozen=True)
class MentionCounts:
    """Mentions counted in each unit with a coreferent mention; a unit is a document.

    `correct` (antecedents chosen by heads) is [unit, candidates, layer, head, type], `rules`
    (chosen by rules) [unit, system, type], `total` [unit, type]. `tied` [candidates, layer, head,
    type] and `n_documents` [type] are of all units together. `mentions` states what was read.
    For a decoder, `uniform` [candidates, 1, 1, type] is the share that is right by chance, and
    `coverage` [type] that of the coreferent mentions that are counted, in `of_decoder`.
    """

    correct: np.ndarray
    rules: np.ndarray
    total: np.ndarray
    tied: np.ndarray
    n_documents: np.ndarray
    mentions: dict[str, int]
    of_decoder: dict[str, np.ndarray] = field(default_factory=dict)


def count_corpus(
    cache: Patterns, documents: list[Document], names: list[str], decoder: bool
) -> tuple[Callable[[CachedExample], None], Callable[[], MentionCounts]]:
    """What reads a text, and what gives the counts; InputError if no mention is coreferent.

    `names` has the document of each text. A decoder's head word asks with its last wordpiece and
    chooses among the words before it; the first word, on which most heads rest, is no candidate,
    and mentions with it are left out.
    """
    cache.expect([document.id for document in documents], "the mentions")
    units = tables.document_units(names)
    heads = (len(antecedents.CANDIDATES), cache.n_layers, cache.n_heads, len(antecedents.TYPES))
    correct, tied = np.zeros((units.max() + 1, *heads), int), np.zeros(heads, int)
    rules = np.zeros((len(correct), len(antecedents.SYSTEMS), len(antecedents.TYPES)), int)
    # Of each text, to be summed in their order.
    of_text = np.zeros((len(documents), len(antecedents.TYPES)), int)
    chance = np.zeros((len(documents), len(antecedents.CANDIDATES), len(antecedents.TYPES)))
    n_mentions = n_cut = of_all = 0
    read_words = attention_to_earlier if decoder else word_attention

    def update(example: CachedExample) -> None:
        nonlocal n_mentions, n_cut, of_all
        document, unit, layers = documents[example.index], units[example.index], example.layers
        attention = read_words(example.pattern, example.word)
        mentions = antecedents.readable(document, attention.words)
        if example.is_first:
            n_mentions += len(document.mentions)
            n_cut += len(document.mentions) - len(mentions)
            if decoder:
                every = antecedents.readable(document, example.word)
                of_all += antecedents.counted(every, document.words)
        if not antecedents.coreferent(mentions):
            return
        found = antecedents.hits(attention.among, attention.words, mentions, document.words)
        correct[unit, :, layers] += found.correct
        tied[:, layers] += found.tied
        if not example.is_first:
            return
        of_text[example.index] = found.total
        chance[example.index] = antecedents.by_chance(attention.words, mentions, document.words)
        rules[unit] += antecedents.baselines(document, mentions)

    def counts() -> MentionCounts:
        if not of_text.any():
            why = remedy(documents, [cache.tokens(k)["word"] for k in range(len(cache))])
            raise InputError(
                f"{cache.path}: none of {n_mentions} mentions in {len(documents)} texts has an "
                f"antecedent; {why or 'use documents with chains of several mentions'}"
            )
        read = {
            "mentions read": n_mentions,
            "mentions without tokens" + (" or with the first word" if decoder else ""): n_cut,
            "coreferent mentions": int(of_text[:, 0].sum()),
            "texts with a coreferent mention": np.count_nonzero(of_text[:, 0]),
        }
        total, n = np.zeros((len(correct), len(antecedents.TYPES)), int), of_text.sum(axis=0)
        np.add.at(total, units, of_text)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = {"uniform": chance.sum(axis=0)[:, None, None] / n, "coverage": n / of_all}
        counted = (part[total.any(axis=1)] for part in (correct, rules, total))
        with_mentions = np.where(of_text, 1, np.nan)
        n_documents = stats_bootstrap.count_documents(with_mentions, names)
        return MentionCounts(*counted, tied, n_documents, read, shares if decoder else {})

    return update, counts


HELD_OUT = ("layer", "head", "accuracy", "n")


def head_accuracies(counts: MentionCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per candidates, head and type."""
    _, n_layers, n_heads, _ = counts.tied.shape
    axes = {"candidates": antecedents.CANDIDATES, "layer": range(n_layers), "head": range(n_heads)}
    columns = _accuracies(counts.correct, counts, draws, seed) | {"tied": counts.tied}
    return tables.tidy(axes | {"type": antecedents.TYPES}, **columns, **counts.of_decoder)


def rule_accuracies(counts: MentionCounts, draws: int, seed: int) -> pd.DataFrame:
    """One row per rule-based baseline and type."""
    columns = _accuracies(counts.rules, counts, draws, seed)
    columns |= {name: of for name, of in counts.of_decoder.items() if name == "coverage"}
    return tables.tidy({"system": list(antecedents.SYSTEMS), "type": antecedents.TYPES}, **columns)


def _accuracies(
    correct: np.ndarray, counts: MentionCounts, draws: int, seed: int
) -> dict[str, np.ndarray]:
    mean, low, high = stats_bootstrap.bootstrap_accuracy(correct, counts.total, draws, seed)
    columns = {"accuracy": mean, "ci_low": low, "ci_high": high}
    return columns | {"n": counts.total.sum(axis=0), "n_documents": counts.n_documents}


def held_out(counts: MentionCounts, draws: int, seed: int) -> pd.DataFrame:
    """The best head of each type chosen on one half of the documents, scored on the other.

    `gain_<rule>` is what it gains over each of SYSTEMS on the same mentions; both ways.
    """
    frames = []
    for row, candidates in enumerate(antecedents.CANDIDATES):
        correct = counts.correct[:, row]
        best = stats_bootstrap.held_out(correct, counts.total, seed)
        gains = {
            system: stats_bootstrap.held_out_gains(
                correct, counts.rules[:, [k]], counts.total, draws, seed
            )
            for k, system in enumerate(antecedents.SYSTEMS)
        }
        frame = pd.DataFrame(
            [
                (candidates, kind, *index, *scored)
                for kind, (index, *scored) in zip(antecedents.TYPES, best, strict=True)
            ],
            columns=["candidates", "type", *(f"held_out_{name}" for name in HELD_OUT)],
        )
        for k, end in enumerate(("", "_low", "_high")):
            for system, of_system in gains.items():
                frame[f"gain_{system}{end}"] = [gain[k] for gain in of_system]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@in_one_pass
def main(
    attention: Path,
    model: Path,
    annotation: Path,
    corpus: Path,
    scores: job.Out,
    rules: job.Out,
    best: job.Out,
    mentions: job.Out,
    bootstrap: int,
    seed: int = 1,
) -> Measure:
    """Write the accuracies of heads and rules, the held-out best heads and mention counts."""
    card = read_card(model)
    patterns = open_patterns(attention, card)
    texts, names = read_documents(annotation), patterns.documents(corpus)
    update, counted = count_corpus(patterns, texts, names, is_decoder(card))

    def units() -> Units:
        counts = counted()
        return {
            f"{among}.{kind}": (counts.correct[:, row, ..., column], counts.total[:, column])
            for row, among in enumerate(antecedents.CANDIDATES)
            for column, kind in enumerate(antecedents.TYPES)
        }

    def write() -> None:
        counts = counted()
        tables.write(head_accuracies(counts, bootstrap, seed), scores)
        tables.write(rule_accuracies(counts, bootstrap, seed), rules)
        tables.write(held_out(counts, bootstrap, seed), best)
        tables.write_counts(counts.mentions, mentions)

    return Measure(patterns, update, write, units=units)


if __name__ == "__main__":
    job.run(main, globals())
