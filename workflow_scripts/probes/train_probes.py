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
from workflow_scripts.core.data.examples import Example, read_examples
from workflow_scripts.core.data.trees import read_trees
from workflow_scripts.core.data.word_vectors import Vectors, read_vectors
from workflow_scripts.core.model import devices, models
from workflow_scripts.core.model.training import Recipe
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import head_accuracy
from workflow_scripts.probes import probe_fitting, structural_probe
from workflow_scripts.probes import probe_sentences as data
from workflow_scripts.probes.attention_probes import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
)
from workflow_scripts.probes.probe_sentences import Sentence

log = logging.getLogger(__name__)
TASKS = ("real", "control")
Counts = tuple[np.ndarray, np.ndarray]


class Study:
    """Settings, device and results of one job."""

    def __init__(self, settings: dict[str, Any], seed: int, device: str, folder: Path) -> None:
        self.settings, self.seed, self.folder = settings, seed, folder
        self.device = devices.pick(device)
        self.rows: list[dict[str, Any]] = []

    def heads(self, sentences: Sequence[Sentence], task: str) -> list[np.ndarray]:
        """The heads that a probe is to find."""
        if task == "real":
            return [one.heads for one in sentences]
        return [data.control_heads(one.tree.words, self.seed) for one in sentences]

    def run(self, name: str, probe: torch.nn.Module, parts: tuple[list, list]) -> None:
        """Train a probe on both tasks and keep its weights and scores."""
        start = {key: value.clone() for key, value in probe.state_dict().items()}
        for task in TASKS:
            probe.load_state_dict(start)
            size = self.settings["batch_size"]
            fit_on, score_on = (
                probe_fitting.Batches(part, self.heads(part, task), size) for part in parts
            )
            itself = task == "control"
            recipe = self.recipe(name.removeprefix("random-"))
            probe_fitting.fit(probe, fit_on, recipe, self.device, itself)
            found = probe_fitting.counts(probe, score_on, self.device, itself)
            self.keep(name, task, "UAS", found, probe.state_dict())

    def recipe(self, name: str) -> Recipe:
        """How the probe `name` is trained."""
        settings = self.settings
        rate = settings["learning_rates"][name]
        return Recipe(self.seed, settings["epochs"], settings["batch_size"], rate)

    def keep(
        self, name: str, task: str, measure: str, found: Counts, weights: dict[str, torch.Tensor]
    ) -> None:
        """Save a probe with its config, and add its score."""
        row = {"probe": name, "task": task, "measure": measure}
        row |= score(*found, self.settings["bootstrap"], self.seed)
        log.info("%s", row)
        self.rows.append(row)
        if weights:
            whole = {key: value.detach().cpu().contiguous() for key, value in weights.items()}
            about = {"probe": name, "task": task, "settings": json.dumps(self.settings)}
            save_file(whole, self.folder / f"{name}.{task}.safetensors", metadata=about)


def score(right: np.ndarray, total: np.ndarray, draws: int, seed: int) -> dict[str, float]:
    """Share of right answers with its 95% bootstrap interval over sentences."""
    parts = head_accuracy.accuracy(right[:, None], total[:, None], draws, seed)
    names = ("score", "ci_low", "ci_high")
    return dict(zip(names, (part.item() for part in parts), strict=True)) | {"n": int(total.sum())}


def right_branching(sentences: Sequence[Sentence]) -> Counts:
    """Every word's head is the word to its right; the last word is the root."""
    right, total = [], []
    for one in sentences:
        guess = np.append(np.arange(2, len(one) + 1), 0)
        right.append(int(((guess == one.heads) & one.scored).sum()))
        total.append(int(one.scored.sum()))
    return np.array(right), np.array(total)


def run_structural(
    study: Study, states: dict[str, np.ndarray], parts: tuple[list[Sentence], list[Sentence]]
) -> int:
    """Train the structural probe; the layer is chosen on a tenth of the training sentences."""
    fit_on, score_on = parts
    tenth = max(1, len(fit_on) // 10)
    n_layers = len(next(iter(states.values())))
    tried = [
        _uuas(study, states, fit_on[tenth:], fit_on[:tenth], layer, "real")
        for layer in job.progress(range(n_layers), desc="structural probe, layers")
    ]
    shares = [right.sum() / max(total.sum(), 1) for (right, total), _ in tried]
    layer = int(np.argmax(shares))
    log.info("UUAS of the layers on held-out training sentences: %s", np.round(shares, 3))
    for task in TASKS:
        found, matrix = _uuas(study, states, fit_on, score_on, layer, task)
        study.keep("structural", task, "UUAS", found, {"matrix": matrix})
    return layer


def _uuas(
    study: Study,
    states: dict[str, np.ndarray],
    fit_on: list[Sentence],
    score_on: list[Sentence],
    layer: int,
    task: str,
) -> tuple[Counts, torch.Tensor]:
    trees = [[_tree(study, one, task) for one in part] for part in (fit_on, score_on)]
    vectors = [[states[one.tree.id][layer] for one in part] for part in (fit_on, score_on)]
    matrix = structural_probe.fit(
        vectors[0],
        [structural_probe.tree_distances(heads) for heads in trees[0]],
        study.settings["structural_rank"],
        study.recipe("structural"),
        study.device,
    )
    scored = [one.scored for one in score_on]
    return structural_probe.counts(matrix, vectors[1], trees[1], scored), matrix


def _tree(study: Study, one: Sentence, task: str) -> np.ndarray:
    if task == "real":
        return one.heads
    words = one.tree.words
    return structural_probe.control_tree(
        data.control_heads(words, study.seed, structural_probe.CONTROL)
    )


def read_parts(
    path: Path,
    card: dict[str, Any],
    trees: Path,
    examples: Sequence[Example],
    vectors: Vectors,
    share: float,
    seed: int,
) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences to train on and to score, with the attention of one cache."""
    documents = [one.document for one in examples]
    with Cache(path, card) as cache:
        loaded = data.load(cache, read_trees(trees), documents, vectors)
    return data.split(loaded, share, seed)


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
    study = Study(settings, seed, device, probes)
    read = (trees, examples, known, settings["dev_share"], seed)
    parts = read_parts(attention, card, *read)
    log.info("%d sentences to train on, %d to score", *map(len, parts))
    n_heads, dimension = len(parts[0][0].attention), known.matrix.shape[1]
    study.keep("right-branching", "real", "UAS", right_branching(parts[1]), {})
    torch.manual_seed(seed)
    study.run("distances-and-words", DistancesAndWords(dimension, settings["hidden"]), parts)
    study.run("attention-only", AttentionOnly(n_heads), parts)
    study.run("attention-and-words", AttentionAndWords(n_heads, dimension), parts)
    directory = models.directory_of(card)
    chosen = {one.tree.id for part in parts for one in part}
    used = [one for one in examples if one.id in chosen]
    states = structural_probe.word_states(directory, used, max_tokens, device, batch_tokens)
    layer = run_structural(study, states, parts)
    parts = read_parts(random_attention, card, *read)
    study.run("random-attention-and-words", AttentionAndWords(n_heads, dimension), parts)
    frame = pd.DataFrame(study.rows)
    frame["layer"] = np.where(frame["probe"] == "structural", layer, -1)
    frame["train_sentences"], frame["dev_sentences"] = len(parts[0]), len(parts[1])
    known_words = [word in known for part in parts for one in part for word in one.tree.words]
    frame["words_with_vectors"] = np.mean(known_words)
    tables.write(frame, scores)


if __name__ == "__main__":
    job.run(main, globals())
