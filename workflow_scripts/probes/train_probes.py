"""Train all probes of one model on real and on control heads, and score them (Clark, section 5)."""

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples, read_trees
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.vectors import read_vectors
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.probes import probe_sentences, probing_classifiers, structural_probe
from workflow_scripts.probes.probe_scores import (
    BOUND,
    Answers,
    SentenceCounts,
    attachments,
    by_document,
    right_branching,
    score,
    undirected,
    uniform_attention_bound,
)
from workflow_scripts.probes.probe_sentences import Sentence, Split, control_heads, without_tenth
from workflow_scripts.probes.probing_classifiers import (
    AttentionAndWords,
    AttentionOnly,
    Batches,
    DistancesAndWords,
)
from workflow_scripts.probes.random_body import random_card


class Results:
    """Collects the rows of the tables and saves weights.

    `scores` has a row per probe and task, `counts` correct and all answers by document,
    `rates` a row per probe and settings tried.
    """

    def __init__(self, settings: dict[str, Any], seed: int, folder: Path) -> None:
        self.settings, self.seed, self.folder = settings, seed, folder
        self.scores: list[dict[str, Any]] = []
        self.counts: list[pd.DataFrame] = []
        self.rates: list[dict[str, Any]] = []

    def recipe(self, learning_rate: float) -> Recipe:
        sizes = {key: self.settings[key] for key in ("epochs", "batch_size")}
        return Recipe(seed=self.seed, learning_rate=learning_rate, **sizes)

    def choose(self, probe: str, tried: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The setting with the highest `score`, the first where several have it."""
        best = max(tried, key=lambda row: row["score"])
        self.rates.extend({"probe": probe, **row, "chosen": row is best} for row in tried)
        return best

    def keep(self, about: dict[str, str], documents: pd.DataFrame, **settings: float) -> None:
        """Add a probe's score, and its counts by document; `about` has probe, task and measure."""
        self.counts.append(documents.assign(**about))
        self.scores.append(about | self._score(documents) | settings)

    def keep_answers(self, about: dict[str, str], answers: Answers, **settings: float) -> None:
        """Add a probe's UAS and, of the real task, its counts of UUAS; `about` has no measure."""
        counts = by_document(attachments(answers), answers.sentences)
        self.keep(about | {"measure": "UAS"}, counts, **settings)
        if about["task"] == "real":
            edges = by_document(undirected(answers), answers.sentences)
            self.counts.append(edges.assign(**about, measure="UUAS"))

    def save(self, probe: str, task: str, weights: Mapping[str, torch.Tensor]) -> None:
        """Save a probe's weights, with its settings; one key, as safetensors shuffles several."""
        tensors = {key: value.detach().cpu().contiguous() for key, value in weights.items()}
        metadata = {"settings": json.dumps(self.settings)}
        save_file(tensors, self.folder / f"{probe}.{task}.safetensors", metadata=metadata)

    def _score(self, documents: pd.DataFrame) -> dict[str, float]:
        return score(documents, self.settings["bootstrap"], self.seed)


TASKS = ("real", "control")


class Trainer:
    """Trains probing classifiers on the attention of one body."""

    def __init__(self, results: Results, split: Split, device: torch.device) -> None:
        self.results, self.split, self.device = results, split, device
        self.settings = results.settings

    def train(self, probes: Mapping[str, torch.nn.Module]) -> None:
        """Choose the probes' learning rates, and train them on both tasks."""
        rates = self._rates(probes)
        train, dev = (self._batches(part) for part in self.split)
        for name, probe in probes.items():
            for task in TASKS:
                fitted = self._fitted(probe, self._on(task, train), rates[name], task)
                answers = self._answers(fitted, self._on(task, dev), task)
                about = {"probe": name, "task": task}
                self.results.keep_answers(about, answers, learning_rate=rates[name])
                self.results.save(name, task, fitted.state_dict())

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
        if task == "real":
            return batches
        words = (sentence.tree.words for sentence in batches.sentences)
        return batches.with_heads([control_heads(each, self.results.seed) for each in words])

    def _fitted(
        self, probe: torch.nn.Module, batches: Batches, rate: float, task: str = "real"
    ) -> torch.nn.Module:
        """A trained copy of the probe; in the control task a word may be its own head."""
        twin = copy.deepcopy(probe)
        recipe = self.results.recipe(rate)
        probing_classifiers.fit(twin, batches, recipe, self.device, itself=task == "control")
        return twin

    def _answers(self, probe: torch.nn.Module, batches: Batches, task: str = "real") -> Answers:
        itself = task == "control"
        predicted = probing_classifiers.predictions(probe, batches, self.device, itself)
        of_both = batches.sentences, batches.heads
        sentences, heads = ([of[k] for k in batches.order] for of in of_both)
        return Answers(sentences, predicted, heads)


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
            (sentence.tree.id, task): structural_probe.tree_distances(self._heads(sentence, task))
            for sentence in split.train
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
        for task in TASKS:
            matrix = self._fitted(train, layer, rate, task)
            counts = by_document(self._counts(matrix, dev, layer, task), dev)
            about = {"probe": NAME, "task": task, "measure": "UUAS"}
            self.results.keep(about, counts, layer=layer, learning_rate=rate)
            self.results.save(NAME, task, {"matrix": matrix})

    def _fitted(
        self, sentences: Sequence[Sentence], layer: int, rate: float, task: str = "real"
    ) -> torch.Tensor:
        distances = [self.distances[sentence.tree.id, task] for sentence in sentences]
        states = [self.states[sentence.tree.id][layer] for sentence in sentences]
        rank, recipe = self.settings["structural_rank"], self.results.recipe(rate)
        return structural_probe.fit(states, distances, rank, recipe, self.device)

    def _counts(
        self, matrix: torch.Tensor, sentences: Sequence[Sentence], layer: int, task: str = "real"
    ) -> SentenceCounts:
        heads = [self._heads(sentence, task) for sentence in sentences]
        scored = [sentence.scored for sentence in sentences]
        states = [self.states[sentence.tree.id][layer] for sentence in sentences]
        return SentenceCounts(*structural_probe.counts(matrix, states, heads, scored))

    def _heads(self, sentence: Sentence, task: str) -> np.ndarray:
        """Heads that form a tree: on the control task the first and the last word are joined."""
        if task == "real":
            return sentence.heads
        heads = control_heads(sentence.tree.words, self.results.seed, structural_probe.CONTROL)
        heads[0] = 0
        heads[-1] = 1 if len(heads) > 1 else 0
        return heads


def main(
    attention: Path,
    random_attention: Path,
    model: Path,
    corpus: Path,
    trees: Path,
    vectors: Path,
    words: Path,
    scores: job.Out,
    counts: job.Out,
    rates: job.Out,
    probes: job.Out,
    settings: dict[str, Any],
    max_tokens: int,
    batch_tokens: int = 4096,
    seed: int = 1,
    device: str = "auto",
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

    results, on = Results(settings, seed, probes), running.pick_device(device)
    split = sentences_with(attention, card)
    n_heads, dimension = len(split.train[0].attention), known.matrix.shape[1]
    about = {"probe": "right-branching", "task": "real"}
    results.keep_answers(about, right_branching(split.dev))
    bound = by_document(uniform_attention_bound(split.dev), split.dev)
    results.keep({"probe": BOUND, "task": "real", "measure": "UAS"}, bound)
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
    words_of = (sentence.tree.words for sentence in (*split.train, *split.dev))
    frame["words_with_vectors"] = np.mean([word in known for each in words_of for word in each])
    tables.write(frame, scores)
    tables.write(pd.concat(results.counts, ignore_index=True), counts)
    tables.write(pd.DataFrame(results.rates), rates)


if __name__ == "__main__":
    job.run(main, globals())
