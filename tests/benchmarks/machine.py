"""Models and examples for the benchmarks of ablation, and the machine's matrix-product rate."""

import time
from pathlib import Path

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.onednn import OneDNN


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


def matmul_rate(model: PreTrainedModel, dtype: torch.dtype) -> float:
    """Operations per second of the feed-forward layer's product as the engine runs it, at best."""
    width, inner, rows = model.config.hidden_size, model.config.intermediate_size, 3072
    left = torch.randn(rows, width, device=model.device, dtype=dtype)
    right = torch.randn(inner, width, device=model.device, dtype=dtype)
    best = float("inf")
    for _ in range(30):
        started = time.perf_counter()
        with OneDNN(), torch.inference_mode():
            for _ in range(10):
                torch.nn.functional.linear(left, right)
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - started) / 10)
    return 2 * rows * width * inner / best


def flops(model: PreTrainedModel, tokens: list[Tokens]) -> float:
    """Matrix-product operations that the engine needs: the ablated layer and those above it.

    Of the ablated layer the feed-forward part, 2/3 of its work; of the last layer next to nothing.
    """
    layers, heads = n_layers(model), n_heads(model)
    run = heads * sum(2 / 3 + layers - 2 - layer for layer in range(layers - 1))
    return run * 24 * model.config.hidden_size**2 * sum(len(example) for example in tokens)
