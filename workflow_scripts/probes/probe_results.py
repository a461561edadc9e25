"""What the probes of one job find: its tables, and the folder of its probes."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from safetensors.torch import save_file

from workflow_scripts.core.model.training import Recipe
from workflow_scripts.probes.probe_scores import SentenceCounts, by_document, score
from workflow_scripts.probes.probe_sentences import Sentence

log = logging.getLogger(__name__)


class Results:
    """Collects the rows of the tables and saves weights.

    `scores` has a row per probe and task, `counts` correct and all answers by document, `curve` a
    row per probe and number of training sentences, `rates` one per probe and settings tried.
    """

    def __init__(self, settings: dict[str, Any], seed: int, folder: Path) -> None:
        self.settings, self.seed, self.folder = settings, seed, folder
        self.scores: list[dict[str, Any]] = []
        self.counts: list[pd.DataFrame] = []
        self.curve: list[dict[str, Any]] = []
        self.rates: list[dict[str, Any]] = []

    def recipe(self, learning_rate: float) -> Recipe:
        """How a probe is trained at this learning rate."""
        return Recipe(
            seed=self.seed,
            epochs=self.settings["epochs"],
            batch_size=self.settings["batch_size"],
            learning_rate=learning_rate,
        )

    def choose(self, probe: str, tried: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The setting with the highest `score`, the first where several have it."""
        best = max(tried, key=lambda row: row["score"])
        self.rates.extend({"probe": probe, **row, "chosen": row is best} for row in tried)
        return best

    def keep(
        self,
        probe: str,
        task: str,
        measure: str,
        counts: SentenceCounts,
        sentences: Sequence[Sentence],
        **about: float,
    ) -> None:
        """Add a probe's score, and its counts."""
        self.count(probe, task, measure, counts, sentences)
        scored = self._score(counts, sentences)
        self.scores.append({"probe": probe, "task": task, "measure": measure, **scored, **about})
        log.info("%s", self.scores[-1])

    def count(
        self,
        probe: str,
        task: str,
        measure: str,
        counts: SentenceCounts,
        sentences: Sequence[Sentence],
    ) -> None:
        """Add a probe's counts by document."""
        about = {"probe": probe, "task": task, "measure": measure}
        self.counts.append(by_document(counts, sentences).assign(**about))

    def point(
        self,
        probe: str,
        measure: str,
        train_sentences: int,
        train: SentenceCounts,
        dev: SentenceCounts,
        sentences: Sequence[Sentence],
    ) -> None:
        """Add a point to a probe's learning curve, with the score on what it was trained on."""
        about = {"probe": probe, "measure": measure, "train_sentences": train_sentences}
        about["train_score"] = train.share
        self.curve.append(about | self._score(dev, sentences))

    def save(self, probe: str, task: str, weights: Mapping[str, torch.Tensor]) -> None:
        """Save a probe's weights, with its settings; one key, as safetensors shuffles several."""
        tensors = {key: value.detach().cpu().contiguous() for key, value in weights.items()}
        metadata = {"settings": json.dumps(self.settings)}
        save_file(tensors, self.folder / f"{probe}.{task}.safetensors", metadata=metadata)

    def _score(self, counts: SentenceCounts, sentences: Sequence[Sentence]) -> dict[str, float]:
        return score(by_document(counts, sentences), self.settings["bootstrap"], self.seed)
