"""One text in a model: what each layer's attention block adds to each token, and from where.

The block's output at token i is x_i + sum over heads and keys of alpha_ij f(x_j) + b, and in an
encoder the layer norm of that (Kobayashi et al. 2021). Each part is a vector; a layer norm with the
sum's own mean and standard deviation is linear in the parts.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tables import sample
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.model.head_maps import Values, attention_modules, find_norms
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.model.layers import layers_of
from workflow_scripts.core.stats.bootstrap import bootstrap_mean


@dataclass(frozen=True)
class Block:
    """The parts of one layer's attention block, each [token, hidden] but for `bias`, [hidden].

    `entering` is the residual stream x, `own` what heads read from the token itself, `context` what
    they read from all others, `bias` what is added to each token; `norm` is the layer norm of the
    sum, None in a decoder. `pattern` [head, query, key], and `read` [query, key, hidden], all
    heads' alpha_ij f(x_j) summed.
    """

    entering: torch.Tensor
    own: torch.Tensor
    context: torch.Tensor
    pattern: torch.Tensor
    read: torch.Tensor
    bias: torch.Tensor
    norm: nn.LayerNorm | None

    @property
    def total(self) -> torch.Tensor:
        """The block's output before its norm, [token, hidden]."""
        return self.entering + self.own + self.context + self.bias

    def normed(self, part: torch.Tensor) -> torch.Tensor:
        """What the norm makes of a part, with the mean and standard deviation of the sum.

        The norm's own bias belongs to no part.
        """
        deviation = (self.total.var(-1, correction=0, keepdim=True) + self.norm.eps).sqrt()
        return (part - part.mean(-1, keepdim=True)) / deviation * self.norm.weight


def blocks(
    model: PreTrainedModel, maps: torch.Tensor, tokens: Tokens, with_residual: bool = True
) -> Iterator[Block]:
    """The parts of each layer of an opened body on one text; `maps` are those of `output_maps`.

    Raises InputError for a decoder with a norm between its attention and the residual stream. So
    does one with a factor there, unless what heads read is used alone (`with_residual` is False).
    """
    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    watcher = Values(lambda layer, pattern, values: found.append((pattern[0], values[0])))
    with torch.inference_mode(), running.OneDNN(), attention.watching(model, watcher):
        inputs = running.pad([tokens], model)
        states = model(**inputs, output_hidden_states=True).hidden_states
    layered = layers_of(model) if attention.is_bidirectional(model) else None
    biases = [None] * len(found)
    if layered is None:
        check_residual(model, with_residual)
        biases = output_biases(model)
    with torch.inference_mode():
        for number, (pattern, values) in enumerate(found):
            # Products of all heads, [query, key, hidden]: alpha_ij f(x_j), summed over heads.
            vectors = torch.einsum("hkd,hdw->hkw", values, maps[number].to(values))
            read = torch.einsum("hqk,hkw->qkw", pattern.to(values), vectors)
            own = read.diagonal().T
            norm = layered.layers[number].norm if layered else None
            bias = layered.layers[number].attention.merge.bias if layered else biases[number]
            bias = torch.zeros_like(own[0]) if bias is None else bias
            context = read.sum(1) - own
            yield Block(states[number][0], own, context, pattern, read, bias, norm)


def output_biases(model: PreTrainedModel) -> list[torch.Tensor | None]:
    """What each layer of a decoder adds where its heads output nothing, [hidden]."""
    found: dict[int, torch.Tensor] = {}
    shape = attention.n_layers(model), attention.n_heads(model)
    nothing, modules = Gates(torch.zeros(shape, device=model.device)), attention_modules(model)

    def keep(module: nn.Module, _: tuple, result: tuple) -> None:
        found[modules[module]] = result[0][0, 0]

    with ExitStack() as hooks, torch.inference_mode(), attention.watching(model, nothing):
        for module in modules:
            hooks.enter_context(module.register_forward_hook(keep))
        model(input_ids=torch.zeros((1, 1), dtype=torch.long, device=model.device))
    return [found[layer] for layer in sorted(found)]


def check_residual(model: PreTrainedModel, with_residual: bool = True) -> None:
    """Raise InputError where a norm reads what a decoder's attention outputs (Gemma 2, OLMo 2).

    With the residual stream, also where a factor other than 1 stands before it (Granite).
    """
    if with_residual and getattr(model.config, "residual_multiplier", 1) != 1:
        raise InputError(
            f"{model.config.model_type}: its residual stream has a factor, so that mixing ratios "
            "are not measured; take ratio out of mixing.measures"
        )
    after = [norm for norm in find_norms(model).after if norm is not None]
    if after:
        raise InputError(
            f"{model.config.model_type}: a {type(after[0]).__name__} stands between its attention "
            "and the residual stream, so that mixing ratios are not defined; set "
            "mixing.measures to []"
        )


def by_layer(
    texts: list[list[dict[str, float]]],
    name: str,
    number: str,
    draws: int,
    seed: int,
    documents: list,
) -> pd.DataFrame:
    """A row per entry (column `name`) and layer, and for all layers: `number` with its interval.

    `texts` has the entries of each text and layer; whole documents are resampled. Layers count
    from 1.
    """
    rows = []
    for entry in texts[0][0]:
        per_text = np.array([[layer[entry] for layer in layers] for layers in texts])
        with_all = np.concatenate([per_text, np.nanmean(per_text, 1, keepdims=True)], 1)
        ends = bootstrap_mean(with_all, draws, seed, documents)
        layers = [*map(str, range(1, per_text.shape[1] + 1)), "all"]
        for layer, value, low, high in zip(layers, *ends, strict=True):
            row = {name: entry, "layer": layer, number: value}
            rows.append(row | {"ci_low": low, "ci_high": high})
    return pd.DataFrame(rows).assign(n=len(documents), n_documents=len(set(documents)))


def opened(
    model: Path, corpus: Path, n_segments: int, max_tokens: int, seed: int, device: str
) -> tuple[PreTrainedModel, list[Tokens], list[str]]:
    """The body, sampled segments of a corpus of two tokens or more, and the document of each."""
    card, examples = read_card(model), sample(read_examples(corpus), n_segments, seed)
    directory = models.directory_of(card)
    tokenizer = models.load_tokenizer(directory)
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    kept = [k for k, text in enumerate(tokens) if len(text) > 1]
    body = attention.open_attention(models.load_body(directory, running.pick_device(device)))
    return body, [tokens[k] for k in kept], [examples[k].document for k in kept]
