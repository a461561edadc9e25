"""Training of probing classifiers: learning rates, both tasks, and the learning curve."""

import copy
from collections.abc import Mapping, Sequence

import torch

from workflow_scripts.probes import probe_fitting
from workflow_scripts.probes.probe_fitting import Batches
from workflow_scripts.probes.probe_results import Results
from workflow_scripts.probes.probe_scores import Answers, attachments, undirected
from workflow_scripts.probes.probe_sentences import Sentence, Split, control_heads, without_tenth

TASKS = ("real", "control")


class Trainer:
    """Trains probing classifiers on the attention of one body."""

    def __init__(self, results: Results, split: Split, device: torch.device) -> None:
        self.results, self.split, self.device = results, split, device
        self.settings = results.settings

    def train(self, probes: Mapping[str, torch.nn.Module]) -> None:
        """Choose the probes' learning rates, draw their curves, and train them on both tasks.

        Every training starts from the probe's present weights.
        """
        rates = self._rates(probes)
        train, dev = (self._batches(part) for part in self.split)
        for name, probe in probes.items():
            for share in self.settings["curve"]:
                part = train.part(share)
                self._point(name, self._fitted(probe, part, rates[name]), part, dev)
            for task in TASKS:
                fitted = self._fitted(probe, self._on(task, train), rates[name], task)
                answers = self._answers(fitted, self._on(task, dev), task)
                counts, sentences = attachments(answers), answers.sentences
                rate = {"learning_rate": rates[name]}
                self.results.keep(name, task, "UAS", counts, sentences, **rate)
                self.results.save(name, task, fitted.state_dict())
                if task == "real":
                    self.results.count(name, task, "UUAS", undirected(answers), sentences)
                    self._point(name, fitted, train, dev)

    def _rates(self, probes: Mapping[str, torch.nn.Module]) -> dict[str, float]:
        """The learning rate of each probe: of several, the best on a tenth of the sentences."""
        grids = {name: self.settings["learning_rates"][name] for name in probes}
        rates = {name: grid[0] for name, grid in grids.items()}
        searched = [name for name, grid in grids.items() if len(grid) > 1]
        if not searched:
            return rates
        train, held_out = (self._batches(part) for part in without_tenth(self.split.train))
        for name in searched:
            tried = []
            for rate in grids[name]:
                answers = self._answers(self._fitted(probes[name], train, rate), held_out)
                tried.append({"learning_rate": rate, "score": attachments(answers).share})
            rates[name] = self.results.choose(name, tried)["learning_rate"]
        return rates

    def _batches(self, sentences: Sequence[Sentence]) -> Batches:
        heads = [sentence.heads for sentence in sentences]
        pairing, size = self.settings["released_pairing"], self.settings["batch_size"]
        return Batches(sentences, heads, size, released_pairing=pairing)

    def _on(self, task: str, batches: Batches) -> Batches:
        """The batches with the heads of a task."""
        if task == "real":
            return batches
        seed = self.results.seed
        heads = [control_heads(sentence.tree.words, seed) for sentence in batches.sentences]
        return batches.with_heads(heads)

    def _fitted(
        self, probe: torch.nn.Module, batches: Batches, rate: float, task: str = "real"
    ) -> torch.nn.Module:
        """A trained copy of the probe; in the control task a word may be its own head."""
        twin = copy.deepcopy(probe)
        recipe = self.results.recipe(rate)
        probe_fitting.fit(twin, batches, recipe, self.device, itself=task == "control")
        return twin

    def _answers(self, probe: torch.nn.Module, batches: Batches, task: str = "real") -> Answers:
        predicted = probe_fitting.predictions(probe, batches, self.device, itself=task == "control")
        sentences, heads = (
            [of[k] for k in batches.order] for of in (batches.sentences, batches.heads)
        )
        return Answers(sentences, predicted, heads)

    def _point(self, name: str, probe: torch.nn.Module, train: Batches, dev: Batches) -> None:
        """A point of the learning curve."""
        seen, scored = self._answers(probe, train), self._answers(probe, dev)
        counts = attachments(seen), attachments(scored)
        self.results.point(name, "UAS", len(seen.sentences), *counts, scored.sentences)
