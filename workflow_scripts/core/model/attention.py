"""The one attention function: opening a model for it, and reading and changing its attention."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle
from transformers import AttentionInterface, PreTrainedModel
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from workflow_scripts.core.data.heads import Sublayer, in_order, sublayer_of
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.model import adapters
from workflow_scripts.core.model.adapters import NAME

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

    `layer` counts from 0 over `attention.sublayers(model)`, heads are those of the queries. `real`
    marks the keys that queries may see: bool [batch, key], false at padding, or [batch, query, key]
    in the self-attention of a decoder, where later tokens and those before its window are hidden.
    """

    def start(self, model: nn.Module) -> None:
        """Called before each forward pass: of an encoder-decoder, before its encoder runs."""

    def hidden(self, layer: int, scores: torch.Tensor) -> torch.Tensor | None:
        """Keys to hide beyond those of the mask, bool like scores [batch, head, query, key]."""

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The post-softmax attention to go on with: [batch, head, query, key]."""
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The heads' outputs to go on with, before they are merged: [batch, head, query, dim]."""
        return output


@dataclass
class Watched:
    """An opened model with its watchers; `calls` counts those of a pass, `called` collects them.

    `before` are its attention and `use_cache` as they were.
    """

    model: ReferenceType[nn.Module]
    before: tuple[str | None, bool | None]
    hook: RemovableHandle | None = None
    watchers: list[Watcher] = field(default_factory=list)
    calls: int = 0
    called: list["Call"] | None = None

    def start(self, *hooked: Any) -> None:
        self.calls = 0
        for watcher in self.watchers:
            watcher.start(self.model())


@dataclass(frozen=True)
class Call:
    """A module's call, and its heads."""

    module: nn.Module
    heads: int
    kv_heads: int
    directed: bool  # later tokens are hidden from a query
    sinks: bool  # each softmax has a term for no token: rows sum to less than 1


@dataclass(frozen=True)
class AttentionModule:
    """What is known of a module: its model, its sublayer's number and its first call."""

    watched: Watched
    layer: int | None = None  # None where one module serves several, which a pass' calls count
    call: Call | None = None


MODULES: WeakKeyDictionary[nn.Module, AttentionModule] = WeakKeyDictionary()
_WATCHED: WeakKeyDictionary[nn.Module, Watched] = WeakKeyDictionary()


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Plain attention, [batch, head, token, dim] in, [batch, token, head, dim] and pattern out.

    Keys and values may have fewer heads, each for as many neighbouring heads of the queries, and
    fewer rows, each for as many neighbouring rows: the hypotheses of a source.
    Raises InputError for an argument that is given and neither used by `_pattern` nor HARMLESS.
    """
    window = others.pop("sliding_window", None)  # which the mask holds already, where there is one
    if attention_mask is None and window is not None and key.shape[2] > window:
        others["sliding_window"] = window
    used = {name: others.pop(name, None) for name in ("position_bias", "softcap", "s_aux")}
    for name, given in others.items():  # None and False are as good as not given
        if name not in HARMLESS and given is not None and given is not False:
            raise InputError(
                f"{type(module).__name__}: attention is given {name}, which may change its scores "
                "and is unknown to this workflow; use another architecture"
            )
    known = MODULES.get(module)
    if known is None:
        raise RuntimeError("a model with this attention, or a copy of one: call open_attention(it)")
    watched = known.watched
    if watched.called is not None:
        shown = (query.shape[1], key.shape[1], _hides_later(attention_mask))
        watched.called.append(Call(module, *shown, used["s_aux"] is not None))
    watched.calls += 1
    layer = watched.calls - 1 if known.layer is None else known.layer
    if key.shape[1] < query.shape[1]:
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scaling = query.size(-1) ** -0.5 if scaling is None else scaling
    rows = len(query) // len(key)
    if rows > 1 and attention_mask is not None:
        attention_mask = attention_mask.repeat_interleave(len(query) // len(attention_mask), 0)
    scores = _apart(torch.matmul(_together(query, rows), key.transpose(2, 3)), rows) * scaling
    watchers = watched.watchers
    hidden = [watcher.hidden(layer, scores) for watcher in watchers]
    pattern = _pattern(scores, attention_mask, hidden, **used)
    real = _real(attention_mask, pattern, known.call.directed) if watchers else None
    for watcher in watchers:
        pattern = watcher.pattern(layer, pattern, real)
    weights = nn.functional.dropout(pattern.to(value.dtype), p=dropout, training=module.training)
    output = _apart(torch.matmul(_together(weights, rows), value), rows)
    for watcher in watchers:
        output = watcher.output(layer, output, real)
    return output.transpose(1, 2).contiguous(), pattern


def _together(queries: torch.Tensor, rows: int) -> torch.Tensor:
    """[batch * rows, head, query, size] as [batch, head, rows * query, size]."""
    if rows == 1:
        return queries
    return queries.unflatten(0, (-1, rows)).transpose(1, 2).flatten(2, 3)


def _apart(queries: torch.Tensor, rows: int) -> torch.Tensor:
    """The inverse of `_together`."""
    if rows == 1:
        return queries
    return queries.unflatten(2, (rows, -1)).transpose(1, 2).flatten(0, 1)


def _pattern(
    scores: torch.Tensor,
    mask: torch.Tensor | None,
    hidden: list[torch.Tensor | None],
    position_bias: torch.Tensor | None,
    softcap: float | None,
    s_aux: torch.Tensor | None,
) -> torch.Tensor:
    """The softmax of scores [batch, head, query, key].

    `position_bias` is added to them, as T5 does; `softcap` bounds them before the mask, as Gemma 2
    does; `s_aux` [head] is the score of a sink that is no token, as gpt-oss has: its share is
    missing in the rows.
    """
    keys = scores.shape[-1]
    if position_bias is not None:
        scores = scores + position_bias
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is not None:
        scores = scores + mask
    for keys_hidden in hidden:
        if keys_hidden is not None:
            scores = scores.masked_fill(keys_hidden, torch.finfo(scores.dtype).min)
    exact = torch.promote_types(scores.dtype, torch.float32)  # half precision would not sum to 1
    if s_aux is not None:
        sink = s_aux.to(scores.dtype)[None, :, None, None].expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, sink], dim=-1)
    return nn.functional.softmax(scores, dim=-1, dtype=exact)[..., :keys]


def check_rows(
    layer: int, pattern: torch.Tensor, real: torch.Tensor, alone: bool, sinks: bool
) -> None:
    """Rows over real keys sum to 1. Raises InputError for a NaN, RuntimeError for another sum.

    With `alone`, rows of padded queries may see no key at all and are left out. With `sinks`, a sum
    may be less: what is missing goes to no token.
    """
    with torch.autocast(pattern.device.type, enabled=False):
        terms = "bhqk,bk->bhq" if real.ndim == 2 else "bhqk,bqk->bhq"
        sums = torch.einsum(terms, pattern.detach(), real.to(pattern.dtype))
    error = (sums - 1).clamp(min=0) if sinks else (sums - 1).abs()
    if alone:  # in a decoder, real queries see themselves
        own = real if real.ndim == 2 else real.diagonal(real.shape[2] - real.shape[1], 1, 2)
        error = error * own[:, None]
    error = error.max().item()
    if math.isnan(error):
        raise InputError(
            f"layer {layer + 1}: attention is NaN, though the weights are not: scores overflow; "
            "use another model, or train it with a lower learning rate"
        )
    if error > SUM_TOLERANCE:
        raise RuntimeError(f"layer {layer + 1}: a row of the pattern sums to 1 +- {error:.2g}")


def _real(mask: torch.Tensor | None, pattern: torch.Tensor, directed: bool) -> torch.Tensor:
    """Which keys are real: bool [batch, key], or [batch, query, key] for `directed` attention.

    `mask` is added to the scores, [batch or 1, 1, query or 1, key]: 0, or the least number of its
    type. Without one every key is real.
    """
    batch, _, queries, keys = pattern.shape
    if mask is None:
        shape = (batch, queries, keys) if directed else (batch, keys)
        return torch.ones(shape, dtype=torch.bool, device=pattern.device)
    seen = (mask > torch.finfo(mask.dtype).min / 2)[:, 0]
    return seen.expand(batch, queries, keys) if directed else seen.any(1).expand(batch, keys)


def _hides_later(mask: torch.Tensor | None) -> bool:
    """Whether the mask of a text of two tokens hides the second from the first."""
    return mask is not None and mask.shape[-2] > 1 and bool((mask[..., 0, 1] < 0).all())


AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, eager_mask)


@dataclass
class Capture(Watcher):
    """Collects the patterns, detached, of the latest forward pass.

    `calls` has those of each sublayer, by its number: one in a forward pass, one for each step of
    an encoder-decoder's decoder on its encoder's outputs. With `with_gradients`, they stay in the
    graph and have `.grad` after `backward`. Rows of padded queries hold attention too: drop them.
    Raises RuntimeError in training mode (dropout would be in the patterns) and as `check_rows`.
    """

    with_gradients: bool = False
    calls: dict[int, list[torch.Tensor]] = field(default_factory=dict)
    _alone: bool = False  # one stack is the whole model: its queries are its keys
    _sinks: bool = False

    @property
    def patterns(self) -> list[torch.Tensor]:
        """The latest pattern of each sublayer, [batch, head, query, key], in their order."""
        return [self.calls[layer][-1] for layer in sorted(self.calls)]

    def start(self, model: nn.Module) -> None:
        if model.training:
            raise RuntimeError("patterns are read in eval mode: call model.eval() first")
        self.calls, self._alone = {}, not model.config.is_encoder_decoder
        self._sinks = has_sinks(model)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        check_rows(layer, pattern, real, self._alone, self._sinks)
        kept = pattern.detach()
        if self.with_gradients:
            kept = pattern.requires_grad_()
            kept.retain_grad()
        self.calls.setdefault(layer, []).append(kept)
        return pattern


def open_attention(model: PreTrainedModel) -> PreTrainedModel:
    """Route the model's attention through this module, and check that this works.

    Raises InputError where one forward pass does not call the function once per layer, and of an
    encoder-decoder once by each module that `sublayers` knows by its name; where the model goes on
    with something else than what the function returns, or gives it an argument that may change the
    scores and is not known here: patterns and interventions would then be silently wrong.
    """
    if model in _WATCHED and _WATCHED[model].watchers:
        return model  # it was opened before, and is being watched
    if model not in _WATCHED:
        config = model.config
        before = config._attn_implementation, getattr(config, "use_cache", None)
        _WATCHED[model] = watched = Watched(ref(model), before)
        first = model.get_encoder() if model.config.is_encoder_decoder else model
        watched.hook = first.register_forward_pre_hook(watched.start)
    if not adapters.install(model):
        model.set_attn_implementation(NAME)
    _number_modules(model, _WATCHED[model])
    if not is_bidirectional(model) and not model.config.is_encoder_decoder:
        model.config.use_cache = False  # one pass over a text: keys are not kept for the next token
    _check_effect(model)
    return model


@contextmanager
def opened_for_now(model: PreTrainedModel) -> Iterator[None]:
    """Within, the model is opened and in eval mode; afterwards as it was, also where that fails."""
    known, training = model in _WATCHED, model.training
    try:
        open_attention(model.eval())
        yield
    finally:
        model.train(training)
        if not known:
            _close(model)


def _close(model: PreTrainedModel) -> None:
    watched = _WATCHED.pop(model)
    watched.hook.remove()
    implementation, use_cache = watched.before
    if adapters.remove(model):
        model.config._attn_implementation = implementation
    else:
        model.set_attn_implementation(implementation)
    if use_cache is not None:
        model.config.use_cache = use_cache
    for module in model.modules():
        MODULES.pop(module, None)


def is_bidirectional(model: PreTrainedModel) -> bool:
    """Whether tokens attend to later tokens, in any head of an opened model."""
    return not all(call.directed for call in _calls(model))


@contextmanager
def watching(model: PreTrainedModel, *watchers: Watcher) -> Iterator[None]:
    """Within, `watchers` see the attention of `model`, also in `generate`, after those there."""
    watched = _watched(model)
    watched.watchers += watchers
    try:
        yield
    finally:
        del watched.watchers[len(watched.watchers) - len(watchers) :]


def sublayers(model: PreTrainedModel) -> tuple[Sublayer, ...]:
    """The model's attention modules by type and layer; watchers get numbers in this order."""
    if model.config.is_encoder_decoder:
        return in_order(_named(model).values())
    return tuple(Sublayer("encoder", layer) for layer in range(n_layers(model)))


def n_layers(model: PreTrainedModel) -> int:
    """Number of layers of an encoder or decoder; InputError for an encoder-decoder."""
    if model.config.is_encoder_decoder:
        raise InputError(
            f"{model.config.model_type}: an encoder-decoder, whose heads are of three types; "
            "use an encoder or a decoder"
        )
    found = getattr(model.config, "num_hidden_layers", None)
    if found is None:
        raise InputError(
            f"{model.config.model_type}: config.json has no num_hidden_layers of the whole model; "
            "use a model of text alone"
        )
    return found


def n_kv_heads(model: PreTrainedModel) -> int:
    """Number of key-value heads of each sublayer of an opened model; all share them equally."""
    return _calls(model)[0].kv_heads


def has_sinks(model: PreTrainedModel) -> bool:
    """Whether an opened model's attention has a sink that is no token (gpt-oss)."""
    return any(call.sinks for call in _calls(model))


def n_heads(model: PreTrainedModel) -> int:
    """Number of heads of each sublayer; raises InputError where encoder and decoder differ."""
    heads = model.config.num_attention_heads
    in_decoder = getattr(model.config, "decoder_attention_heads", heads)
    if model.config.is_encoder_decoder and in_decoder != heads:
        raise InputError(
            f"{model.config.model_type}: {heads} heads in the encoder's layers and {in_decoder} in "
            "the decoder's; use a model that has as many in both"
        )
    return heads


class _Probe(Watcher):
    """Changes the heads' outputs of layer l in row l + 1 alone."""

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        changed, values = output.clone(), output[0].numel()
        noise = torch.linspace(-10, 10, values, device=output.device, dtype=output.dtype)
        changed[layer + 1] += noise.view(output.shape[1:])
        return changed


def _watched(model: PreTrainedModel) -> Watched:
    if model not in _WATCHED:
        raise RuntimeError("call open_attention(model) before watching it")
    return _WATCHED[model]


def _calls(model: PreTrainedModel) -> list[Call]:
    """The calls by which the attention modules of an opened model are known."""
    _watched(model)
    return [MODULES[module].call for module in model.modules() if module in MODULES]


def _named(model: PreTrainedModel) -> dict[str, Sublayer]:
    """The attention modules of an encoder-decoder by name, in the order of its modules."""
    found = ((name, sublayer_of(name)) for name, _ in model.named_modules())
    return {name: sublayer for name, sublayer in found if sublayer is not None}


def _run(model: PreTrainedModel, rows: int) -> None:
    """A forward pass over two tokens in each row; an encoder-decoder's is teacher-forced."""
    tokens, training = torch.zeros((rows, 2), dtype=torch.long, device=model.device), model.training
    forced = {"decoder_input_ids": tokens} if model.config.is_encoder_decoder else {}
    try:
        model.eval()
        with torch.no_grad():
            model(input_ids=tokens, attention_mask=torch.ones_like(tokens), **forced)
    except InputError:
        raise
    except Exception as error:  # of any kind, for a config of any content
        lacking = getattr(model.config, "pad_token_id", None) is None
        pad = "; pad_token_id is null" if lacking else ""
        raise InputError(
            f"{model.name_or_path or model.config.model_type}: config.json: the model cannot read "
            f"a text ({one_line(error)}{pad}); correct it"
        ) from error
    finally:
        model.train(training)


def _number_modules(model: PreTrainedModel, watched: Watched) -> None:
    """Number the model's attention modules by what one pass calls, or raise InputError."""
    for module in model.modules():
        if module in MODULES and (owner := MODULES[module].watched.model()) not in (None, model):
            _WATCHED.pop(owner, None)  # it would watch no longer
        MODULES[module] = AttentionModule(watched)
    watched.called = called = []
    try:
        _run(model, 1)
    finally:
        watched.called = None
        for module in model.modules():
            MODULES.pop(module, None)  # BigBird exchanges its modules during its first pass
    modules, kind = [call.module for call in called], model.config.model_type
    handed = "hand their attention to transformers' AttentionInterface"
    if model.config.is_encoder_decoder:
        named = {model.get_submodule(name): each for name, each in _named(model).items()}
        order, others = sublayers(model), len(set(modules) - set(named))
        once = sum(modules.count(module) == 1 for module in named)
        if others or not 0 < once == len(named) == len(set(order)):
            raise InputError(
                f"{kind}: {once} of {len(named)} attention modules known by name, and {others} "
                f"others, {handed} once in a pass; use another architecture"
            )
        numbers = {module: order.index(sublayer) for module, sublayer in named.items()}
    else:
        if len(modules) != n_layers(model):
            found = f"{len(modules)} of {n_layers(model)} layers {handed}"
            raise InputError(f"{kind}: {found}; use another architecture")
        shared = len(set(modules)) < len(modules)
        numbers = {module: None if shared else number for number, module in enumerate(modules)}
    found = sorted({(call.heads, call.kv_heads) for call in called})
    if len(found) > 1 or found[0][0] != n_heads(model):
        counts = " and ".join(f"{heads} ({kv_heads} for keys)" for heads, kv_heads in found)
        raise InputError(
            f"{kind}: layers with {counts} heads, where config.json has {n_heads(model)}; use a "
            "model with the same number in every layer"
        )
    for call in called:
        MODULES[call.module] = AttentionModule(watched, numbers[call.module], call)


def _projects_nothing(model: PreTrainedModel, number: int) -> bool:
    """Whether weights next to a sublayer are all 0, as those of an inserted or a pruned layer."""
    for name, module in model.named_modules():
        if module in MODULES and MODULES[module].layer == number:
            around = model.get_submodule(name.rpartition(".")[0])
            return any(not weight.any() for weight in around.parameters() if weight.dim() > 1)
    return False


def _check_effect(model: PreTrainedModel) -> None:
    """Raise InputError unless what is made of each sublayer's attention reaches the output.

    A layer whose output projection is 0 truthfully has no effect, and is accepted.
    """
    order = sublayers(model)
    alone = is_bidirectional(model) and not model.config.is_encoder_decoder
    body = model.base_model if alone else model.get_decoder()
    outputs: list[torch.Tensor] = []
    hook = body.register_forward_hook(lambda *call: outputs.append(call[-1][0]))
    with hook, watching(model, _Probe()):
        _run(model, len(order) + 1)
    plain, *changed = outputs[-1].float()
    least = EFFECT * plain.abs().max()
    deaf = [
        number
        for number, row in enumerate(changed)
        if (row - plain).abs().max() <= least and not _projects_nothing(model, number)
    ]
    if deaf:
        kind = f"{order[deaf[0]].type} " if model.config.is_encoder_decoder else ""
        raise InputError(
            f"{model.config.model_type}: {kind}layer {order[deaf[0]].layer + 1} goes on with "
            "another attention than the one it is given, so that interventions have no effect; "
            "use another architecture"
        )
