"""A classifier's layers as functions, so that they can be run one by one.

`layers_of` knows BERT, RoBERTa, XLM-RoBERTa, CamemBERT, ELECTRA, MPNet and DistilBERT. Their own
modules do the work; only attention itself is written here, because each head's output is needed
separately.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.model.attention import n_heads
from workflow_scripts.core.model.classifiers import Scorer

LIKE_BERT = {"bert", "roberta", "xlm-roberta", "camembert", "electra"}
LIKE_DEBERTA = {"deberta", "deberta-v2"}


@dataclass(frozen=True)
class Attention:
    """One layer's attention: its projections, and the heads' outputs computed with them."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    merge: nn.Linear
    n_heads: int

    def project(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
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
        attend = nn.functional.scaled_dot_product_attention
        return attend(*self.project(hidden), attn_mask=bias).transpose(1, 2)

    def first_outputs(self, hidden: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """Every head's output at the first token, [batch, 1, head, dim].

        Keys and values are not projected: q . (K x + b) is (K' q) . x up to a constant that the
        softmax drops, and the mean of V x + b is V applied to the mean of x.
        """
        query = self.split(self.query(hidden[:, 0]))
        directions = torch.einsum("bhd,hdw->bhw", query, self._by_head(self.key))
        scores = torch.einsum("bhw,btw->bht", directions, hidden) * query.shape[-1] ** -0.5
        if bias is not None:
            scores = scores + bias[:, :, 0]
        mixed = torch.einsum("bht,btw->bhw", scores.softmax(-1), hidden)
        attended = torch.einsum("bhw,hdw->bhd", mixed, self._by_head(self.value))
        return (attended + self.value.bias.unflatten(0, (self.n_heads, -1)))[:, None]

    def merged_by_head(self, outputs: torch.Tensor) -> torch.Tensor:
        """What each head adds to the merged output, [head, batch, token, width]."""
        weight = self.merge.weight.unflatten(1, (self.n_heads, -1))
        return torch.einsum("bthd,whd->hbtw", outputs, weight)

    def _by_head(self, linear: nn.Linear) -> torch.Tensor:
        return linear.weight.unflatten(0, (self.n_heads, -1))


@dataclass(frozen=True)
class Layer:
    """One layer: attention, the norm after it, and the rest (feed-forward with its norm)."""

    attention: Attention
    norm: nn.Module
    rest: Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class LayeredClassifier:
    """A classifier as functions: inputs -> hidden states -> layers -> first token -> logits."""

    embed: Callable[[dict[str, torch.Tensor]], torch.Tensor]
    layers: tuple[Layer, ...]
    classify: Callable[[torch.Tensor], torch.Tensor]  # [batch, width] of the first token to logits
    # What relative positions add to the scores of all layers, [1, head, query, key], of states.
    position_bias: Callable[[torch.Tensor], torch.Tensor] | None = None


def layers_of(model: PreTrainedModel | Scorer) -> LayeredClassifier | None:
    """The layers of a sequence classifier or scorer; None for an architecture not known here."""
    kind = model.config.model_type
    if kind in LIKE_BERT and not model.config.is_decoder:
        layered = _like_bert(model)
    elif kind in OTHERS:
        layered = OTHERS[kind](model)
    else:
        return None
    # A scorer's head is the same on every body; a classifier's is its architecture's.
    scorer = isinstance(model, Scorer)
    return replace(layered, classify=model.logits_of_first) if scorer else layered


def merges_of(model: PreTrainedModel) -> list[tuple[nn.Linear, nn.Module]] | None:
    """Each layer's merge of its heads, and the norm of its sum with what entered the layer.

    None for an encoder of which they are not known here.
    """
    if (layered := layers_of(model)) is not None:
        return [(layer.attention.merge, layer.norm) for layer in layered.layers]
    if model.config.model_type not in LIKE_DEBERTA:
        return None
    ends = [layer.attention.output for layer in model.base_model.encoder.layer]
    return [(end.dense, end.LayerNorm) for end in ends]


def _like_bert(model: PreTrainedModel | Scorer) -> LayeredClassifier:
    body = model.base_model
    project = getattr(body, "embeddings_project", nn.Identity())
    pool = getattr(body, "pooler", None) or nn.Identity()

    def classify(first: torch.Tensor) -> torch.Tensor:
        return model.classifier(pool(first[:, None]))

    def embed(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        ids, segments = inputs["input_ids"], inputs.get("token_type_ids")
        return project(body.embeddings(input_ids=ids, token_type_ids=segments))

    layers = []
    for layer in body.encoder.layer:
        heads_module, merge_module = layer.attention.self, layer.attention.output
        projections = map(heads_module.get_submodule, ("query", "key", "value"))
        attention = Attention(*projections, merge_module.dense, n_heads(model))
        layers.append(Layer(attention, merge_module.LayerNorm, layer.feed_forward_chunk))
    return LayeredClassifier(embed, tuple(layers), classify)


def _distilbert(model: PreTrainedModel | Scorer) -> LayeredClassifier:
    body = model.base_model

    def classify(first: torch.Tensor) -> torch.Tensor:
        return model.classifier(model.pre_classifier(first).relu())

    layers = []
    for layer in body.transformer.layer:
        names = "q_lin", "k_lin", "v_lin", "out_lin"
        attention = Attention(*map(layer.attention.get_submodule, names), n_heads(model))
        layers.append(Layer(attention, layer.sa_layer_norm, partial(_feed_forward, layer)))
    return LayeredClassifier(
        lambda inputs: body.embeddings(inputs["input_ids"]), tuple(layers), classify
    )


def _feed_forward(layer: nn.Module, hidden: torch.Tensor) -> torch.Tensor:
    return layer.output_layer_norm(layer.ffn(hidden) + hidden)


def _mpnet(model: PreTrainedModel | Scorer) -> LayeredClassifier:
    body = model.base_model
    layers = []
    for layer in body.encoder.layer:
        attention = Attention(*map(layer.attention.attn.get_submodule, "qkvo"), n_heads(model))
        layers.append(Layer(attention, layer.attention.LayerNorm, partial(_mpnet_rest, layer)))
    return LayeredClassifier(
        lambda inputs: body.embeddings(input_ids=inputs["input_ids"]),
        tuple(layers),
        lambda first: model.classifier(first[:, None]),
        lambda hidden: body.encoder.compute_position_bias(hidden[:1]),
    )


def _mpnet_rest(layer: nn.Module, hidden: torch.Tensor) -> torch.Tensor:
    return layer.output(layer.intermediate(hidden), hidden)


OTHERS = {"distilbert": _distilbert, "mpnet": _mpnet}
