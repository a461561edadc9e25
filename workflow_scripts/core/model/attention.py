"""Access to attention: the one module through which patterns are read and heads are changed.

It uses the extension point of `transformers`: one function registered as an attention
implementation. It serves every architecture that asks `AttentionInterface` for its attention;
`open_attention` refuses the others, on which an intervention would silently have no effect.

    model = open_attention(model)
    capture = Capture()
    with watching(model, capture, Uniform({(2, 5)})):
        model(**batch)
    capture.patterns[2]  # [batch, head, query, key]

A module's layer is known by the module, not by the order of calls: `generate` runs an encoder once
and its decoder many times. An encoder's modules are numbered by the first pass, as DistilBERT's
carry no `layer_idx`; those of an encoder-decoder by their names, in the order of `sublayers`.
ALBERT calls one shared module n_layers times: there the calls of a pass are counted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary, ref

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.model import numbering
from workflow_scripts.core.model.attention_function import (
    MODULES,
    NAME,
    AttentionModule,
    Watched,
    Watcher,
    check_rows,
)
from workflow_scripts.core.model.sublayers import Sublayer, in_order, sublayer_of

EFFECT = 1e-5  # of the largest output: less is rounding


@dataclass
class Capture(Watcher):
    """Collects the patterns, detached, of the latest forward pass.

    `calls` has those of each sublayer, by its number: one in a forward pass, one for each step of
    an encoder-decoder's decoder in `generate`, whose pass begins with its encoder. A decoder that
    runs several times on one encoder's outputs is one pass, too.

    With `with_gradients`, the patterns stay in the graph and have `.grad` after `backward`.
    Rows of padded queries hold attention too: drop them. Raises RuntimeError in training mode
    (dropout would be in the patterns) and where a row over real tokens does not sum to 1,
    in a model with `has_sinks` to more.
    """

    dtype: torch.dtype | None = None
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
        self.calls, self._alone = {}, not is_encoder_decoder(model)
        self._sinks = has_sinks(model)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        check_rows(layer, pattern, real, self._alone, self._sinks)
        kept = pattern
        if self.with_gradients:
            if not pattern.requires_grad:
                pattern = kept = pattern.requires_grad_()
            pattern.retain_grad()
        else:
            kept = pattern.detach()
            kept = kept if self.dtype is None else kept.to(self.dtype)
        self.calls.setdefault(layer, []).append(kept)
        return pattern


def open_attention(model: PreTrainedModel) -> PreTrainedModel:
    """Route the model's attention through this module, and check that this works.

    Raises InputError, naming the architecture, where one forward pass does not call the function
    once per layer, and of an encoder-decoder once by each module that `sublayers` knows by its
    name; where the model goes on with something else than what the function returns, or gives it
    an argument that may change the scores and is not known here: patterns and interventions would
    then be silently wrong.
    """
    model.set_attn_implementation(NAME)
    if model not in _WATCHED:
        _WATCHED[model] = watched = Watched(ref(model))
        first = model.get_encoder() if is_encoder_decoder(model) else model
        first.register_forward_pre_hook(watched.start)
    _number_modules(model, _WATCHED[model])
    if not is_bidirectional(model) and not is_encoder_decoder(model):
        model.config.use_cache = False  # one pass over a text: keys are not kept for the next token
    _check_effect(model)
    return model


def is_encoder_decoder(model: PreTrainedModel) -> bool:
    """Whether, by the model's config, a decoder reads what its encoder outputs."""
    return bool(model.config.is_encoder_decoder)


def is_bidirectional(model: PreTrainedModel) -> bool:
    """Whether tokens attend to later tokens, in any head of a model that `open_attention` opened.

    Those of a decoder attend to themselves and earlier tokens alone.
    """
    return not all(known.directed for known in _known(model))


@contextmanager
def watching(model: PreTrainedModel, *watchers: Watcher) -> Iterator[None]:
    """Within, `watchers` see the attention of `model`, in order, after those already there.

    They do in `model.generate`, too.
    """
    watched = _watched(model)
    watched.watchers += watchers
    try:
        yield
    finally:
        del watched.watchers[len(watched.watchers) - len(watchers) :]


def sublayers(model: PreTrainedModel) -> tuple[Sublayer, ...]:
    """The model's attention modules by type and layer; watchers get numbers in this order.

    An encoder's layers are sublayers of type `encoder`.
    """
    if is_encoder_decoder(model):
        return in_order(_named(model).values())
    return tuple(Sublayer("encoder", layer) for layer in range(n_layers(model)))


def n_layers(model: PreTrainedModel) -> int:
    """Number of layers of an encoder or decoder.

    Raises InputError for an encoder-decoder, and for a model that reads images or sound too.
    """
    if is_encoder_decoder(model):
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
    return _known(model)[0].kv_heads


def has_sinks(model: PreTrainedModel) -> bool:
    """Whether an opened model's attention has a sink that is no token (gpt-oss).

    The rows of its patterns sum to less than 1; what is missing is the sink's.
    """
    return any(known.sinks for known in _known(model))


def n_heads(model: PreTrainedModel) -> int:
    """Number of heads of each sublayer; raises InputError where encoder and decoder differ."""
    heads = model.config.num_attention_heads
    in_decoder = getattr(model.config, "decoder_attention_heads", heads)
    if is_encoder_decoder(model) and in_decoder != heads:
        raise InputError(
            f"{model.config.model_type}: {heads} heads in the encoder's layers and {in_decoder} in "
            "the decoder's; use a model that has as many in both"
        )
    return heads


@dataclass
class _Probe(Watcher):
    """Changes the heads' outputs of layer l in row l + 1 alone."""

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        changed, values = output.clone(), output[0].numel()
        noise = torch.linspace(-10, 10, values, device=output.device, dtype=output.dtype)
        changed[layer + 1] += noise.view(output.shape[1:])
        return changed


_WATCHED: WeakKeyDictionary[nn.Module, Watched] = WeakKeyDictionary()


def _watched(model: PreTrainedModel) -> Watched:
    if model not in _WATCHED:
        raise RuntimeError("call open_attention(model) before watching it")
    return _WATCHED[model]


def _known(model: PreTrainedModel) -> list[AttentionModule]:
    """What is known of the attention modules of an opened model."""
    _watched(model)
    return [MODULES[module] for module in model.modules() if module in MODULES]


def _named(model: PreTrainedModel) -> dict[str, Sublayer]:
    """The attention modules of an encoder-decoder by name, in the order of its modules."""
    found = ((name, sublayer_of(name)) for name, _ in model.named_modules())
    return {name: sublayer for name, sublayer in found if sublayer is not None}


def _run(model: PreTrainedModel, rows: int) -> None:
    """A forward pass over two tokens in each row; an encoder-decoder's is teacher-forced."""
    tokens, training = torch.zeros((rows, 2), dtype=torch.long, device=model.device), model.training
    forced = {"decoder_input_ids": tokens} if is_encoder_decoder(model) else {}
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
        MODULES[module] = AttentionModule(watched, None)
    watched.called = called = []
    try:
        _run(model, 1)
    finally:
        watched.called = None
        for module in model.modules():
            del MODULES[module]
    modules, kind = [call.module for call in called], model.config.model_type
    if is_encoder_decoder(model):
        named = {model.get_submodule(name): each for name, each in _named(model).items()}
        numbers = numbering.by_name(kind, modules, named, sublayers(model))
    else:
        numbers = numbering.by_call(kind, modules, n_layers(model))
    numbering.check_heads(kind, called, n_heads(model))
    for call in called:
        MODULES[call.module] = AttentionModule(
            watched, numbers[call.module], call.kv_heads, call.directed, call.sinks
        )


def _check_effect(model: PreTrainedModel) -> None:
    """Raise InputError unless what is made of each sublayer's attention reaches the body's output.

    One pass over a row without a change and one row for each sublayer, with a change in that one.
    """
    order = sublayers(model)
    alone = is_bidirectional(model) and not is_encoder_decoder(model)
    body = model.base_model if alone else model.get_decoder()
    outputs: list[torch.Tensor] = []
    hook = body.register_forward_hook(lambda *call: outputs.append(call[-1][0]))
    try:
        with watching(model, _Probe()):
            _run(model, len(order) + 1)
    finally:
        hook.remove()
    plain, *changed = outputs[-1].float()
    least = EFFECT * plain.abs().max()
    deaf = [number for number, row in enumerate(changed) if (row - plain).abs().max() <= least]
    if deaf:
        kind = f"{order[deaf[0]].type} " if is_encoder_decoder(model) else ""
        raise InputError(
            f"{model.config.model_type}: {kind}layer {order[deaf[0]].layer + 1} goes on with "
            "another attention than the one it is given, so that interventions have no effect; "
            "use another architecture"
        )
