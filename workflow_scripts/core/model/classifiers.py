"""Sequence classifiers: initialised from a pretrained body or at random, loaded, and applied."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import AutoModelForSequenceClassification, PreTrainedModel
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.glue import Task, read_task, split_of, to_examples
from workflow_scripts.core.data.sampling import sample_rows
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.model import devices, finite, models, padding, weights
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.onednn import OneDNN


def new_classifier(directory: Path, task: Task, init: str, seed: int) -> PreTrainedModel:
    """A classifier for `task` whose body is pretrained or, with `init` "random", random.

    Random weights are sampled from the model's own normal distribution (initializer_range), biases
    are 0 and layer norms 1, as before pretraining; the classifier's head is always random.
    """
    config = weights.read_config(directory)
    config.num_labels = task.n_labels
    config.problem_type = None if task.labels else "regression"
    if task.labels:
        config.id2label = dict(enumerate(task.labels))
        config.label2id = {label: number for number, label in enumerate(task.labels)}
    torch.manual_seed(seed)
    if init == "random":
        model = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
        return model.to(torch.float32)
    model, _ = weights.load(AutoModelForSequenceClassification, directory, config=config)
    return model


def load_classifier(directory: Path, device: torch.device) -> PreTrainedModel:
    """A fine-tuned classifier, float32 and in eval mode, on `device`."""
    model, _ = weights.load(AutoModelForSequenceClassification, directory, whole=True)
    return model.to(device).eval()


def classifier_of(card: Path, device: torch.device) -> tuple[PreTrainedModel, FastTokenizer]:
    """The classifier that a checkpoint's card describes, and its tokenizer."""
    directory = models.directory_of(read_card(card))
    return load_classifier(directory, device), models.load_tokenizer(directory)


@dataclass(frozen=True)
class Sampler:
    """Samples of a task's splits, as tokens for a classifier and as rows of the task's table."""

    table: pd.DataFrame
    tokenizer: FastTokenizer
    max_tokens: int
    max_positions: int
    seed: int

    def sample(self, split: str, n: int) -> tuple[list[Tokens], pd.DataFrame]:
        """At most `n` examples (0: all) of a split: their tokens and their rows."""
        rows = sample_rows(split_of(self.table, split), n, self.seed)
        return tokens_of(rows, self.tokenizer, self.max_tokens, self.max_positions), rows


def classifier_and_sampler(
    card: Path, table: Path, max_tokens: int, seed: int, device: str
) -> tuple[PreTrainedModel, Sampler]:
    """The classifier that a checkpoint's card describes, and samples of its task's `table`."""
    model, tokenizer = classifier_of(card, devices.pick(device))
    positions = read_card(card)["max_positions"]
    return model, Sampler(read_task(table), tokenizer, max_tokens, positions, seed)


def tokens_of(
    frame: pd.DataFrame, tokenizer: FastTokenizer, max_tokens: int, max_positions: int
) -> list[Tokens]:
    """Tokens of the rows of a task's table; the longer text is truncated first to `max_tokens`."""
    return tokenize(to_examples(frame), tokenizer, max_tokens, max_positions)


def logits_of(
    model: PreTrainedModel, tokens: Sequence[Tokens], batch_tokens: int = 4096
) -> np.ndarray:
    """The classifier's outputs, float32 [example, label], in batches of neighbouring lengths.

    Raises InputError where one is not finite.
    """
    outputs = np.empty((len(tokens), model.config.num_labels), dtype=np.float32)
    training = model.training
    model.eval()
    for batch in by_length([len(example) for example in tokens], batch_tokens):
        with torch.inference_mode(), OneDNN():
            logits = model(**padding.pad([tokens[index] for index in batch], model)).logits
        outputs[batch] = logits.float().cpu().numpy()
    model.train(training)
    return finite.check_logits(outputs)
