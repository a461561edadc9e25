"""Similarity of maps before and after fine-tuning with their rows of padding, as released.

The released notebook of Kovaleva et al. (2019) pads every input to a fixed length and flattens
whole maps: the attention of padding tokens, which no real token reads, counts as much as theirs.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import attention, models, running
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, per_head
from workflow_scripts.finetuning.finetuning_tables import cosine


def padded_maps(
    model: PreTrainedModel, tokens: Sequence[Tokens], length: int, precision: str
) -> np.ndarray:
    """Maps of a batch padded to `length`, padding queries included: [batch, layer, head, L, L]."""
    inputs = running.pad(tokens, model)
    wider = (0, length - inputs["input_ids"].shape[1])
    values = {"input_ids": running.padding_token(model.config)}
    inputs = {
        name: nn.functional.pad(value, wider, value=values.get(name, 0))
        for name, value in inputs.items()
    }
    capture = attention.Capture()
    with (
        torch.inference_mode(),
        running.OneDNN(),
        running.autocast(model.device, precision),
        attention.watching(model, capture),
    ):
        model(**inputs)
    return torch.stack(capture.patterns, dim=1).cpu().numpy()


def main(
    model: Path,
    card: Path,
    examples: Path,
    similarity: job.Out,
    task: str,
    seed: int,
    length: int,
    max_tokens: int,
    batch_tokens: int,
    bootstrap: int,
    device: str = "auto",
    precision: str = "float32",
) -> None:
    """Write each head's cosine similarity between the stages over maps padded to `length`.

    `model` and `card` are the cards of the pretrained model and of the checkpoint.
    """
    cards = (read_card(model), read_card(card))
    if (most := min(each["max_positions"] for each in cards)) < length:
        raise InputError(
            f"finetuning.padded_to is {length}, but the model has {most} positions; lower it"
        )
    before, after = (
        attention.open_attention(
            models.load_body(models.directory_of(each), running.pick_device(device))
        )
        for each in cards
    )
    tokenizer = models.load_tokenizer(models.directory_of(cards[0]))
    tokens = tokenize(read_examples(examples), tokenizer, max_tokens, most)
    if (longest := max(map(len, tokens))) > length:
        raise InputError(
            f"finetuning.padded_to is {length}, but {examples} has an input of {longest} tokens; "
            "raise it"
        )
    alike, size = [], max(1, batch_tokens // length)
    for start in job.progress(range(0, len(tokens), size), desc="batches"):
        batch = tokens[start : start + size]
        pair = (padded_maps(body, batch, length, precision) for body in (before, after))
        alike += [cosine(*maps) for maps in zip(*pair, strict=True)]
    frame = per_head({task: np.stack(alike)}, "task", "similarity", bootstrap, seed, INDEPENDENT)
    tables.write(frame.assign(seed=seed, length=length), similarity)


if __name__ == "__main__":
    job.run(main, globals())
