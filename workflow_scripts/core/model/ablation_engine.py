"""Logits of a classifier with any sets of heads disabled, each piece of work done once.

A batch runs once through the plain model, layer by layer. At each layer all variants whose
lowest disabled head lies there branch off: they share its queries, keys, values and attention and
differ only in what the disabled heads add to the merged output. From there up they run stacked
along the batch. In the last layer only the first token, which the classifier reads, is computed.

    disabled = one_head(n_layers(model), n_heads(model))      # bool [variant, layer, head]
    logits = ablate(model, tokens, disabled, "uniform")       # [variant, example, label]
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import devices, padding
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.classifiers import logits_of
from workflow_scripts.core.model.interventions import Averages, Fixed, Gates, Uniform
from workflow_scripts.core.model.layers import Parts, parts_of
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)
MODES = ("uniform", "zero", "mean")
TOLERANCE = 1e-3  # of the logits of the parts against the whole model's, in float32


def one_head(n_layers: int, n_heads: int) -> np.ndarray:
    """Every head disabled alone: bool [layer * head, layer, head]."""
    return np.eye(n_layers * n_heads, dtype=bool).reshape(-1, n_layers, n_heads)


def one_layer(n_layers: int, n_heads: int) -> np.ndarray:
    """All heads of every layer disabled: bool [layer, layer, head]."""
    return np.repeat(np.eye(n_layers, dtype=bool)[:, :, None], n_heads, axis=2)


def all_but_one(n_layers: int, n_heads: int) -> np.ndarray:
    """All heads of a layer disabled but one: bool [layer * head, layer, head]."""
    layers = np.repeat(one_layer(n_layers, n_heads), n_heads, axis=0)
    return layers & ~one_head(n_layers, n_heads)


def ablate(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    disabled: np.ndarray,
    mode: str,
    means: torch.Tensor | None = None,
    pass_tokens: int = 3072,
    precision: str = "float32",
) -> np.ndarray:
    """Logits, float32 [variant, example, label], with the heads of `disabled` switched off.

    `disabled` is bool [variant, layer, head]; a variant without any is the plain model. A disabled
    head attends to all L real tokens alike (`uniform`, Kovaleva et al. 4.6), puts out 0 (`zero`,
    Michel et al. 2.2), or the same at every token (`mean`: `means` [layer, head, dim], as
    `mean_outputs` gives them). One pass has at most `pass_tokens` tokens, padding and all stacked
    variants included, or one example's; a batch is so large that all heads of a layer fit into
    one pass. An architecture that is not known to `parts_of` runs whole, once for each variant,
    and the log says so.
    """
    if mode not in MODES or (mode == "mean") != (means is not None):
        raise ValueError(f"mode {mode!r}: one of {MODES}, with means for mean alone")
    parts = parts_of(model)
    if parts is None:
        with devices.autocast(model.device, precision):
            return _whole(model, tokens, disabled, mode, means, pass_tokens)
    change = _Change(parts, torch.from_numpy(disabled).to(model.device), mode, means)
    logits = np.empty((*disabled.shape[:1], len(tokens), model.config.num_labels), np.float32)
    batches = by_length([len(one) for one in tokens], pass_tokens // disabled.shape[2])
    with torch.inference_mode():
        _check(parts, model, [tokens[index] for index in batches[0]])
        for batch in job.progress(batches, len(batches), f"{len(disabled)} variants, {mode}"):
            padded = padding.pad([tokens[index] for index in batch], model)
            with devices.autocast(model.device, precision):
                found = _driven(parts, padded, change, pass_tokens)
            logits[:, batch] = found.float().cpu().numpy()
    return logits


def mean_outputs(model: PreTrainedModel, tokens: Sequence[Tokens]) -> torch.Tensor:
    """Every head's average output over the real tokens of a sample, [layer, head, dim]."""
    averages = Averages()
    with watching(open_attention(model), averages):
        logits_of(model, tokens)
    return averages.mean().to(model.device, torch.float32)


def disabling(
    heads: np.ndarray, mode: str, means: torch.Tensor | None, device: torch.device
) -> Watcher:
    """The watcher that switches off `heads`, bool [layer, head], in a whole model."""
    if mode == "zero":
        return Gates(torch.from_numpy(~heads).to(device, torch.float32))
    chosen = [(int(layer), int(head)) for layer, head in np.argwhere(heads)]
    return Uniform(chosen) if mode == "uniform" else Fixed(chosen, means)


def _whole(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    disabled: np.ndarray,
    mode: str,
    means: torch.Tensor | None,
    pass_tokens: int,
) -> np.ndarray:
    """The same by the whole model, one variant after the other."""
    log.warning("%s is not known in parts: each variant runs whole", model.config.model_type)
    open_attention(model)
    logits = []
    for heads in job.progress(disabled, len(disabled), f"variants, {mode}"):
        with watching(model, disabling(heads, mode, means, model.device)):
            logits.append(logits_of(model, tokens, pass_tokens))
    return np.stack(logits)


@dataclass(frozen=True)
class _Change:
    """Which heads of which variant are disabled, and what they put out instead."""

    parts: Parts
    disabled: torch.Tensor  # bool [variant, layer, head]
    mode: str
    means: torch.Tensor | None

    def branching(self, depth: int) -> torch.Tensor:
        """The variants whose lowest disabled head is in layer `depth`; n_layers: those without."""
        layers = self.disabled.any(2)
        found = layers.any(1)
        lowest = torch.where(found, layers.int().argmax(1), len(self.parts.layers))
        return (lowest == depth).nonzero()[:, 0]

    def instead(self, depth: int, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """What a disabled head of layer `depth` puts out, [batch or 1, 1, head, dim]."""
        attention = self.parts.layers[depth].attention
        if self.mode == "uniform":  # the mean of the values is the value of the mean
            share = real.to(hidden.dtype) / real.sum(1, keepdim=True)
            average = torch.einsum("btw,bt->bw", hidden, share)
            return attention.split(attention.value(average))[:, None]
        if self.mode == "mean":
            return self.means[depth][None, None].to(hidden.dtype)
        return hidden.new_zeros(1, 1, attention.n_heads, 1)


def _driven(
    parts: Parts, padded: dict[str, torch.Tensor], change: _Change, pass_tokens: int
) -> torch.Tensor:
    """Logits [variant, batch, label] of one batch."""
    real = padded["attention_mask"].bool()
    hidden = parts.embed(padded)
    pieces = {}
    for depth, layer in enumerate(parts.layers):
        outputs, kept = _outputs(parts, depth, hidden, real)
        merged = layer.attention.merge(outputs.flatten(2))
        variants = change.branching(depth)
        if len(variants):
            instead = change.instead(depth, hidden, real)
            apart = layer.attention.merged_apart(instead - outputs)
            for chunk in variants.split(max(1, pass_tokens // real.numel())):
                switched = change.disabled[chunk, depth].to(apart.dtype)
                varied = merged + torch.einsum("vh,hbtw->vbtw", switched, apart)
                stacked = layer.rest(layer.norm(kept + varied)).flatten(0, 1)
                first = _upward(parts, depth + 1, stacked, real, change, chunk)
                pieces |= zip(chunk.tolist(), first.unflatten(0, (len(chunk), -1)), strict=True)
        hidden = layer.rest(layer.norm(kept + merged))
    plain = hidden[:, 0]
    pieces |= {variant: plain for variant in change.branching(len(parts.layers)).tolist()}
    rows = torch.stack([pieces[variant] for variant in range(len(change.disabled))])
    return parts.classify(rows.flatten(0, 1)).unflatten(0, (len(rows), -1))


def _upward(
    parts: Parts,
    start: int,
    hidden: torch.Tensor,
    real: torch.Tensor,
    change: _Change,
    variants: torch.Tensor,
) -> torch.Tensor:
    """The first token's last hidden state, [variant * batch, width], of stacked variants."""
    real = real.repeat(len(variants), 1)
    for depth in range(start, len(parts.layers)):
        layer = parts.layers[depth]
        outputs, kept = _outputs(parts, depth, hidden, real)
        switched = change.disabled[variants, depth]
        if switched.any():
            rows = switched.repeat_interleave(len(hidden) // len(variants), 0)[:, None, :, None]
            outputs = torch.where(rows, change.instead(depth, hidden, real), outputs)
        hidden = layer.rest(layer.norm(kept + layer.attention.merge(outputs.flatten(2))))
    return hidden[:, 0]


def _outputs(
    parts: Parts, depth: int, hidden: torch.Tensor, real: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The heads' outputs of a layer, and the hidden states at the tokens that it goes on with."""
    attention = parts.layers[depth].attention
    bias = None
    if not real.all():
        bias = torch.zeros_like(real, dtype=hidden.dtype).masked_fill(~real, -torch.inf)
        bias = bias[:, None, None]
    if depth == len(parts.layers) - 1:
        return attention.first_outputs(hidden, bias), hidden[:, :1]
    return attention.outputs(hidden, bias), hidden


def _check(parts: Parts, model: PreTrainedModel, tokens: Sequence[Tokens]) -> None:
    """The parts give the model's own logits: a guard against another version of its modules."""
    change = _Change(
        parts, torch.zeros(1, 1, 1, dtype=torch.bool, device=model.device), "zero", None
    )
    padded = padding.pad(tokens[:2], model)
    own = _driven(parts, padded, change, 1 << 30)[0]
    error = (own - model(**padded).logits).abs().max().item()
    if not error <= TOLERANCE:
        raise RuntimeError(f"{model.config.model_type} in parts: logits differ by {error:.2g}")
