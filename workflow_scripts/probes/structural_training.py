"""Training of the structural probe: its layer and learning rate, both tasks, the learning curve."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from workflow_scripts.core.model.batches import chunks_by_length
from workflow_scripts.core.run import job
from workflow_scripts.probes import structural_probe
from workflow_scripts.probes.probe_fitting import evenly_spaced
from workflow_scripts.probes.probe_results import Results
from workflow_scripts.probes.probe_scores import SentenceCounts
from workflow_scripts.probes.probe_sentences import Sentence, Split, control_heads, without_tenth
from workflow_scripts.probes.probe_training import TASKS

NAME = "structural"


class StructuralTrainer:
    """Trains the structural probe on `states` [layer, word, hidden] of each sentence, by id."""

    def __init__(
        self,
        results: Results,
        states: Mapping[str, np.ndarray],
        split: Split,
        device: torch.device,
    ) -> None:
        self.results, self.states, self.split, self.device = results, states, split, device
        self.settings = results.settings
        # The distances in a tree are the same for every layer.
        self.distances = {
            task: {sentence.tree.id: self._distances(sentence, task) for sentence in split.train}
            for task in TASKS
        }

    def train(self) -> None:
        """Choose the layer and the learning rate on a tenth of the training data, then train."""
        n_layers = len(next(iter(self.states.values())))
        inner = without_tenth(self.split.train)
        tried = []
        for layer in job.progress(range(n_layers), desc="structural probe, layers"):
            for rate in self.settings["learning_rates"][NAME]:
                matrix = self._fitted(inner.train, layer, rate)
                score = self._counts(matrix, inner.dev, layer).share
                tried.append({"layer": layer, "learning_rate": rate, "score": score})
        best = self.results.choose(NAME, tried)
        layer, rate = best["layer"], best["learning_rate"]
        train, dev = self.split
        for share in self.settings["curve"]:
            part = self._part(share)
            self._point(part, self._fitted(part, layer, rate), layer)
        for task in TASKS:
            matrix = self._fitted(train, layer, rate, task)
            counts = self._counts(matrix, dev, layer, task)
            about = {"layer": layer, "learning_rate": rate}
            self.results.keep(NAME, task, "UUAS", counts, dev, **about)
            self.results.save(NAME, task, {"matrix": matrix})
            if task == "real":
                self._point(train, matrix, layer)

    def _fitted(
        self, sentences: Sequence[Sentence], layer: int, rate: float, task: str = "real"
    ) -> torch.Tensor:
        """The map [hidden, rank] for a task."""
        distances = [self.distances[task][sentence.tree.id] for sentence in sentences]
        states = self._states(sentences, layer)
        rank, recipe = self.settings["structural_rank"], self.results.recipe(rate)
        return structural_probe.fit(states, distances, rank, recipe, self.device)

    def _counts(
        self, matrix: torch.Tensor, sentences: Sequence[Sentence], layer: int, task: str = "real"
    ) -> SentenceCounts:
        heads = [self._heads(sentence, task) for sentence in sentences]
        scored = [sentence.scored for sentence in sentences]
        states = self._states(sentences, layer)
        return SentenceCounts(*structural_probe.counts(matrix, states, heads, scored))

    def _point(self, train: Sequence[Sentence], matrix: torch.Tensor, layer: int) -> None:
        """A point of the learning curve."""
        counts = (self._counts(matrix, part, layer) for part in (train, self.split.dev))
        self.results.point(NAME, "UUAS", len(train), *counts, self.split.dev)

    def _part(self, share: float) -> list[Sentence]:
        """The same share of the training sentences as that of the other probes."""
        train = self.split.train
        lengths = [len(sentence) for sentence in train]
        chunks = evenly_spaced(chunks_by_length(lengths, self.settings["batch_size"]), share)
        return [train[k] for chunk in chunks for k in chunk]

    def _states(self, sentences: Sequence[Sentence], layer: int) -> list[np.ndarray]:
        return [self.states[sentence.tree.id][layer] for sentence in sentences]

    def _distances(self, sentence: Sentence, task: str) -> np.ndarray:
        return structural_probe.tree_distances(self._heads(sentence, task))

    def _heads(self, sentence: Sentence, task: str) -> np.ndarray:
        """Heads that form a tree, on the control task too."""
        if task == "real":
            return sentence.heads
        heads = control_heads(sentence.tree.words, self.results.seed, structural_probe.CONTROL)
        return structural_probe.control_tree(heads)
