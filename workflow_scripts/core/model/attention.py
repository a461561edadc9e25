"""Access to attention: the one module through which patterns are read and heads are changed.

It uses the extension point of `transformers`: one function registered as an attention
implementation. It serves every architecture that asks `AttentionInterface` for its attention;
`open_attention` refuses the others, on which an intervention would silently have no effect.

    model = open_attention(model)
    capture = Capture()
    with watching(model, capture, Uniform({(2, 5)})):
        model(**batch)
    capture.patterns[2]  # [batch, head, query, key]

Layers are counted by the calls within a forward pass: DistilBERT's modules carry no `layer_idx`
and ALBERT calls one shared module n_layers times.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from transformers import AttentionInterface, PreTrainedModel
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from workflow_scripts.core.run.errors import InputError

NAME = "atlas"
SUM_TOLERANCE = 1e-4
EFFECT = 1e-5  # of the largest output: less is rounding
# Arguments of attention that leave its scores alone: what is returned, what only other kernels
# read, and what queries, keys and the mask hold already.
HARMLESS = frozenset(
    (
        "output_attentions output_hidden_states return_dict use_cache num_items_in_batch "
        "deterministic position_ids cache_position is_causal"
    ).split()
)


class Watcher:
    """Reads, and may change, patterns and head outputs during a model's forward pass.

    `real` is bool [batch, token], false at padding; `layer` counts from 0.
    """

    def start(self, model: nn.Module) -> None:
        """Called before each forward pass."""

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The post-softmax attention to go on with: [batch, head, query, key]."""
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The heads' outputs to go on with, before they are merged: [batch, head, query, dim]."""
        return output


@dataclass
class Capture(Watcher):
    """Collects every layer's pattern, detached, of the latest forward pass.

    With `with_gradients`, the patterns stay in the graph and have `.grad` after `backward`.
    Rows of padded queries hold attention too: drop them. Raises RuntimeError in training mode
    (dropout would be in the patterns) and where a row over real tokens does not sum to 1.
    """

    dtype: torch.dtype | None = None
    with_gradients: bool = False
    patterns: list[torch.Tensor] = field(default_factory=list)

    def start(self, model: nn.Module) -> None:
        if model.training:
            raise RuntimeError("patterns are read in eval mode: call model.eval() first")
        self.patterns = []

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        _check_rows(layer, pattern, real)
        if self.with_gradients:
            if not pattern.requires_grad:
                pattern = pattern.requires_grad_()
            pattern.retain_grad()
            self.patterns.append(pattern)
        else:
            kept = pattern.detach()
            self.patterns.append(kept if self.dtype is None else kept.to(self.dtype))
        return pattern


def open_attention(model: PreTrainedModel) -> PreTrainedModel:
    """Route the model's attention through this module, and check that this works.

    Raises InputError, naming the architecture, where one forward pass does not call the function
    once per layer, goes on with something else than what the function returns, or gives it an
    argument that may change the scores and is not known here: patterns and interventions would
    then be silently wrong.
    """
    model.set_attn_implementation(NAME)
    if model not in _STATES:
        _STATES[model] = _State()
        model.register_forward_pre_hook(_before_forward, with_kwargs=True)
    _check_effect(model)
    return model


def is_bidirectional(model: PreTrainedModel) -> bool:
    """Whether tokens attend to later tokens, in any head of a model that `open_attention` opened.

    A decoder, whose tokens attend to earlier tokens alone, does not.
    """
    tokens = torch.zeros((1, 2), dtype=torch.long, device=model.device)
    with watching(model, capture := Capture()), torch.no_grad():
        model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
    return any(bool(pattern[:, :, 0, 1].any()) for pattern in capture.patterns)


@contextmanager
def watching(model: PreTrainedModel, *watchers: Watcher) -> Iterator[None]:
    """Within, `watchers` see the attention of `model`, in order, after those already there."""
    state = _STATES.get(model)
    if state is None:
        raise RuntimeError("call open_attention(model) before watching it")
    state.watchers += watchers
    try:
        yield
    finally:
        del state.watchers[len(state.watchers) - len(watchers) :]


def n_layers(model: PreTrainedModel) -> int:
    """Number of layers of the encoder."""
    return model.config.num_hidden_layers


def n_heads(model: PreTrainedModel) -> int:
    """Number of heads of each layer."""
    return model.config.num_attention_heads


@dataclass
class _State:
    watchers: list[Watcher] = field(default_factory=list)
    layer: int = 0
    real: torch.Tensor | None = None


@dataclass
class _Probe(Watcher):
    """Counts the layers, and changes the heads' outputs of layer l in row l + 1 alone."""

    calls: int = 0

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if layer + 1 >= len(output):
            return output
        changed, values = output.clone(), output[0].numel()
        noise = torch.linspace(-10, 10, values, device=output.device, dtype=output.dtype)
        changed[layer + 1] += noise.view(output.shape[1:])
        return changed


_STATES: WeakKeyDictionary[nn.Module, _State] = WeakKeyDictionary()
_CURRENT: list[_State] = []


def _before_forward(model: nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
    state = _STATES[model]
    state.layer = 0
    state.real = kwargs.get("attention_mask", args[1] if len(args) > 1 else None)
    if state.real is not None:
        state.real = state.real.bool()
    _CURRENT[:] = [state]
    for watcher in state.watchers:
        watcher.start(model)


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Plain attention, [batch, head, token, dim] in, [batch, token, head, dim] and pattern out.

    `position_bias` is added to the scores, as T5 does. Raises InputError for any other argument
    that is given and not among HARMLESS.
    """
    window = others.pop("sliding_window", None)  # which the mask holds already, where there is one
    if attention_mask is None and window is not None and key.shape[2] > window:
        others["sliding_window"] = window
    _refuse_unknown(module, others)
    state = _CURRENT[0]
    scaling = query.size(-1) ** -0.5 if scaling is None else scaling
    scores = torch.matmul(query, key.transpose(2, 3)) * scaling
    if position_bias is not None:
        scores = scores + position_bias
    if attention_mask is not None:
        scores = scores + attention_mask
    exact = torch.promote_types(scores.dtype, torch.float32)  # half precision would not sum to 1
    pattern = nn.functional.softmax(scores, dim=-1, dtype=exact)
    real = state.real
    if real is None:
        real = torch.ones(key.shape[0], key.shape[2], dtype=torch.bool, device=key.device)
    for watcher in state.watchers:
        pattern = watcher.pattern(state.layer, pattern, real)
    weights = nn.functional.dropout(pattern.to(value.dtype), p=dropout, training=module.training)
    output = torch.matmul(weights, value)
    for watcher in state.watchers:
        output = watcher.output(state.layer, output, real)
    state.layer += 1
    return output.transpose(1, 2).contiguous(), pattern


def _check_effect(model: PreTrainedModel) -> None:
    """Raise InputError unless what is made of each layer's attention reaches the body's output.

    One pass over a row without a change and one row for each layer, with a change in that layer.
    """
    kind, layers, training = model.config.model_type, n_layers(model), model.training
    tokens = torch.zeros((layers + 1, 2), dtype=torch.long, device=model.device)
    outputs: list[torch.Tensor] = []
    hook = model.base_model.register_forward_hook(lambda *call: outputs.append(call[-1][0]))
    try:
        model.eval()
        with watching(model, probe := _Probe()), torch.no_grad():
            model(input_ids=tokens, attention_mask=torch.ones_like(tokens))
    finally:
        hook.remove()
        model.train(training)
    if probe.calls != layers:
        raise InputError(
            f"{kind}: {probe.calls} of {layers} layers hand their attention to transformers' "
            "AttentionInterface; use another architecture"
        )
    plain, *changed = outputs[-1].float()
    least = EFFECT * plain.abs().max()
    deaf = [number for number, row in enumerate(changed, 1) if (row - plain).abs().max() <= least]
    if deaf:
        raise InputError(
            f"{kind}: layer {deaf[0]} goes on with another attention than the one it is given, so "
            "that interventions have no effect; use another architecture"
        )


def _refuse_unknown(module: nn.Module, arguments: dict[str, Any]) -> None:
    """Raise InputError for an argument that is given, as None and False are not, and not known."""
    for name, given in arguments.items():
        if name not in HARMLESS and given is not None and given is not False:
            raise InputError(
                f"{type(module).__name__}: attention is given {name}, which may change its scores "
                "and is unknown to this workflow; use another architecture"
            )


def _check_rows(layer: int, pattern: torch.Tensor, real: torch.Tensor) -> None:
    """Rows over real tokens sum to 1; a NaN makes its row's sum fail too."""
    with torch.autocast(pattern.device.type, enabled=False):
        sums = torch.einsum("bhqk,bk->bhq", pattern.detach(), real.to(pattern.dtype))
    error = ((sums - 1).abs() * real[:, None]).max().item()
    if not error <= SUM_TOLERANCE:
        raise RuntimeError(f"layer {layer + 1}: a row of the pattern sums to 1 +- {error:.2g}")


AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, eager_mask)
