"""What a token loses without another token's value (Mohebbi et al. 2023, value zeroing)."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import nn
from torch.nn.functional import cosine_similarity
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, causal_engine, running
from workflow_scripts.core.model.head_maps import Values, output_maps
from workflow_scripts.core.run import job
from workflow_scripts.mixing.block_parts import blocks, by_layer, opened

MEASURES = ("first", "self", "top_weights", "top_norms", "weights", "norms")


class Without(attention.Watcher):
    """In row j of a batch, the value of token j is 0 in all heads; patterns stay as they are.

    `values` [head, key, dim] are those of the text that all rows hold.
    """

    def __init__(self, values: torch.Tensor, first: int) -> None:
        self._values, self._first = values, first

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self._pattern = pattern
        return pattern

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        changed = output.clone()
        for row in range(len(output)):
            key = self._first + row
            weights = self._pattern[row, :, :, key, None].to(output.dtype)
            changed[row] -= weights * self._values[:, None, key]
        return changed


def scores(model: PreTrainedModel, tokens: Tokens, rows: int = 64) -> np.ndarray:
    """C of each layer, [layer, query, key], of an opened body on one text; rows sum to 1.

    C_ij is 1 minus the cosine of token i's output of the layer with and without the value of token
    j, over the sum for all j. Only the layer is run anew, `rows` values at a time. A row in which
    nothing changes is 0. Raises InputError where the model's layers do not stand in one list.
    """
    layers = causal_engine.layer_list(model)
    if layers is None:
        raise InputError(
            f"{model.config.model_type}: its layers do not stand in one list, so that values "
            "cannot be zeroed layer by layer; take zeroing out of mixing.measures"
        )
    kept: list[tuple[tuple, dict[str, Any], torch.Tensor]] = []
    values: list[torch.Tensor] = []

    def keep(layer: nn.Module, args: tuple, kwargs: dict, output: Any) -> None:
        kept.append((args, kwargs, output[0] if isinstance(output, tuple) else output))

    chosen = [layers.each[place] for place in layers.places]
    watcher = Values(lambda layer, pattern, found: values.append(found[0]))
    with ExitStack() as hooks, torch.inference_mode(), running.OneDNN():
        hooks.enter_context(attention.watching(model, watcher))
        for layer in chosen:
            hooks.enter_context(layer.register_forward_hook(keep, with_kwargs=True))
        model(**running.pad([tokens], model), use_cache=False)
    found, n = [], len(tokens)
    with torch.inference_mode(), running.OneDNN():
        for layer, of_layer, call in zip(chosen, values, kept, strict=True):
            changes = [
                _changes(model, layer, call, Without(of_layer, first), min(rows, n - first))
                for first in range(0, n, rows)
            ]
            found.append(torch.cat(changes).T)  # [query, key]
    whole = torch.stack(found).double().clamp(min=0)
    totals = whole.sum(-1, keepdim=True)
    return (whole / totals.clamp(min=torch.finfo(whole.dtype).tiny)).cpu().numpy()


def _changes(
    model: PreTrainedModel, layer: nn.Module, call: tuple, watcher: Without, rows: int
) -> torch.Tensor:
    """1 - cosine of the layer's outputs with and without a value, [value, token]."""
    args, kwargs, plain = call
    if args:
        args = (args[0].expand(rows, -1, -1), *args[1:])
    else:
        kwargs = kwargs | {"hidden_states": kwargs["hidden_states"].expand(rows, -1, -1)}
    with attention.watching(model, watcher):
        output = layer(*args, **kwargs)
    output = output[0] if isinstance(output, tuple) else output
    return 1 - cosine_similarity(output.double(), plain.double(), dim=-1)


def measures(zeroed: np.ndarray, weights: np.ndarray, norms: np.ndarray) -> dict[str, float]:
    """How one layer's scores agree with weights and norms; all three are [query, key].

    `weights` are the mean of the heads, `norms` those of what all heads read. `first` and `self`
    are the mean scores of the first token and of the token itself. `top_weights` and `top_norms`
    are the shares of queries for which the key with the largest weight, or norm, is the one with
    the largest score, the token itself among the keys. These four leave the first query out.
    `weights` and `norms` are rank correlations of the scores with weights, and with each query's
    norms over their sum, over all pairs of different tokens that have a weight.
    """
    seen = weights > 0
    shares = norms / norms.sum(1, keepdims=True).clip(np.finfo(float).tiny)
    found = {"first": zeroed[1:, 0].mean(), "self": zeroed.diagonal()[1:].mean()}
    pairs = ~np.eye(len(zeroed), dtype=bool) & seen
    for name, of in (("weights", weights), ("norms", shares)):
        found[f"top_{name}"] = (_top(of, seen) == _top(zeroed, seen))[1:].mean()
        found[name] = spearmanr(zeroed[pairs], of[pairs]).statistic if pairs.sum() > 2 else np.nan
    return {name: float(found[name]) for name in MEASURES}


def _top(values: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The key with the largest value of each query, among those that it sees, int [query]."""
    return np.where(seen, values, -np.inf).argmax(1)


def main(
    model: Path,
    corpus: Path,
    table: job.Out,
    n_segments: int,
    max_tokens: int,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write each measure of each layer with its interval over documents."""
    body, texts, documents = opened(model, corpus, n_segments, max_tokens, seed, device)
    maps, found = output_maps(body), []
    for text in job.progress(texts, len(texts), "value zeroing"):
        zeroed, rows = scores(body, text), []
        for layer, block in enumerate(blocks(body, maps, text, with_residual=False)):
            weights = block.pattern.mean(0).double().cpu().numpy()
            rows.append(measures(zeroed[layer], weights, block.read.norm(dim=-1).cpu().numpy()))
        found.append(rows)
    tables.write_csv(by_layer(found, "measure", "value", bootstrap, seed, documents), table)


if __name__ == "__main__":
    job.run(main, globals())
