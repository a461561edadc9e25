"""The norms of what heads read from each token (Kobayashi et al. 2020, on norm-based analysis).

A head's output at a query is the sum over the keys of alpha * f(x), with
f(x) = (x W_V + b_V) W_O: a key of small ||f(x)|| adds little, however large its weight.
The bias of the output projection, which belongs to no key, is no part of f.
"""

from collections.abc import Callable

import torch
from transformers import PreTrainedModel

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.attention import Watcher
from workflow_scripts.core.model.head_maps import head_maps
from workflow_scripts.core.model.layers import layers_of


class Values(Watcher):
    """Hands on each layer's pattern [batch, head, query, key] and values [batch, head, key, dim].

    The heads' outputs under an identity pattern are their values; afterwards each head's own
    pattern is put back, so that the pass goes on as without this watcher. Rows of padded queries
    and columns of padded keys are handed on, too.
    """

    def __init__(self, hand: Callable[[int, torch.Tensor, torch.Tensor], None]) -> None:
        self._hand = hand

    def start(self, model: torch.nn.Module) -> None:
        if model.training:
            raise RuntimeError("values are read in eval mode: call model.eval() first")

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self._pattern = pattern
        identity = torch.eye(pattern.shape[-1], dtype=pattern.dtype, device=pattern.device)
        return identity.expand_as(pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self._hand(layer, self._pattern, output)
        return self._pattern.to(output.dtype) @ output


class ValueNorms(Values):
    """Hands on each layer's pattern, as Values does, and ||f(x)|| [batch, head, key].

    `grams` are those of `output_grams`.
    """

    def __init__(
        self,
        grams: torch.Tensor,
        hand: Callable[[int, torch.Tensor, torch.Tensor], None],
    ) -> None:
        def norms(layer: int, pattern: torch.Tensor, values: torch.Tensor) -> None:
            gram = grams[layer].to(values.dtype)
            squares = torch.einsum("bhkd,hde,bhke->bhk", values, gram, values)
            hand(layer, pattern, squares.clamp(min=0).sqrt())

        super().__init__(norms)


def output_grams(model: PreTrainedModel) -> torch.Tensor:
    """Each head's W_O W_O^T, [layer, head, dim, dim], of an opened encoder or decoder.

    Raises InputError as `output_maps` does.
    """
    out = output_maps(model)
    return out @ out.transpose(-1, -2)


def output_maps(model: PreTrainedModel) -> torch.Tensor:
    """Each head's W_O, [layer, head, dim, hidden], of an opened encoder or decoder.

    Raises InputError for an encoder whose output projections are not known.
    """
    if not attention.is_bidirectional(model):
        return head_maps(model)[1]
    layered = layers_of(model)
    if layered is None:
        raise InputError(
            f"{model.config.model_type}: the output projections of its attention are not known, "
            "so that norms cannot be measured; remove the chapter that measures them from this "
            "model's `chapters`"
        )
    merges = [layer.attention.merge.weight.detach() for layer in layered.layers]
    by_head = torch.stack(merges).unflatten(2, (attention.n_heads(model), -1))
    return by_head.permute(0, 2, 3, 1)


def weighted(pattern: torch.Tensor, norms: torch.Tensor) -> torch.Tensor:
    """Each key's share of a query's norms, alpha ||f(x)|| over their sum: as `pattern`.

    A row without any norm stays 0. Weight that goes to no token has no share.
    """
    products = pattern * norms[:, :, None].to(pattern.dtype)
    return products / products.sum(-1, keepdim=True).clamp(min=torch.finfo(products.dtype).tiny)
