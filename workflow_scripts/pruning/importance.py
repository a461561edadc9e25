"""How much each head matters by the gradient of its gate (Michel et al. 2019, section 4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import PreTrainedModel

from workflow_scripts.core import devices, inputs, job, tables
from workflow_scripts.core.attention import (
    Gates,
    Watcher,
    n_heads,
    n_layers,
    open_attention,
    watching,
)
from workflow_scripts.core.batches import by_length
from workflow_scripts.core.classifiers import classifier_of, sample_of
from workflow_scripts.core.job import Out
from workflow_scripts.core.tasks import read_task
from workflow_scripts.core.tokens import Tokens

VARIANTS = ("paper", "released")


@dataclass
class Kept(Watcher):
    """Keeps the heads' outputs of a forward pass, with their gradients after `backward`."""

    outputs: list[torch.Tensor] = field(default_factory=list)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        output.retain_grad()
        self.outputs.append(output)
        return output


def losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Every example's own loss, [batch]: cross-entropy, or the squared error of a score."""
    if logits.shape[1] == 1:
        return (logits[:, 0] - labels.to(logits.dtype)) ** 2
    return functional.cross_entropy(logits, labels.long(), reduction="none")


def gradients(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    labels: np.ndarray,
    pruned: np.ndarray | None = None,
    batch_tokens: int = 2048,
) -> dict[str, np.ndarray]:
    """|dL/d xi| of every example and head, float64 [example, layer, head], for each of VARIANTS.

    L(x) is one example's loss, xi the gate that multiplies a head's output. There is one gate for
    each example and head, so that one backward pass gives every example's own gradient. `paper`
    is the absolute value of an example's gradient, whose mean over examples is I_h; `released`
    sums the absolute values of its parts at the tokens instead, as the released code does. The
    gates of `pruned` heads, bool [layer, head], are 0.
    """
    size = n_layers(model), n_heads(model)
    gates = np.ones(size) if pruned is None else 1.0 - pruned
    found = {name: np.empty((len(tokens), *size)) for name in VARIANTS}
    open_attention(model).requires_grad_(False)
    for batch in by_length([len(one) for one in tokens], batch_tokens):
        padded = inputs.pad([tokens[index] for index in batch], model)
        xi = torch.from_numpy(gates).to(model.device, model.dtype).repeat(len(batch), 1, 1)
        xi.requires_grad_()
        with watching(model, Gates(xi), kept := Kept()):
            logits = model(**padded).logits
        target = torch.from_numpy(np.asarray(labels)[batch]).to(model.device)
        losses(logits, target).sum().backward()
        found["paper"][batch] = xi.grad.abs().double().cpu().numpy()
        parts = [(one.grad * one.detach()).sum(-1).abs().sum(-1) for one in kept.outputs]
        found["released"][batch] = torch.stack(parts, 1).double().cpu().numpy()
    return found


def released_scale(lengths: Sequence[int], n_layers: int) -> np.ndarray:
    """What makes the mean over examples the released code's number, [layer, 1].

    It divides the sum by all tokens; in the last layer, where [CLS] alone has a gradient, by
    examples.
    """
    scale = np.full((n_layers, 1), len(lengths) / sum(lengths))
    scale[-1] = 1.0
    return scale


def normalised(importance: np.ndarray) -> np.ndarray:
    """Importance [layer, head] over its l2 norm in each layer (Michel et al., section 4.1)."""
    norm = np.sqrt((importance**2).sum(axis=1, keepdims=True))
    return np.divide(importance, norm, out=np.zeros_like(importance), where=norm > 0)


def importance_of(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    labels: np.ndarray,
    variant: str,
    normalise: bool,
    pruned: np.ndarray | None = None,
) -> np.ndarray:
    """The importance of every head, [layer, head], as `variant` defines it."""
    mean = gradients(model, tokens, labels, pruned)[variant].mean(axis=0)
    if variant == "released":
        mean = mean * released_scale([len(one) for one in tokens], len(mean))
    return normalised(mean) if normalise else mean


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    importance: Out,
    task: str,
    init: str,
    seed: int,
    examples: int,
    max_tokens: int,
    bootstrap: int,
    device: str = "auto",
) -> None:
    """Write each head's importance over training examples, both variants, with intervals.

    Column `normalised` is the importance over its layer's l2 norm.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    frame = read_task(table)
    tokens, rows = sample_of(frame, "train", model, tokenizer, examples, max_tokens, seed)
    values = gradients(model, tokens, rows["label"].to_numpy())
    values["released"] *= released_scale([len(one) for one in tokens], n_layers(model))
    frame = tables.per_head(values, "variant", "importance", bootstrap, seed)
    norms = np.sqrt((frame["importance"] ** 2).groupby([frame["variant"], frame["layer"]]).sum())
    keys = list(zip(frame["variant"], frame["layer"], strict=True))
    frame["normalised"] = frame["importance"].to_numpy() / norms.loc[keys].to_numpy()
    tables.write(frame.assign(task=task, init=init, seed=seed), importance)


if __name__ == "__main__":
    job.run(main, globals())
