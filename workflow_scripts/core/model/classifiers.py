"""Sequence classifiers and scorers: made of a pretrained body or at random, loaded, and applied."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers import PreTrainedTokenizerFast as FastTokenizer
from transformers.modeling_outputs import SequenceClassifierOutput

from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tables import read, sample_rows
from workflow_scripts.core.data.tasks import Task, split_of, to_examples
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, running, weights

SCORER_HEAD = "scorer.safetensors"


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
    model, tokenizer = classifier_of(card, running.pick_device(device))
    positions = read_card(card)["max_positions"]
    return model, Sampler(read(table), tokenizer, max_tokens, positions, seed)


def tokens_of(
    frame: pd.DataFrame, tokenizer: FastTokenizer, max_tokens: int, max_positions: int
) -> list[Tokens]:
    """Tokens of the rows of a task's table; the longer text is truncated first to `max_tokens`."""
    return tokenize(to_examples(frame), tokenizer, max_tokens, max_positions)


def logits_of(
    model: PreTrainedModel, tokens: Sequence[Tokens], batch_tokens: int = 4096
) -> np.ndarray:
    """The classifier's outputs, float32 [example, label]; raises InputError for one not finite."""
    outputs = np.empty((len(tokens), model.config.num_labels), dtype=np.float32)
    training = model.training
    model.eval()
    for batch in running.by_length([len(example) for example in tokens], batch_tokens):
        with torch.inference_mode(), running.OneDNN():
            logits = model(**running.pad([tokens[index] for index in batch], model)).logits
        outputs[batch] = logits.float().cpu().numpy()
    model.train(training)
    return running.check_logits(outputs)


class Scorer(nn.Module):
    """A linear layer to a logit on the body's [CLS] vector, with `pooler` after its own pooler."""

    def __init__(self, body: PreTrainedModel, pooler: bool = False) -> None:
        super().__init__()
        if pooler and getattr(body, "pooler", None) is None:
            raise InputError(f"{body.config.model_type}: has no pooler; set pooler to false")
        self.body, self.pooler = body, pooler
        body.config.num_labels = 1
        self.dropout = nn.Dropout(getattr(body.config, "hidden_dropout_prob", 0.1))
        self.linear = nn.Linear(body.config.hidden_size, 1)
        nn.init.normal_(self.linear.weight, std=getattr(body.config, "initializer_range", 0.02))
        nn.init.zeros_(self.linear.bias)

    @property
    def config(self) -> PretrainedConfig:
        return self.body.config

    @property
    def device(self) -> torch.device:
        return self.linear.weight.device

    @property
    def base_model(self) -> PreTrainedModel:
        return self.body

    def set_attn_implementation(self, name: str) -> None:
        self.body.set_attn_implementation(name)

    def logits_of_first(self, first: torch.Tensor) -> torch.Tensor:
        """Logits [batch, 1] of the first token's final states [batch, width]."""
        if self.pooler:
            first = self.body.pooler(first[:, None])
        return self.linear(self.dropout(first))

    def forward(self, **inputs: torch.Tensor) -> SequenceClassifierOutput:
        hidden = self.body(**inputs).last_hidden_state
        return SequenceClassifierOutput(logits=self.logits_of_first(hidden[:, 0]))


def new_scorer(directory: Path, seed: int, pooler: bool = False) -> Scorer:
    """A scorer on the pretrained body in `directory`, float32, with a linear layer by seed."""
    torch.manual_seed(seed)
    body, _ = weights.load(AutoModel, directory)
    return Scorer(body, pooler)


def save_scorer(scorer: Scorer, directory: Path) -> None:
    """Save the body as Hugging Face does, and the linear layer next to it."""
    scorer.body.save_pretrained(directory)
    state = {name: value.contiguous().cpu() for name, value in scorer.linear.state_dict().items()}
    save_file(state, directory / SCORER_HEAD, metadata={"pooler": str(scorer.pooler)})


def load_scorer(directory: Path, device: torch.device) -> Scorer:
    """A saved scorer, in eval mode."""
    body, _ = weights.load(AutoModel, directory, whole=True)
    with safe_open(directory / SCORER_HEAD, "pt") as file:
        scorer = Scorer(body, file.metadata()["pooler"] == "True")
        scorer.linear.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118 - not a mapping
    return scorer.to(device).eval()
