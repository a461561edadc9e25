"""Models and examples for the benchmarks of ablation, and the machine's matrix-product rate."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import SAME_KERNELS
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.running import ONEDNN, OneDNN


def classifier(directory: Path) -> PreTrainedModel:
    """A classifier of two classes on the pretrained body in `directory`, with a new head."""
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(directory, num_labels=2, trust_remote_code=False)
    model = AutoModelForSequenceClassification.from_pretrained(
        directory, config=config, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
    )
    return model.eval()


def random_pairs(n: int, mean: float, spread: float, shortest: int, longest: int) -> list[Tokens]:
    """Pairs of random wordpieces whose lengths are sampled from a normal distribution, clipped."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.normal(mean, spread, n).round().astype(int), shortest, longest)
    examples = []
    for number, length in enumerate(lengths):
        ids = rng.integers(1000, 20000, length).astype(np.int32)
        ids[0], ids[length // 2], ids[-1] = 101, 102, 102
        segment = (np.arange(length) > length // 2).astype(np.int8)
        examples.append(
            Tokens(str(number), ids, np.arange(length, dtype=np.int32), segment, length)
        )
    return examples


def with_same_kernels(plain: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The plain sides, and each once more with the kernels of ours: linear layers by oneDNN.

    Where oneDNN does not serve, both have the same kernels anyway, and no side is added.
    """

    def by_onednn(side: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            with OneDNN():
                return side(*given)

        return run

    again = {f"{name}{SAME_KERNELS}": by_onednn(side) for name, side in plain.items()}
    return {**plain, **(again if ONEDNN else {})}


def matmul_rate(model: PreTrainedModel, dtype: torch.dtype, rows: int) -> float:
    """Operations per second of the fastest product of a layer, at best, as the engine runs them.

    Its products are those of a projection of attention and of both halves of the feed-forward
    layer, which differ in their rates. `rows` are the tokens of a full pass of the engine.
    """
    width, inner = model.config.hidden_size, model.config.intermediate_size
    found = []
    for n_in, n_out in ((width, width), (width, inner), (inner, width)):
        states, weight, bias = (
            torch.randn(*shape, device=model.device, dtype=dtype)
            for shape in ((rows, n_in), (n_out, n_in), (n_out,))
        )
        best = min(_seconds(states, weight, bias) for _ in range(30))
        found.append(2 * rows * n_in * n_out / best)
    return max(found)


def _seconds(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, n: int = 3) -> float:
    """Seconds of a linear layer, the mean of `n` in a row."""
    started = time.perf_counter()
    with OneDNN(), torch.inference_mode():
        for _ in range(n):
            torch.nn.functional.linear(states, weight, bias)
    if states.is_cuda:
        torch.cuda.synchronize()
    return (time.perf_counter() - started) / n


def flops(model: PreTrainedModel, tokens: list[Tokens]) -> float:
    """Operations of the linear layers that a sweep runs for each head alone, without padding.

    Those are the feed-forward part of its layer and the layers above but the last, of which one
    token is run. Not counted is what the engine runs besides: one plain pass, attention's own
    products, padding and the last layer. A share of the machine's rate is thus a lower bound.
    """
    width, inner, layers = model.config.hidden_size, model.config.intermediate_size, n_layers(model)
    feed_forward = 2 * width * inner
    layer = 4 * width**2 + feed_forward
    one_head_of_each = sum(
        feed_forward + (layers - 2 - depth) * layer for depth in range(layers - 1)
    )
    return 2 * n_heads(model) * one_head_of_each * sum(len(example) for example in tokens)
