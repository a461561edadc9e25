"""Logits of a fine-tuned classifier with every head, layer, or all heads but one disabled."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core import ablating, devices, job, tables
from workflow_scripts.core.attention import n_heads, n_layers
from workflow_scripts.core.classifiers import classifier_of, sample_of
from workflow_scripts.core.job import Out
from workflow_scripts.core.models import max_positions
from workflow_scripts.core.tasks import read_task
from workflow_scripts.core.tokens import Tokens

log = logging.getLogger(__name__)
UNITS = {
    "head": ablating.one_head,
    "layer": ablating.one_layer,
    "all-but-one": ablating.all_but_one,
}


def sweep(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    units: Mapping[str, Sequence[str]],
    means: torch.Tensor | None,
    pass_tokens: int,
    precision: str,
) -> pd.DataFrame:
    """One row per variant and example: unit, mode, layer, head, example, logit_0, logit_1 ...

    `units` names the modes of each of UNITS. `head` is -1 for a whole layer, and the head that is
    left for all-but-one. The plain model has unit and mode `none`, layer and head -1.
    """
    size = n_layers(model), n_heads(model)
    names, variants = [("none", "none", -1, -1)], [np.zeros((1, *size), bool)]
    for unit, its_modes in units.items():
        disabled = UNITS[unit](*size)
        cells = [(k, -1) if unit == "layer" else divmod(k, size[1]) for k in range(len(disabled))]
        for mode in its_modes:
            names += [(unit, mode, *cell) for cell in cells]
            variants.append(disabled)
    about = pd.DataFrame(names, columns=["unit", "mode", "layer", "head"])
    sets = np.concatenate(variants)
    modes = about["mode"].replace("none", about["mode"][1])  # the plain model runs with the first
    logits = np.empty((len(sets), len(tokens), model.config.num_labels), np.float32)
    for mode in modes.unique():
        chosen = (modes == mode).to_numpy()
        given = means if mode == "mean" else None
        found = ablating.ablate(model, tokens, sets[chosen], mode, given, pass_tokens, precision)
        logits[chosen] = found
    axes = {"variant": range(len(sets)), "example": range(len(tokens))}
    columns = {f"logit_{k}": logits[..., k] for k in range(logits.shape[2])}
    frame = tables.tidy(axes, **columns)
    return about.loc[frame.pop("variant")].reset_index(drop=True).join(frame)


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    logits: Out,
    task: str,
    init: str,
    seed: int,
    units: dict[str, list[str]],
    examples: int,
    reference: int,
    max_tokens: int,
    pass_tokens: int,
    precision: str = "float32",
    device: str = "auto",
) -> None:
    """Write the logits on every development split, with labels and examples' ids.

    At most `examples` of a split are used (0: all), drawn by the seed. For the mode `mean`, the
    heads' outputs are averaged over `reference` training examples. Splits beyond `dev` serve
    comparison alone: there every head is disabled in the mode `zero`.
    """
    model, tokenizer = classifier_of(card, devices.pick(device))
    frame, means = read_task(table), None
    given = {"tokenizer": tokenizer, "max_tokens": max_tokens, "seed": seed}
    given["max_positions"] = max_positions(model.config)
    if any("mean" in modes for modes in units.values()):
        tokens, _ = sample_of(frame, "train", n=reference, **given)
        means = ablating.mean_outputs(model, tokens)
    found = []
    for split in frame["split"].unique():
        if split == "train":
            continue
        tokens, rows = sample_of(frame, split, n=examples, **given)
        log.info("%s: %d examples", split, len(tokens))
        its_units = units if split == "dev" else {"head": ["zero"]}
        its = sweep(model, tokens, its_units, means, pass_tokens, precision)
        about = rows.loc[its["example"], ["id", "label"]].reset_index(drop=True)
        found.append(its.drop(columns="example").join(about).assign(split=split))
    named = {"task": task, "init": init, "seed": seed}
    tables.write(pd.concat(found, ignore_index=True).assign(**named), logits)


if __name__ == "__main__":
    job.run(main, globals())
