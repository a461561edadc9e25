"""Attributions of the heads of a fine-tuned classifier, on the examples of its sweep."""

from collections.abc import Sequence
from pathlib import Path

import torch

from workflow_scripts.ablation.attribution import attributions, table_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.glue import read_task
from workflow_scripts.core.model import devices
from workflow_scripts.core.model.classifiers import Sampler, classifier_of
from workflow_scripts.core.model.head_gradients import BATCH_TOKENS, losses
from workflow_scripts.core.model.replacements import replacement_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    attribution: Out,
    task: str,
    init: str,
    seed: int,
    sample_seed: int,
    modes: list[str],
    examples: int,
    reference: int,
    max_tokens: int,
    device: str = "auto",
) -> None:
    """Write a row per mode, head and development example: its part of the loss's change.

    Examples and what heads output instead are those of ablation_sweep.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    positions = read_card(card)["max_positions"]
    sampler = Sampler(read_task(table), tokenizer, max_tokens, positions, sample_seed)
    texts, _ = sampler.sample("train", reference)
    tokens, rows = sampler.sample("dev", examples)
    labels = torch.from_numpy(rows["label"].to_numpy().copy()).to(model.device)

    def of(inputs: dict[str, torch.Tensor], batch: Sequence[int]) -> torch.Tensor:
        return losses(model(**inputs).logits, labels[batch])

    instead = {mode: replacement_of(mode, model, tokens, texts, sample_seed) for mode in modes}
    found = attributions(model, tokens, of, instead, BATCH_TOKENS)
    frame = table_of(found, modes, rows["id"].tolist())
    tables.write(frame.assign(task=task, init=init, seed=seed), attribution)


if __name__ == "__main__":
    job.run(main, globals())
