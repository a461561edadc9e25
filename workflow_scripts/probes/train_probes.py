"""Train all probes of one model on real and on control heads, and score them (Clark, section 5)."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.trees import read_trees
from workflow_scripts.core.data.vectors import read_vectors
from workflow_scripts.core.model import devices, models
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.probes import probe_scores, probe_sentences, structural_probe
from workflow_scripts.probes.probe_results import Results
from workflow_scripts.probes.probe_sentences import Split
from workflow_scripts.probes.probe_training import Trainer
from workflow_scripts.probes.probing_classifiers import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
)
from workflow_scripts.probes.random_body import random_card
from workflow_scripts.probes.structural_training import StructuralTrainer

log = logging.getLogger(__name__)


def add_baselines(results: Results, split: Split) -> None:
    """Right branching, and the most that a probe gets where attention is the same to all words."""
    answers = probe_scores.right_branching(split.dev)
    counts = probe_scores.attachments(answers)
    results.keep("right-branching", "real", "UAS", counts, split.dev)
    edges = probe_scores.undirected(answers)
    results.count("right-branching", "real", "UUAS", edges, split.dev)
    bound = probe_scores.uniform_attention_bound(split.dev)
    results.keep(probe_scores.BOUND, "real", "UAS", bound, split.dev)


def main(
    attention: Path,
    random_attention: Path,
    model: Path,
    corpus: Path,
    trees: Path,
    vectors: Path,
    words: Path,
    scores: Out,
    counts: Out,
    curve: Out,
    rates: Out,
    probes: Out,
    settings: dict[str, Any],
    max_tokens: int,
    batch_tokens: int = 4096,
    seed: int = 1,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write the tables of `Results`, and the folder of probes."""
    probes.mkdir(parents=True)
    card = read_card(model)
    known = read_vectors(vectors, words)
    examples = read_examples(corpus)
    documents = [example.document for example in examples]

    def sentences_with(path: Path, of: dict[str, Any]) -> Split:
        with Cache(path, of) as cache:
            loaded = probe_sentences.load(cache, read_trees(trees), documents, known)
        return probe_sentences.split(loaded, settings["dev_share"], seed)

    results, on = Results(settings, seed, probes), devices.pick(device)
    split = sentences_with(attention, card)
    log.info("%d sentences to train on, %d to score", len(split.train), len(split.dev))
    n_heads, dimension = len(split.train[0].attention), known.matrix.shape[1]
    add_baselines(results, split)
    torch.manual_seed(seed)
    Trainer(results, split, on).train(
        {
            "distances-and-words": DistancesAndWords(dimension, settings["hidden"]),
            "attention-only": AttentionOnly(n_heads),
            "attention-and-words": AttentionAndWords(n_heads, dimension),
        }
    )
    used = {sentence.tree.id for sentence in (*split.train, *split.dev)}
    states = structural_probe.word_states(
        models.directory_of(card),
        [example for example in examples if example.id in used],
        max_tokens,
        card["max_positions"],
        device,
        batch_tokens,
    )
    StructuralTrainer(results, states, split, on).train()
    split = sentences_with(random_attention, random_card(card, seed))
    random = {"random-attention-and-words": AttentionAndWords(n_heads, dimension)}
    Trainer(results, split, on).train(random)
    frame = pd.DataFrame(results.scores)
    frame["layer"] = frame["layer"].fillna(-1).astype(int)
    frame["train_sentences"], frame["dev_sentences"] = len(split.train), len(split.dev)
    has_vector = [
        word in known for sentence in (*split.train, *split.dev) for word in sentence.tree.words
    ]
    frame["words_with_vectors"] = np.mean(has_vector)
    tables.write(frame, scores)
    tables.write(pd.concat(results.counts, ignore_index=True), counts)
    tables.write(pd.DataFrame(results.curve), curve)
    tables.write(pd.DataFrame(results.rates), rates)


if __name__ == "__main__":
    job.run(main, globals())
