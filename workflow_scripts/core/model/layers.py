"""The parts of a classifier's layers, so that they can be run one by one.

`parts_of` knows BERT and its kin, RoBERTa and its kin, ELECTRA and DistilBERT. Their modules do the
work; only attention itself is written here, because the heads' outputs are needed apart.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.model.attention import n_heads
from workflow_scripts.core.model.cls_scorer import Scorer

Classify = Callable[[torch.Tensor], torch.Tensor]  # logits of the first token, [batch, width]
LIKE_BERT = {"bert", "roberta", "xlm-roberta", "camembert", "electra"}


@dataclass(frozen=True)
class Attention:
    """The projections of one layer's attention, and what it does with them."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    merge: nn.Linear
    n_heads: int

    def heads(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys and values, each [batch, head, token, dim], of hidden states."""
        return tuple(
            self.split(linear(hidden)).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )

    def split(self, projected: torch.Tensor) -> torch.Tensor:
        """[..., width] as [..., head, dim]."""
        return projected.unflatten(-1, (self.n_heads, -1))

    def outputs(self, hidden: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """Every head's output at every token, [batch, token, head, dim]."""
        query, key, value = self.heads(hidden)
        if hidden.is_cuda:
            attend = nn.functional.scaled_dot_product_attention
            return attend(query, key, value, attn_mask=bias).transpose(1, 2)
        return short_attention(query, key, value, bias).transpose(1, 2)

    def first_outputs(self, hidden: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """Every head's output at the first token, [batch, 1, head, dim].

        Neither keys nor values are projected: q . (K x + b) is (K' q) . x up to a constant that
        the softmax drops, and the mean of V x + b is V applied to the mean of x.
        """
        query = self.split(self.query(hidden[:, 0]))
        wanted = torch.einsum("bhd,hdw->bhw", query, self._by_head(self.key))
        scores = torch.einsum("bhw,btw->bht", wanted, hidden) * query.shape[-1] ** -0.5
        if bias is not None:
            scores = scores + bias[:, 0]
        mixed = torch.einsum("bht,btw->bhw", scores.softmax(-1), hidden)
        attended = torch.einsum("bhw,hdw->bhd", mixed, self._by_head(self.value))
        return (attended + self.value.bias.unflatten(0, (self.n_heads, -1)))[:, None]

    def merged_apart(self, outputs: torch.Tensor) -> torch.Tensor:
        """What each head adds to the merged output, [head, batch, token, width]."""
        weight = self.merge.weight.unflatten(1, (self.n_heads, -1))
        return torch.einsum("bthd,whd->hbtw", outputs, weight)

    def _by_head(self, linear: nn.Linear) -> torch.Tensor:
        return linear.weight.unflatten(0, (self.n_heads, -1))


def short_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    """What PyTorch's own function gives, twice as fast on a CPU for short texts.

    All [batch, head, token, dim]; `bias` [batch, 1, 1, token] is added to the scores.
    """
    shape = query.shape[:2]
    query, key, value = (one.flatten(0, 1) for one in (query, key, value))
    added = query.new_zeros(1, 1, 1)
    if bias is not None:
        added = bias.expand(*shape, key.shape[1], -1).flatten(0, 1)
    scores = torch.baddbmm(added, query, key.transpose(1, 2), alpha=query.shape[-1] ** -0.5)
    return torch.bmm(scores.softmax(-1), value).unflatten(0, shape)


@dataclass(frozen=True)
class Layer:
    """One layer: attention, the norm after it, and the rest (feed-forward with its norm)."""

    attention: Attention
    norm: nn.Module
    rest: Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Parts:
    """A classifier in parts: inputs -> hidden states -> layers -> first token -> logits."""

    embed: Callable[[dict[str, torch.Tensor]], torch.Tensor]
    layers: tuple[Layer, ...]
    classify: Classify


def parts_of(model: PreTrainedModel | Scorer) -> Parts | None:
    """The parts of a sequence classifier or scorer; None for an architecture not known here."""
    kind = model.config.model_type
    if kind == "distilbert":
        return _distilbert(model)
    if kind in LIKE_BERT and not model.config.is_decoder:
        return _like_bert(model)
    return None


def _like_bert(model: PreTrainedModel | Scorer) -> Parts:
    body, heads = model.base_model, n_heads(model)
    project = getattr(body, "embeddings_project", nn.Identity())
    pool = getattr(body, "pooler", None) or nn.Identity()

    def classify(first: torch.Tensor) -> torch.Tensor:
        return model.classifier(pool(first[:, None]))

    def embed(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        ids, segments = inputs["input_ids"], inputs.get("token_type_ids")
        return project(body.embeddings(input_ids=ids, token_type_ids=segments))

    layers = []
    for layer in body.encoder.layer:
        inner, after = layer.attention.self, layer.attention.output
        attention = Attention(inner.query, inner.key, inner.value, after.dense, heads)
        layers.append(Layer(attention, after.LayerNorm, layer.feed_forward_chunk))
    return Parts(embed, tuple(layers), _classify(model, classify))


def _distilbert(model: PreTrainedModel | Scorer) -> Parts:
    body, heads = model.base_model, n_heads(model)

    def classify(first: torch.Tensor) -> torch.Tensor:
        return model.classifier(model.pre_classifier(first).relu())

    layers = []
    for layer in body.transformer.layer:
        inner = layer.attention
        attention = Attention(inner.q_lin, inner.k_lin, inner.v_lin, inner.out_lin, heads)
        layers.append(Layer(attention, layer.sa_layer_norm, _feed_forward(layer)))
    return Parts(
        lambda inputs: body.embeddings(inputs["input_ids"]),
        tuple(layers),
        _classify(model, classify),
    )


def _classify(model: PreTrainedModel | Scorer, own: Classify) -> Classify:
    """A scorer's head is the same on every body; a classifier has its architecture's own."""
    return model.of_first if isinstance(model, Scorer) else own


def _feed_forward(layer: nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda hidden: layer.output_layer_norm(layer.ffn(hidden) + hidden)
