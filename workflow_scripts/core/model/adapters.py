"""Attention of architectures that do not hand it to transformers' AttentionInterface.

Each adapter takes the place of one method of an attention module, of an opened model alone, and
hands its queries, keys and values [batch, head, token, dim] to the workflow's attention function.
What the architecture adds to the scores is the position bias; masks are 0, or the least number.
"""

import math
from collections.abc import Callable
from types import MethodType
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.falcon.modeling_falcon import apply_rotary_pos_emb

NAME = "atlas"  # of the workflow's attention function among transformers'
# Tokens of the texts in training, where positions are relative and the config has no limit.
TRAINED_LENGTHS = {"bloom": 2048, "xlnet": 512}
Attended = tuple[torch.Tensor, torch.Tensor]  # what a module gives back: its output and pattern


def install(model: PreTrainedModel) -> bool:
    """Install the adapters of a model's attention modules; false where it needs or has none.

    Heads that mix their scores (DeBERTa's talking heads) and XLNet in one direction have none.
    """
    config = model.config
    if getattr(config, "talking_head", False) or getattr(config, "attn_type", "bi") != "bi":
        return False
    found = [(module, ADAPTERS[name]) for module in model.modules() if (name := _class(module))]
    for module, (method, adapter) in found:
        setattr(module, method, MethodType(adapter, module))
        if adapter is _bloom and not hasattr(module, "heads"):
            module.heads = _BloomHeads().train(module.training)
    if found:
        config._attn_implementation = "eager"  # whose masks are added to the scores
    return bool(found)


def remove(model: PreTrainedModel) -> bool:
    """Take the adapters out of a model that `install` was called for; whether it had any."""
    found = [(module, ADAPTERS[name]) for module in model.modules() if (name := _class(module))]
    for module, (method, adapter) in found:
        vars(module).pop(method, None)
        if adapter is _bloom:
            del module.heads
    return bool(found)


def _class(module: nn.Module) -> str | None:
    kind = type(module)
    name = f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"
    return name if name in ADAPTERS else None


def _attend(module: nn.Module, *given: Any, **options: Any) -> Attended:
    """The heads' outputs side by side, [batch, token, head * dim], and the pattern."""
    output, pattern = ALL_ATTENTION_FUNCTIONS[NAME](module, *given, **options)
    return output.flatten(2), pattern


def _by_head(states: torch.Tensor, heads: int) -> torch.Tensor:
    """[batch, token, head * dim] as [batch, head, token, dim]."""
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def _hiding(hidden: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The mask of what is `hidden`, bool."""
    nothing = torch.zeros(hidden.shape, dtype=like.dtype, device=like.device)
    return nothing.masked_fill(hidden, torch.finfo(like.dtype).min)


def _mpnet(
    self: nn.Module,
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    position_bias: torch.Tensor | None = None,
    **_: Any,
) -> Attended:
    linears, heads = (self.q, self.k, self.v), self.num_attention_heads
    states = [_by_head(linear(hidden_states), heads) for linear in linears]
    options = {"dropout": self.dropout.p, "position_bias": position_bias}
    output, pattern = _attend(self, *states, attention_mask, **options)
    return self.o(output), pattern


def _deberta(
    self: nn.Module,
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor,
    output_attentions: bool = False,
    relative_pos: torch.Tensor | None = None,
    rel_embeddings: torch.Tensor | None = None,
    **_: Any,
) -> Attended:
    query, key, value = self.transpose_for_scores(self.in_proj(hidden_states)).chunk(3, dim=-1)
    value = value + self.transpose_for_scores(self.v_bias[None, None])
    kinds = 1 + len(self.pos_att_type)
    query = query + self.transpose_for_scores(self.q_bias[None, None])
    query, bias = query / math.sqrt(query.shape[-1] * kinds), None
    if self.relative_attention:
        positions = relative_pos, self.pos_dropout(rel_embeddings)
        bias = self.disentangled_att_bias(query, key, *positions, kinds)
    options = {"scaling": 1.0, "dropout": self.dropout.p, "position_bias": bias}
    return _attend(self, query, key, value, _hiding(attention_mask == 0, query), **options)


def _deberta_v2(
    self: nn.Module,
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor,
    output_attentions: bool = False,
    relative_pos: torch.Tensor | None = None,
    rel_embeddings: torch.Tensor | None = None,
    **_: Any,
) -> Attended:
    linears, heads = (self.query_proj, self.key_proj, self.value_proj), self.num_attention_heads
    # Its own methods take heads as rows of the batch.
    states = [self.transpose_for_scores(linear(hidden_states), heads) for linear in linears]
    kinds, bias = 1 + len({"c2p", "p2c"} & set(self.pos_att_type)), None
    if self.relative_attention and kinds > 1:
        positions = relative_pos, self.pos_dropout(rel_embeddings)
        bias = self.disentangled_attention_bias(*states[:2], *positions, kinds)
        bias = bias.unflatten(0, (-1, heads))
    query, key, value = (each.unflatten(0, (-1, heads)) for each in states)
    key = key / math.sqrt(key.shape[-1] * kinds)
    options = {"scaling": 1.0, "dropout": self.dropout.p, "position_bias": bias}
    return _attend(self, query, key, value, _hiding(attention_mask == 0, query), **options)


def _xlnet(
    self: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    positions: torch.Tensor,
    seg_mat: torch.Tensor | None = None,
    attn_mask: torch.Tensor | None = None,
    output_attentions: bool = False,
) -> torch.Tensor | Attended:
    """All but `attn_mask` [query, key, batch, 1] are [token, batch, head, dim]."""
    bias = torch.einsum("ibnd,jbnd->bnij", query + self.r_r_bias, positions)
    bias, mask = self.rel_shift_bnij(bias, klen=len(key)), None
    if seg_mat is not None:
        of_segments = torch.einsum("ibnd,snd->ibns", query + self.r_s_bias, self.seg_embed)
        bias = bias + torch.einsum("ijbs,ibns->bnij", seg_mat, of_segments)
    if attn_mask is not None:  # padding sees itself in it, but is no key
        mask = _hiding(attn_mask.amax(0).permute(1, 2, 0)[:, None] > 0, query)
    states = [each.permute(1, 2, 0, 3) for each in (query + self.r_w_bias, key, value)]
    options = {"dropout": self.dropout.p, "position_bias": bias * self.scale}
    output, pattern = _attend(self, *states, mask, self.scale, **options)
    output = output.unflatten(2, (self.n_head, -1)).transpose(0, 1)
    return (output, pattern.permute(2, 3, 0, 1)) if output_attentions else output


def _gpt_neo(
    self: nn.Module,
    hidden_states: torch.Tensor,
    attention_mask: torch.Tensor,
    layer_past: Any = None,
    **_: Any,
) -> Attended:
    linears = self.q_proj, self.k_proj, self.v_proj
    query, key, value = (_by_head(linear(hidden_states), self.num_heads) for linear in linears)
    if layer_past is not None:
        key, value = layer_past.update(key, value, self.layer_id)
    n = key.shape[2]
    unseen = ~self.bias[..., n - query.shape[2] : n, :n]  # which is of a window in a local layer
    mask = attention_mask.masked_fill(unseen, torch.finfo(attention_mask.dtype).min)
    output, pattern = _attend(self, query, key, value, mask, 1.0, dropout=self.attn_dropout.p)
    return self.resid_dropout(self.out_proj(output)), pattern


class _BloomHeads(nn.Module):
    """BLOOM's attention without the residual stream that its own module adds to the output."""

    def forward(
        self,
        hidden_states: torch.Tensor,
        outer: nn.Module,
        alibi: torch.Tensor,
        mask: torch.Tensor,
        past: Any,
    ) -> Attended:
        query, key, value = outer._reshape(outer.query_key_value(hidden_states))
        if past is not None:
            key, value = past.update(key, value, outer.layer_idx)
        bias = alibi.unflatten(0, (-1, outer.num_heads))
        options = {"dropout": outer.attention_dropout.p, "position_bias": bias}
        output, pattern = _attend(self, query, key, value, mask, outer.inv_norm_factor, **options)
        return outer.dense(output), pattern


def _bloom(
    self: nn.Module,
    hidden_states: torch.Tensor,
    residual: torch.Tensor,
    alibi: torch.Tensor,
    attention_mask: torch.Tensor,
    layer_past: Any = None,
    **_: Any,
) -> Attended:
    output, pattern = self.heads(hidden_states, self, alibi, attention_mask, layer_past)
    output = nn.functional.dropout(output, self.hidden_dropout, self.training)
    return residual + output, pattern


def _falcon(
    self: nn.Module,
    hidden_states: torch.Tensor,
    alibi: torch.Tensor | None,
    attention_mask: torch.Tensor,
    layer_past: Any = None,
    position_embeddings: tuple[torch.Tensor, torch.Tensor] | None = None,
    **_: Any,
) -> Attended:
    states = self._split_heads(self.query_key_value(hidden_states))
    query, key, value = (each.transpose(1, 2) for each in states)
    if self.new_decoder_architecture:  # its keys and values come once for each query head
        step = self.num_heads // self.num_kv_heads
        key, value = key[:, ::step], value[:, ::step]
    options = {"dropout": self.attention_dropout.p if alibi is not None else 0.0}
    if alibi is None:
        query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
    else:  # the mask holds it; transformers' eager attention, unlike sdpa, adds it once more
        unseen = attention_mask <= torch.finfo(attention_mask.dtype).min / 2
        options["position_bias"] = attention_mask.masked_fill(unseen, 0)
        attention_mask = _hiding(unseen[:, :1], query)
    if layer_past is not None:
        key, value = layer_past.update(key, value, self.layer_idx)
    given = query, key, value, attention_mask, self.inv_norm_factor
    output, pattern = _attend(self, *given, **options)
    return self.dense(output), pattern


def _mpt(
    self: nn.Module,
    hidden_states: torch.Tensor,
    position_bias: torch.Tensor,
    past_key_values: Any = None,
    attention_mask: torch.Tensor | None = None,
    **_: Any,
) -> Attended:
    mixed = self.Wqkv(hidden_states)
    if self.clip_qkv:
        mixed = mixed.clamp(min=-self.clip_qkv, max=self.clip_qkv)
    query, key, value = (_by_head(each, self.n_heads) for each in mixed.chunk(3, dim=2))
    if past_key_values is not None:
        key, value = past_key_values.update(key, value, self.layer_idx)
    bias, mask = position_bias[None, ..., -key.shape[2] :], _hiding(attention_mask, query)
    options = {"dropout": self.attn_dropout_p, "position_bias": bias}
    output, pattern = _attend(self, query, key, value, mask, self.softmax_scale, **options)
    return self.out_proj(output), pattern


# By the file and class of an attention module: the method that an adapter takes the place of.
ADAPTERS: dict[str, tuple[str, Callable]] = {
    "modeling_mpnet.MPNetSelfAttention": ("forward", _mpnet),
    "modeling_deberta.DisentangledSelfAttention": ("forward", _deberta),
    "modeling_deberta_v2.DisentangledSelfAttention": ("forward", _deberta_v2),
    "modeling_xlnet.XLNetRelativeAttention": ("rel_attn_core", _xlnet),
    "modeling_gpt_neo.GPTNeoSelfAttention": ("forward", _gpt_neo),
    "modeling_bloom.BloomAttention": ("forward", _bloom),
    "modeling_falcon.FalconAttention": ("forward", _falcon),
    "modeling_mpt.MptAttention": ("forward", _mpt),
}
