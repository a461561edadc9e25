"""A scorer: a pretrained body and a linear layer from its final [CLS] vector to one logit."""

from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from transformers import AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import weights

HEAD = "scorer.safetensors"


class Scorer(nn.Module):
    """The body's [CLS] vector, dropout, and a new linear layer to one logit.

    With `pooler` the vector goes through the body's own pooler first, as BERT's classifiers do.
    Raises InputError where the body has none.
    """

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
        """The body's config."""
        return self.body.config

    @property
    def device(self) -> torch.device:
        """The device that holds the weights."""
        return self.linear.weight.device

    @property
    def base_model(self) -> PreTrainedModel:
        """The body."""
        return self.body

    def set_attn_implementation(self, name: str) -> None:
        """Route the body's attention through the implementation `name`."""
        self.body.set_attn_implementation(name)

    def of_first(self, first: torch.Tensor) -> torch.Tensor:
        """Logits [batch, 1] of the first token's final states [batch, width]."""
        if self.pooler:
            first = self.body.pooler(first[:, None])
        return self.linear(self.dropout(first))

    def forward(self, **inputs: torch.Tensor) -> SequenceClassifierOutput:
        """Logits [batch, 1]."""
        hidden = self.body(**inputs).last_hidden_state
        return SequenceClassifierOutput(logits=self.of_first(hidden[:, 0]))


def new_scorer(directory: Path, seed: int, pooler: bool = False) -> Scorer:
    """A scorer on the pretrained body in `directory`, float32, with a linear layer by seed."""
    torch.manual_seed(seed)
    return Scorer(_body(directory), pooler)


def save_scorer(scorer: Scorer, directory: Path) -> None:
    """Save the body as Hugging Face does, and the linear layer next to it."""
    scorer.body.save_pretrained(directory)
    state = {name: value.contiguous().cpu() for name, value in scorer.linear.state_dict().items()}
    save_file(state, directory / HEAD, metadata={"pooler": str(scorer.pooler)})


def load_scorer(directory: Path, device: torch.device) -> Scorer:
    """A saved scorer, in eval mode."""
    with safe_open(directory / HEAD, "pt") as file:
        scorer = Scorer(_body(directory, whole=True), file.metadata()["pooler"] == "True")
        scorer.linear.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118 - not a mapping
    return scorer.to(device).eval()


def _body(directory: Path, whole: bool = False) -> PreTrainedModel:
    body, _ = weights.load(AutoModel, directory, whole)
    return body
