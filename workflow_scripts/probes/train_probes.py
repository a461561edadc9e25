"""Train all probes of one model on real and on control heads, and score them (Clark, section 5)."""

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.trees import read_trees
from workflow_scripts.core.data.vectors import read_vectors
from workflow_scripts.core.model import devices, models
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.probes import probe_fitting, probe_sentences, structural_probe
from workflow_scripts.probes.probe_sentences import Sentence, Split, control_heads
from workflow_scripts.probes.probing_classifiers import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
)

log = logging.getLogger(__name__)
TASKS = ("real", "control")
Counts = tuple[np.ndarray, np.ndarray]


class Trainer:
    """Trains the probes of one job on both tasks, saves their weights and collects their scores."""

    def __init__(self, settings: dict[str, Any], seed: int, device: str, folder: Path) -> None:
        self.settings, self.seed, self.folder = settings, seed, folder
        self.device = devices.pick(device)
        self.rows: list[dict[str, Any]] = []

    def recipe(self, probe: str) -> Recipe:
        """How the probe of this name is trained."""
        return Recipe(
            seed=self.seed,
            epochs=self.settings["epochs"],
            batch_size=self.settings["batch_size"],
            learning_rate=self.settings["learning_rates"][probe],
        )

    def batches(self, sentences: Sequence[Sentence], task: str) -> probe_fitting.Batches:
        """Sentences with the heads of a task."""
        heads = [
            sentence.heads if task == "real" else control_heads(sentence.tree.words, self.seed)
            for sentence in sentences
        ]
        return probe_fitting.Batches(sentences, heads, self.settings["batch_size"])

    def train(self, name: str, probe: torch.nn.Module, split: Split) -> None:
        """Train a probe on both tasks, each time from its present weights, and keep the results."""
        start = {key: value.clone() for key, value in probe.state_dict().items()}
        for task in TASKS:
            probe.load_state_dict(start)
            itself = task == "control"
            recipe = self.recipe(name.removeprefix("random-"))
            probe_fitting.fit(probe, self.batches(split.train, task), recipe, self.device, itself)
            dev = self.batches(split.dev, task)
            counts = probe_fitting.counts(probe, dev, self.device, itself)
            self.keep(name, task, "UAS", counts, probe.state_dict())

    def train_structural(self, states: dict[str, np.ndarray], split: Split) -> int:
        """Train the structural probe; returns its layer, chosen on a tenth of the training data.

        `states` has the hidden states [layer, word, hidden] of each sentence.
        """
        tenth = max(1, len(split.train) // 10)
        inner = Split(train=split.train[tenth:], dev=split.train[:tenth])
        n_layers = len(next(iter(states.values())))
        distances = {task: self._tree_distances(split.train, task) for task in TASKS}
        uuas = []
        for layer in job.progress(range(n_layers), desc="structural probe, layers"):
            at_layer = {name: layers[layer] for name, layers in states.items()}
            (correct, total), _ = self._fit_structural(at_layer, inner, "real", distances["real"])
            uuas.append(correct.sum() / max(total.sum(), 1))
        layer = int(np.argmax(uuas))
        log.info("UUAS of the layers on held-out training sentences: %s", np.round(uuas, 3))
        at_layer = {name: layers[layer] for name, layers in states.items()}
        for task in TASKS:
            counts, matrix = self._fit_structural(at_layer, split, task, distances[task])
            self.keep("structural", task, "UUAS", counts, {"matrix": matrix})
        return layer

    def _fit_structural(
        self,
        states: dict[str, np.ndarray],
        split: Split,
        task: str,
        distances: dict[str, np.ndarray],
    ) -> tuple[Counts, torch.Tensor]:
        """Train on states [word, hidden] and the training trees' distances, both by sentence."""
        train_states, dev_states = (
            [states[sentence.tree.id] for sentence in sentences] for sentences in split
        )
        dev_heads = [self._tree_heads(sentence, task) for sentence in split.dev]
        matrix = structural_probe.fit(
            train_states,
            [distances[sentence.tree.id] for sentence in split.train],
            self.settings["structural_rank"],
            self.recipe("structural"),
            self.device,
        )
        scored = [sentence.scored for sentence in split.dev]
        return structural_probe.counts(matrix, dev_states, dev_heads, scored), matrix

    def _tree_distances(self, sentences: Sequence[Sentence], task: str) -> dict[str, np.ndarray]:
        """Distances in the tree of each sentence, which are the same for every layer."""
        return {
            sentence.tree.id: structural_probe.tree_distances(self._tree_heads(sentence, task))
            for sentence in sentences
        }

    def _tree_heads(self, sentence: Sentence, task: str) -> np.ndarray:
        """Heads that form a tree, on the control task too."""
        if task == "real":
            return sentence.heads
        heads = control_heads(sentence.tree.words, self.seed, structural_probe.CONTROL)
        return structural_probe.control_tree(heads)

    def keep(
        self, name: str, task: str, measure: str, counts: Counts, weights: dict[str, torch.Tensor]
    ) -> None:
        """Save a probe's weights, if it has any, with its settings, and add its score."""
        correct, total = counts
        row = {"probe": name, "task": task, "measure": measure}
        row |= score(correct, total, self.settings["bootstrap"], self.seed)
        log.info("%s", row)
        self.rows.append(row)
        if weights:
            tensors = {key: value.detach().cpu().contiguous() for key, value in weights.items()}
            metadata = {"probe": name, "task": task, "settings": json.dumps(self.settings)}
            save_file(tensors, self.folder / f"{name}.{task}.safetensors", metadata=metadata)


def score(correct: np.ndarray, total: np.ndarray, draws: int, seed: int) -> dict[str, float]:
    """Share of correct answers with its 95% bootstrap interval over sentences."""
    interval = head_accuracy.accuracy(correct[:, None], total[:, None], draws, seed)
    names = ("score", "ci_low", "ci_high")
    values = dict(zip(names, (value.item() for value in interval), strict=True))
    return values | {"n": int(total.sum())}


def right_branching(sentences: Sequence[Sentence]) -> Counts:
    """Every word's head is the word to its right; the last word is the root."""
    correct, total = [], []
    for sentence in sentences:
        predicted = np.append(np.arange(2, len(sentence) + 1), 0)
        correct.append(int(((predicted == sentence.heads) & sentence.scored).sum()))
        total.append(int(sentence.scored.sum()))
    return np.array(correct), np.array(total)


def main(
    attention: Path,
    random_attention: Path,
    model: Path,
    corpus: Path,
    trees: Path,
    vectors: Path,
    words: Path,
    scores: Out,
    probes: Out,
    settings: dict[str, Any],
    max_tokens: int,
    batch_tokens: int = 4096,
    seed: int = 1,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write the scores and the folder of probes; the layer of the structural probe is a column."""
    probes.mkdir(parents=True)
    card = read_card(model)
    known = read_vectors(vectors, words)
    examples = read_examples(corpus)
    documents = [example.document for example in examples]

    def sentences_with(path: Path) -> Split:
        with Cache(path, card) as cache:
            loaded = probe_sentences.load(cache, read_trees(trees), documents, known)
        return probe_sentences.split(loaded, settings["dev_share"], seed)

    trainer = Trainer(settings, seed, device, probes)
    split = sentences_with(attention)
    log.info("%d sentences to train on, %d to score", len(split.train), len(split.dev))
    n_heads, dimension = len(split.train[0].attention), known.matrix.shape[1]
    trainer.keep("right-branching", "real", "UAS", right_branching(split.dev), {})
    torch.manual_seed(seed)
    trainer.train("distances-and-words", DistancesAndWords(dimension, settings["hidden"]), split)
    trainer.train("attention-only", AttentionOnly(n_heads), split)
    trainer.train("attention-and-words", AttentionAndWords(n_heads, dimension), split)
    used = {sentence.tree.id for sentence in (*split.train, *split.dev)}
    states = structural_probe.word_states(
        models.directory_of(card),
        [example for example in examples if example.id in used],
        max_tokens,
        device,
        batch_tokens,
    )
    layer = trainer.train_structural(states, split)
    split = sentences_with(random_attention)
    trainer.train("random-attention-and-words", AttentionAndWords(n_heads, dimension), split)
    frame = pd.DataFrame(trainer.rows)
    frame["layer"] = np.where(frame["probe"] == "structural", layer, -1)
    frame["train_sentences"], frame["dev_sentences"] = len(split.train), len(split.dev)
    has_vector = [
        word in known for sentence in (*split.train, *split.dev) for word in sentence.tree.words
    ]
    frame["words_with_vectors"] = np.mean(has_vector)
    tables.write(frame, scores)


if __name__ == "__main__":
    job.run(main, globals())
