"""Logits of a fine-tuned classifier with every head, layer, or all heads but one disabled."""

import logging
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import read_task
from workflow_scripts.core.model import ablation_engine, devices
from workflow_scripts.core.model.ablation_table import sweep
from workflow_scripts.core.model.classifiers import Sampler, classifier_of
from workflow_scripts.core.model.models import max_positions
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

log = logging.getLogger(__name__)


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    logits: Out,
    task: str,
    init: str,
    seed: int,
    sample_seed: int,
    units: dict[str, list[str]],
    examples: int,
    reference: int,
    max_tokens: int,
    pass_tokens: int,
    precision: str = "float32",
    device: str = "auto",
) -> None:
    """Write the logits on every development split, with labels and examples' ids.

    At most `examples` of a split are used (0: all), drawn by `sample_seed`: the same for every
    fine-tuning `seed`, so that seeds differ by their training alone. For the mode `mean`, the
    heads' outputs are averaged over `reference` training examples. On splits other than `dev`,
    which are there for comparison, only single heads are disabled, in the mode `zero`.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    frame, means = read_task(table), None
    sampler = Sampler(frame, tokenizer, max_tokens, max_positions(model.config), sample_seed)
    limits = {"pass_tokens": pass_tokens, "precision": precision}
    if any("mean" in modes for modes in units.values()):
        tokens, _ = sampler.sample("train", reference)
        means = ablation_engine.mean_outputs(model, tokens)
    frames = []
    for split in frame["split"].unique():
        if split == "train":
            continue
        tokens, rows = sampler.sample(split, examples)
        log.info("%s: %d examples", split, len(tokens))
        split_units = units if split == "dev" else {"head": ["zero"]}
        swept = sweep(model, tokens, split_units, means, **limits)
        labelled = rows.loc[swept["example"], ["id", "label"]].reset_index(drop=True)
        frames.append(swept.drop(columns="example").join(labelled).assign(split=split))
    checkpoint_columns = {"task": task, "init": init, "seed": seed}
    tables.write(pd.concat(frames, ignore_index=True).assign(**checkpoint_columns), logits)


if __name__ == "__main__":
    job.run(main, globals())
