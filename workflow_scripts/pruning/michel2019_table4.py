"""Michel et al. 2019, Table 4: how much faster a model runs with heads removed for good."""

import math
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.glue import TASKS, read_task
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import devices, padding
from workflow_scripts.core.model.attention import n_heads, n_layers
from workflow_scripts.core.model.classifiers import Sampler, classifier_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.pruning.head_removal import remove_heads

# The paper's batch sizes, and how many times as fast BERT-base was there, on a GPU.
PAPER = {1: 1.019, 4: 1.027, 16: 1.175, 64: 1.175}


def gone_at(order: pd.DataFrame, share: float, shape: tuple[int, int]) -> np.ndarray:
    """The first `share` of the heads in the order of importance, bool [layer, head]."""
    rows = order[order["strategy"] == "importance"].sort_values(["step", "layer", "head"])
    gone = np.zeros(shape, bool)
    first = rows.head(round(share * shape[0] * shape[1]))
    gone[first["layer"], first["head"]] = True
    return gone


def whole_batches(tokens: Sequence[Tokens], batch_size: int) -> list[list[Tokens]]:
    """The examples in order, in full batches: they start again where they do not fill the last."""
    n = math.ceil(len(tokens) / batch_size)
    repeated = islice(cycle(tokens), n * batch_size)
    return [list(islice(repeated, batch_size)) for _ in range(n)]


def seconds(model: PreTrainedModel, batches: Sequence[Sequence[Tokens]]) -> float:
    """Seconds that the model takes for the batches.

    Timed by hand, because torch.utils.benchmark would run two warm-up rounds before each.
    """
    inputs = [padding.pad(batch, model) for batch in batches]
    started = time.perf_counter()
    with torch.inference_mode():
        for batch in inputs:
            model(**batch)
    if model.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    order: Path,
    speed: Out,
    task: str,
    sample_seed: int,
    share: float,
    examples: int,
    repeats: int,
    max_tokens: int,
    device: str = "auto",
) -> None:
    """Write examples per second of both models, measured in turn, and the ratio of medians.

    Where a batch is larger than the sample, or the last one is not full, examples are repeated;
    `examples` counts what one measurement runs through, `distinct` the different ones.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    gone = gone_at(tables.read(order), share, (n_layers(model), n_heads(model)))
    models = {"original": model, "pruned": remove_heads(model, gone)}
    positions = read_card(card)["max_positions"]
    tokens, _ = Sampler(read_task(table), tokenizer, max_tokens, positions, sample_seed).sample(
        "dev", examples
    )
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
        for name, measured in rates.items():
            row |= {name: np.median(measured), f"{name}_sd": np.std(measured, ddof=1)}
        row |= {"speedup": row["pruned"] / row["original"], "paper_speedup": paper}
        row |= {"device": model.device.type, "threads": torch.get_num_threads()}
        rows.append(row | {"examples": len(batches) * size, "distinct": len(tokens)})
    tables.write_csv(pd.DataFrame(rows).assign(repeats=repeats), speed)


if __name__ == "__main__":
    job.run(main, globals())
