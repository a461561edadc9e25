"""A classifier fine-tuned on one task from one initialisation and seed (Kovaleva et al., 4.3).

The same seed, data and threads give the same weights on a CPU, whether or not the run was killed
and resumed.
"""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.nn import functional
from transformers import PreTrainedModel
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card, write_card
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.integrity import digests
from workflow_scripts.core.model import models, running
from workflow_scripts.core.model.classifiers import new_classifier, tokens_of
from workflow_scripts.core.model.training import (
    WarmedUpRecipe,
    claim_state,
    decay_groups,
    train_resumably,
)
from workflow_scripts.core.run import job


@dataclass(frozen=True, kw_only=True)
class FineTuning(WarmedUpRecipe):
    """How a classifier is trained, by AdamW."""

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    weight_decay: float = 0.01


@dataclass(frozen=True)
class LabelledTokens:
    """Examples with their labels: int64 [example] of classes, float32 [example] of scores."""

    tokens: Sequence[Tokens]
    labels: torch.Tensor


def loss_of_logits(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross entropy of [example, class], or mean squared error of a score [example, 1]."""
    if labels.is_floating_point():
        return functional.mse_loss(logits[:, 0].float(), labels)
    return functional.cross_entropy(logits.float(), labels)


def train(
    model: PreTrainedModel,
    training: LabelledTokens,
    recipe: FineTuning,
    state: Path,
    epochs: Path | None = None,
) -> pd.DataFrame:
    """Train `model` in place, as `train_resumably`; the curve."""
    groups = decay_groups(model, recipe.weight_decay)
    optimizer = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)

    def loss_of(indices: torch.Tensor) -> torch.Tensor:
        inputs = running.pad([training.tokens[index] for index in indices], model)
        with running.autocast(model.device, recipe.precision), running.OneDNN():
            logits = model(**inputs).logits
        return loss_of_logits(logits, training.labels[indices].to(model.device))

    lengths = [len(example) for example in training.tokens]
    return train_resumably(model, lengths, optimizer, recipe, loss_of, None, state, epochs)


def write_checkpoint(
    classifier: PreTrainedModel,
    tokenizer: FastTokenizer,
    base: dict[str, Any],
    checkpoint: Path,
    card: Path,
) -> None:
    """Write a classifier to the output `checkpoint`, and its card; `base` is its body's card."""
    models.save(classifier, tokenizer, checkpoint)
    name = job.final(checkpoint).name
    own = {"name": f"{base['name']}.{name}", "source": {"trained": name}}
    write_card(base | own | {"weights": models.weights_digest(checkpoint)}, card)


def main(
    model: Path,
    training: Path,
    checkpoint: job.Out,
    card: job.Out,
    curve: job.Out,
    task: str,
    init: str,
    max_tokens: int,
    recipe: dict[str, Any],
    epochs: job.Out | None = None,
    device: str = "auto",
) -> None:
    """Write checkpoint, card and curve; a killed run resumes from <checkpoint>.work.

    `recipe` has the seed. `epochs` gets the weights after each epoch but the last, in epoch-<k>.
    """
    base, definition, fine_tuning = read_card(model), TASKS[task], FineTuning(**recipe)
    directory = models.directory_of(base)
    tokenizer = models.load_tokenizer(directory)
    rows = tables.read(training)
    tokens = tokens_of(rows, tokenizer, max_tokens, base["max_positions"])
    labels = rows["label"].to_numpy(np.int64 if definition.labels else np.float32)
    classifier = new_classifier(directory, definition, init, fine_tuning.seed)
    classifier.to(running.pick_device(device))
    identity = {
        "weights": base["weights"],
        "training": digests.sha256(training),
        "task": asdict(definition),
        "init": init,
        "max_tokens": max_tokens,
        "every_epoch": epochs is not None,
        "recipe": asdict(fine_tuning),
    }
    work = job.work(checkpoint)
    state = claim_state(work, Path(__file__), classifier.device, identity)
    examples = LabelledTokens(tokens, torch.tensor(labels))
    losses = train(classifier, examples, fine_tuning, state, work if epochs else None)
    write_checkpoint(classifier, tokenizer, base, checkpoint, card)
    if epochs:
        epochs.mkdir()
        for epoch in work.glob("epoch-*"):
            shutil.copytree(epoch, epochs / epoch.name)
    about = {"task": definition.title, "init": init, "seed": fine_tuning.seed}
    tables.write_csv(losses.assign(**about), curve)


if __name__ == "__main__":
    job.run(main, globals())
