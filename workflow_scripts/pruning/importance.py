"""How much each head matters by the gradient of its gate (Michel et al. 2019, section 4.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import (
    n_heads,
    n_layers,
    open_attention,
    watching,
)
from workflow_scripts.core.model.interventions import (
    BACKWARD_TOKENS,
    Gates,
    HeadOutputs,
    example_losses,
)
from workflow_scripts.core.stats.effects import normalised

VARIANTS = ("paper", "released")


@dataclass(frozen=True)
class Definition:
    """Which importance ranks the heads: one of VARIANTS, over its layer's l2 norm or plain.

    Orders of pruning may have it computed again before each step.
    """

    variant: str
    normalise: bool
    recompute: bool = False


def gradients(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    labels: np.ndarray,
    pruned: np.ndarray | None = None,
    batch_tokens: int = BACKWARD_TOKENS,
) -> dict[str, np.ndarray]:
    """|dL/d xi| of every example and head, float64 [example, layer, head], for each of VARIANTS.

    L(x) is one example's loss, xi the gate that multiplies a head's output. There is one gate for
    each example and head, so that one backward pass gives every example's own gradient. `paper`
    is the absolute value of an example's gradient, whose mean over examples is I_h; `released`
    sums the absolute values of each token's contribution instead, as the released code does. The
    gates of `pruned` heads, bool [layer, head], are 0.
    """
    shape = (n_layers(model), n_heads(model))
    gates = np.ones(shape) if pruned is None else 1.0 - pruned
    values = {variant: np.empty((len(tokens), *shape)) for variant in VARIANTS}
    open_attention(model).requires_grad_(False)
    for batch in running.by_length([len(example) for example in tokens], batch_tokens):
        padded = running.pad([tokens[index] for index in batch], model)
        xi = torch.from_numpy(gates).to(model.device, model.dtype).repeat(len(batch), 1, 1)
        xi.requires_grad_()
        with running.OneDNN(), watching(model, Gates(xi), heads := HeadOutputs()):
            logits = model(**padded).logits
        target = torch.from_numpy(np.asarray(labels)[batch]).to(model.device)
        example_losses(logits, target).sum().backward()
        values["paper"][batch] = xi.grad.abs().double().cpu().numpy()
        by_layer = [
            (output.grad * output.detach()).sum(-1).abs().sum(-1) for output in heads.outputs
        ]
        values["released"][batch] = torch.stack(by_layer, 1).double().cpu().numpy()
    return values


def scaled(values: dict[str, np.ndarray], lengths: Sequence[int]) -> dict[str, np.ndarray]:
    """The values of `gradients`, scaled: their mean over examples is the variant's importance.

    The released code divides the sum by the number of tokens, and in the last layer, where only
    [CLS] has a gradient, by the number of examples.
    """
    scale = np.full((values["released"].shape[1], 1), len(lengths) / sum(lengths))
    scale[-1] = 1.0
    return values | {"released": values["released"] * scale}


def ranking(
    values: dict[str, np.ndarray],
    lengths: Sequence[int],
    definition: Definition,
    pruned: np.ndarray | None = None,
) -> np.ndarray:
    """The importance of every head, [layer, head], from the values of `gradients`.

    The `pruned` heads, bool [layer, head], have none, and so add nothing to their layer's norm:
    the loss has a gradient at a closed gate, too.
    """
    mean = scaled(values, lengths)[definition.variant].mean(axis=0)
    if pruned is not None:
        mean = np.where(pruned, 0.0, mean)
    return normalised(mean) if definition.normalise else mean


def importance_of(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    labels: np.ndarray,
    definition: Definition,
    pruned: np.ndarray | None = None,
) -> np.ndarray:
    """The importance of every head, [layer, head], in the model without the `pruned` ones."""
    lengths = [len(example) for example in tokens]
    return ranking(gradients(model, tokens, labels, pruned), lengths, definition, pruned)
