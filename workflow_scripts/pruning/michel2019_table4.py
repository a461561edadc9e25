"""Michel et al. 2019, Table 4: how much faster a model runs with heads removed for good."""

import copy
import logging
import math
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.classifiers import classifier_and_sampler
from workflow_scripts.core.model.layers import layers_of
from workflow_scripts.core.run import job

log = logging.getLogger(__name__)


class NoHeads(nn.Module):
    """Attention of which no head is left: it adds nothing but the merge's bias."""

    def __init__(self, width: int, bias: torch.Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("added", torch.zeros(width) if bias is None else bias)

    def forward(self, hidden_states: torch.Tensor, *_: object, **__: object) -> tuple:
        """The same at every token, and no pattern."""
        return self.added.expand(*hidden_states.shape[:-1], -1), None


def remove_heads(model: PreTrainedModel, gone: np.ndarray) -> PreTrainedModel:
    """A copy of a classifier without the heads of `gone`, bool [layer, head].

    Its outputs are those of the model whose gates of these heads are 0. Raises InputError for an
    architecture that `layers_of` does not know, or with a `position_bias`.
    """
    smaller = copy.deepcopy(model)
    classifier = layers_of(smaller)
    if classifier is None or classifier.position_bias is not None:
        raise InputError(f"{model.config.model_type}: its heads cannot be removed")
    for depth, (layer, heads) in enumerate(zip(classifier.layers, gone, strict=True)):
        if heads.all():
            _remove_attention(smaller, depth)
            continue
        attention = layer.attention
        dims = attention.query.out_features // attention.n_heads
        kept = torch.from_numpy(np.flatnonzero(np.repeat(~heads, dims)))
        for linear in (attention.query, attention.key, attention.value):
            _keep(linear, linear.weight[kept], linear.bias[kept])
        _keep(attention.merge, attention.merge.weight[:, kept], attention.merge.bias)
    return smaller


def _remove_attention(model: PreTrainedModel, depth: int) -> None:
    body = model.base_model
    if model.config.model_type == "distilbert":
        layer = body.transformer.layer[depth]
        layer.attention = NoHeads(layer.attention.dim, layer.attention.out_lin.bias.detach())
    else:
        attention = body.encoder.layer[depth].attention
        attention.self = NoHeads(attention.output.dense.in_features)


def _keep(linear: nn.Linear, weight: torch.Tensor, bias: torch.Tensor) -> None:
    """Give a projection the weights that stay; its other users see them too."""
    linear.weight, linear.bias = nn.Parameter(weight.detach()), nn.Parameter(bias.detach())
    linear.out_features, linear.in_features = weight.shape


# The paper's batch sizes, and how many times as fast BERT-base was there, on a GPU.
PAPER = {1: 1.019, 4: 1.027, 16: 1.175, 64: 1.175}


def whole_batches(tokens: Sequence[Tokens], batch_size: int) -> list[list[Tokens]]:
    """The examples in order, in full batches: they start again where they do not fill the last."""
    n = math.ceil(len(tokens) / batch_size)
    repeated = islice(cycle(tokens), n * batch_size)
    return [list(islice(repeated, batch_size)) for _ in range(n)]


def seconds(model: PreTrainedModel, batches: Sequence[Sequence[Tokens]]) -> float:
    """Seconds that the model takes for the batches.

    Timed by hand, because torch.utils.benchmark would run two warm-up rounds before each.
    """
    inputs = [running.pad(batch, model) for batch in batches]
    started = time.perf_counter()
    with torch.inference_mode():
        for batch in inputs:
            model(**batch)
    if model.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def main(
    card: Path,
    table: Path,
    order: Path,
    speed: job.Out,
    task: str,
    sample_seed: int,
    share: float,
    examples: int,
    repeats: int,
    max_tokens: int,
    device: str = "auto",
) -> None:
    """Write examples per second of both models, measured in turn, and the ratio of medians.

    The pruned one is without the first `share` of the heads in the order of importance.
    Where a batch is larger than the sample, or the last one is not full, examples are repeated;
    `examples` counts what one measurement runs through, `distinct` the different ones. Of a model
    whose heads cannot be removed, what is pruned is not a number.
    """
    model, sampler = classifier_and_sampler(card, table, max_tokens, sample_seed, device)
    tokens, _ = sampler.sample("dev", examples)
    rows = tables.read(order)
    rows = rows[rows["strategy"] == "importance"].sort_values(["step", "layer", "head"])
    gone = np.zeros((n_layers(model), n_heads(model)), bool)
    first = rows.head(round(share * gone.size))
    gone[first["layer"], first["head"]] = True
    models = {"original": model}
    try:
        models["pruned"] = remove_heads(model, gone)
    except InputError as error:  # which is no reason to lack the other chapters' results
        log.warning("%s; only the whole model is timed", error)
    rows = []
    for size, paper in PAPER.items():
        batches = whole_batches(tokens, size)
        rates: dict[str, list[float]] = {name: [] for name in models}
        for turn in range(repeats + 1):
            for name, timed in models.items():
                rate = len(batches) * size / seconds(timed, batches)
                if turn:  # the first warms up
                    rates[name].append(rate)
        row = {"task": TASKS[task].title, "batch_size": size, "pruned_share": gone.mean()}
        for name in ("original", "pruned"):
            measured = rates.get(name, [math.nan] * 2)
            row |= {name: np.median(measured), f"{name}_sd": np.std(measured, ddof=1)}
        row |= {"speedup": row["pruned"] / row["original"], "paper_speedup": paper}
        row |= {"device": model.device.type, "threads": torch.get_num_threads()}
        rows.append(row | {"examples": len(batches) * size, "distinct": len(tokens)})
    tables.write_csv(pd.DataFrame(rows).assign(repeats=repeats), speed)


if __name__ == "__main__":
    job.run(main, globals())
