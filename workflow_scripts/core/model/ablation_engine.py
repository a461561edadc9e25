"""Logits of a classifier with any sets of heads disabled, each piece of work done once.

A batch runs once through the plain model. At each layer all variants whose lowest disabled head
lies there branch off: they share its attention, and run stacked along the batch from there up. In
the last layer only the first token, which the classifier reads, is computed.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import n_heads, n_layers, open_attention, watching
from workflow_scripts.core.model.classifiers import Scorer
from workflow_scripts.core.model.interventions import (
    FROM_TEXTS,
    STREAM,
    Disabled,
    Replacement,
    replacement_of,
)
from workflow_scripts.core.model.layers import LayeredClassifier, layers_of
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)
MODES = ("uniform", "zero", *FROM_TEXTS)
TOLERANCE = 1e-3  # of the logits, layer by layer against the whole model, in float32


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


GROUP = "key-value group"  # all heads that share a key-value head
UNITS = {"head": one_head, "layer": one_layer, "all-but-one": all_but_one, GROUP: one_head}


def ablate(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    disabled: np.ndarray,
    mode: str,
    instead: Replacement | None = None,
    *,
    pass_tokens: int = 1536,
    precision: str = "float32",
) -> np.ndarray:
    """Logits, float32 [variant, example, label], with the heads of `disabled` disabled.

    `disabled` is bool [variant, layer, head]; a variant without any is the plain model. A disabled
    head attends to all L real tokens alike (`uniform`, Kovaleva et al. 4.6), outputs 0 (`zero`,
    Michel et al. 2.2), or what `instead` gives for each of `tokens` (the modes of FROM_TEXTS, by
    `interventions.replacement_of`). One pass has at most `pass_tokens` tokens, padding and all
    stacked variants included, or one example's. The whole model runs once for each variant where
    `layers_of` does not know the architecture. Raises RuntimeError where the layers run one by one
    do not give the model's own logits.
    """
    classifier, size = layers_of(model), batch_tokens(model, pass_tokens)
    if classifier is None:
        kind = model.config.model_type
        log.warning("%s cannot run layer by layer: the whole model runs for each variant", kind)
        open_attention(model)

    def run(inputs: dict[str, torch.Tensor], watcher: Disabled) -> torch.Tensor:
        with running.autocast(model.device, precision):
            if classifier is None:
                return one_by_one(model, watcher, lambda: model(**inputs).logits)
            return _batch_logits(_Ablation(classifier, watcher), inputs, pass_tokens)

    with torch.inference_mode(), running.OneDNN():
        if classifier is not None:
            longest = running.by_length([len(example) for example in tokens], size)[0][:2]
            _check(classifier, model, [tokens[index] for index in longest])
        width = model.config.num_labels
        return in_batches(model, tokens, disabled, mode, instead, size, width, run)


def in_batches(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    disabled: np.ndarray,
    mode: str,
    instead: Replacement | None,
    batch_tokens: int,
    width: int,
    run: Callable[[dict[str, torch.Tensor], Disabled], torch.Tensor],
) -> np.ndarray:
    """What `run` gives for padded batches, [variant, text, at most width]; NaN beyond it."""
    if mode not in (*MODES, STREAM) or (mode in FROM_TEXTS) != (instead is not None):
        raise ValueError(f"mode {mode!r}: one of {MODES}, with a replacement for {FROM_TEXTS}")
    unlike, inverse = np.unique(disabled, axis=0, return_inverse=True)  # equal variants run once
    heads = torch.from_numpy(unlike).to(model.device)
    found = np.full((len(unlike), len(tokens), width), np.nan, np.float32)
    batches = running.by_length([len(example) for example in tokens], batch_tokens)
    for batch in job.progress(batches, len(batches), f"{len(unlike)} variants, {mode}"):
        inputs = running.pad([tokens[index] for index in batch], model)
        outputs = None
        if instead is not None:
            outputs = instead.outputs_for(batch.tolist(), inputs["input_ids"].shape[1])
        values = run(inputs, Disabled(heads, mode, outputs))
        found[:, batch, : values.shape[2]] = values.float().cpu().numpy()
    return found[inverse]


def one_by_one(
    model: PreTrainedModel, watcher: Disabled, forward: Callable[[], torch.Tensor]
) -> torch.Tensor:
    """What `forward`, a pass of the whole model, gives for each variant, stacked."""
    found = []
    for heads in watcher.heads:
        with watching(model, replace(watcher, heads=heads[None])):
            found.append(forward())
    return torch.stack(found)


def batch_tokens(model: PreTrainedModel, pass_tokens: int) -> int:
    """Tokens of the batches that `ablate` forms: all heads of a layer fit into one pass."""
    return pass_tokens if layers_of(model) is None else pass_tokens // n_heads(model)


def lowest_layer(disabled: torch.Tensor, without: int) -> torch.Tensor:
    """The lowest layer with a disabled head of each variant, or `without`, int [variant]."""
    layers = disabled.any(2)
    return torch.where(layers.any(1), layers.int().argmax(1), without)


@dataclass(frozen=True)
class _Ablation:
    """A classifier, and which heads of which variant are disabled, bool [variant, layer, head]."""

    classifier: LayeredClassifier
    watcher: Disabled

    def branching(self, depth: int) -> torch.Tensor:
        """The variants whose lowest disabled head is in layer `depth`; n_layers: those without."""
        lowest = lowest_layer(self.watcher.heads, len(self.classifier.layers))
        return (lowest == depth).nonzero()[:, 0]

    def replacement(self, depth: int, hidden: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """What a disabled head of layer `depth` outputs, [batch or 1, token or 1, head, dim].

        `hidden` may have k times as many rows as the batch, one batch after another.
        """
        attention = self.classifier.layers[depth].attention
        if self.watcher.mode == "uniform":  # the mean of the values is the value of the mean
            share = real.to(hidden.dtype) / real.sum(1, keepdim=True)
            average = torch.einsum("btw,bt->bw", hidden, share)
            return attention.split(attention.value(average))[:, None]
        if self.watcher.outputs is not None:
            instead = self.watcher.outputs[:, depth].transpose(1, 2).to(hidden.dtype)
            if depth == len(self.classifier.layers) - 1:
                instead = instead[:, :1]
            times = len(hidden) // len(instead) if len(instead) > 1 else 1
            return instead.repeat(times, 1, 1, 1)
        return hidden.new_zeros(1, 1, attention.n_heads, 1)


def _batch_logits(
    ablation: _Ablation, inputs: dict[str, torch.Tensor], pass_tokens: int
) -> torch.Tensor:
    """Logits [variant, batch, label] of one padded batch."""
    classifier, real = ablation.classifier, inputs["attention_mask"].bool()
    hidden = classifier.embed(inputs)
    first_states = {}  # of each variant, [batch, width]
    for depth, layer in enumerate(classifier.layers):
        outputs, residual = _head_outputs(classifier, depth, hidden, real)
        merged = layer.attention.merge(outputs.flatten(2))
        variants = ablation.branching(depth)
        if len(variants):
            difference = ablation.replacement(depth, hidden, real) - outputs
            by_head = layer.attention.merged_by_head(difference)
            for chunk in variants.split(max(1, pass_tokens // real.numel())):
                disabled = ablation.watcher.heads[chunk, depth].to(by_head.dtype)
                varied = merged + torch.einsum("vh,hbtw->vbtw", disabled, by_head)
                stacked = layer.rest(layer.norm(residual + varied)).flatten(0, 1)
                first = _run_up(ablation, depth + 1, stacked, real, chunk)
                by_variant = first.unflatten(0, (len(chunk), -1))
                first_states |= zip(chunk.tolist(), by_variant, strict=True)
        hidden = layer.rest(layer.norm(residual + merged))
    without = ablation.branching(len(classifier.layers)).tolist()
    first_states |= dict.fromkeys(without, hidden[:, 0])
    rows = torch.stack([first_states[variant] for variant in range(len(ablation.watcher.heads))])
    return classifier.classify(rows.flatten(0, 1)).unflatten(0, (len(rows), -1))


def _run_up(
    ablation: _Ablation,
    start: int,
    hidden: torch.Tensor,
    real: torch.Tensor,
    variants: torch.Tensor,
) -> torch.Tensor:
    """The first token's last state, [variant * batch, width]; `hidden` enters layer `start`."""
    classifier, real = ablation.classifier, real.repeat(len(variants), 1)
    for depth in range(start, len(classifier.layers)):
        layer = classifier.layers[depth]
        outputs, residual = _head_outputs(classifier, depth, hidden, real)
        disabled = ablation.watcher.heads[variants, depth]
        if disabled.any():
            rows = disabled.repeat_interleave(len(hidden) // len(variants), 0)[:, None, :, None]
            outputs = torch.where(rows, ablation.replacement(depth, hidden, real), outputs)
        hidden = layer.rest(layer.norm(residual + layer.attention.merge(outputs.flatten(2))))
    return hidden[:, 0]


def _head_outputs(
    classifier: LayeredClassifier, depth: int, hidden: torch.Tensor, real: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The heads' outputs of a layer, and the hidden states of the tokens that are still needed."""
    attention = classifier.layers[depth].attention
    bias = None
    if not real.all():
        bias = hidden.new_zeros(real.shape).masked_fill(~real, -torch.inf)[:, None, None]
    if classifier.position_bias is not None:
        positions = classifier.position_bias(hidden)
        bias = positions if bias is None else positions + bias
    if depth == len(classifier.layers) - 1:
        return attention.first_outputs(hidden, bias), hidden[:, :1]
    return attention.outputs(hidden, bias), hidden


def _check(classifier: LayeredClassifier, model: PreTrainedModel, tokens: Sequence[Tokens]) -> None:
    """A guard against changes of the model's modules."""
    nothing = torch.zeros(1, 1, 1, dtype=torch.bool, device=model.device)
    inputs = running.pad(tokens[:2], model)
    logits = _batch_logits(_Ablation(classifier, Disabled(nothing, "zero")), inputs, 1 << 30)[0]
    error = (logits - model(**inputs).logits).abs().max().item()
    if not error <= TOLERANCE:
        kind = model.config.model_type
        raise RuntimeError(f"{kind} layer by layer: logits differ by {error:.2g} from the model's")


def variants_of(
    units: Mapping[str, Sequence[str]], layers: int, heads: int, kv_heads: int = 0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Variants (unit, mode, layer, head), and their disabled heads, bool [variant, layer, head].

    The first is the plain model: none, none, -1, -1. Of a GROUP, `head` is the key-value head;
    groups are left out where each head has a key-value head of its own.
    """
    names, masks = [("none", "none", -1, -1)], [np.zeros((1, layers, heads), bool)]
    for unit, modes in units.items():
        size = kv_heads if unit == GROUP else heads
        if unit == GROUP and size == heads:
            continue
        unit_masks = UNITS[unit](layers, size).repeat(heads // size, axis=2)
        indices = range(len(unit_masks))
        cells = [(index, -1) if unit == "layer" else divmod(index, size) for index in indices]
        for mode in modes:
            names += [(unit, mode, *cell) for cell in cells]
            masks.append(unit_masks)
    return pd.DataFrame(names, columns=["unit", "mode", "layer", "head"]), np.concatenate(masks)


def in_every_mode(
    variants: pd.DataFrame, run: Callable[[str, np.ndarray], np.ndarray]
) -> np.ndarray:
    """What `run` gives for each mode and its variants, bool [variant], of all: [variant, ...]."""
    # The plain model, the first of the variants, runs as one of the first mode.
    run_as = variants["mode"].replace("none", variants["mode"][1])
    found = {mode: iter(run(mode, (run_as == mode).to_numpy())) for mode in run_as.unique()}
    return np.stack([next(found[mode]) for mode in run_as])


def by_variant(variants: pd.DataFrame, text: str, **values: np.ndarray) -> pd.DataFrame:
    """One row per variant and text of values [variant, text], `text` the column of its number."""
    n_texts = next(iter(values.values())).shape[1]
    frame = tables.tidy({"variant": range(len(variants)), text: range(n_texts)}, **values)
    return variants.loc[frame.pop("variant")].reset_index(drop=True).join(frame)


def sweep(
    model: PreTrainedModel | Scorer,
    tokens: Sequence[Tokens],
    units: Mapping[str, Sequence[str]],
    reference: Sequence[Tokens] = (),
    *,
    pass_tokens: int,
    precision: str,
    seed: int = 0,
) -> pd.DataFrame:
    """One row per variant and example: unit, mode, layer, head, example, logit_0, logit_1 ...

    `units` has a list of modes for each of UNITS; in those of FROM_TEXTS heads output what comes
    from the `reference` texts, sampled by `seed`. `head` is -1 for a whole layer, and the head that
    is left for all-but-one.
    """
    variants, disabled = variants_of(units, n_layers(model), n_heads(model))
    limits = {"pass_tokens": pass_tokens, "precision": precision}

    def run(mode: str, chosen: np.ndarray) -> np.ndarray:
        if not len(tokens):
            return np.empty((chosen.sum(), 0, model.config.num_labels), np.float32)
        instead = replacement_of(mode, model, tokens, reference, seed)
        return ablate(model, tokens, disabled[chosen], mode, instead, **limits)

    logits = in_every_mode(variants, run)
    columns = {f"logit_{label}": logits[..., label] for label in range(logits.shape[2])}
    return by_variant(variants, "example", **columns)
