"""Importance and pruning curves at every saved epoch of fine-tuning (Michel et al., section 6)."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.glue import TASKS, read_task
from workflow_scripts.core.model import devices, models
from workflow_scripts.core.model.ablation_engine import ablate
from workflow_scripts.core.model.classifiers import load_classifier, sample_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import Out
from workflow_scripts.pruning import orders
from workflow_scripts.pruning.importance import importance_of
from workflow_scripts.pruning.pruning_curves import curve


def epochs_of(checkpoint: Path) -> list[Path]:
    """The weights after each epoch, in order. Raises InputError where none were kept."""
    found = sorted(checkpoint.glob("epoch-*"), key=lambda path: int(path.name.partition("-")[2]))
    if not found:
        raise InputError(f"{checkpoint}: no epoch-*; add the task to finetune.every_epoch")
    return found


def main(
    card: Path,
    checkpoint: Path,
    table: Path,
    curves: Out,
    importance: Out,
    task: str,
    init: str,
    seed: int,
    step: float,
    variant: str,
    normalise: bool,
    examples: int,
    dev_examples: int,
    max_tokens: int,
    pass_tokens: int,
    precision: str = "float32",
    device: str = "auto",
) -> None:
    """Write every epoch's pruning curve, and its importance beside that after the last epoch.

    `agreement` is Spearman's correlation of an epoch's importance with the last one's, over heads.
    """
    its_card, frame, its_task = read_card(card), read_task(table), TASKS[task]
    directory = models.directory_of(its_card)
    given = {"tokenizer": models.load_tokenizer(directory), "max_tokens": max_tokens}
    given |= {"max_positions": its_card["max_positions"], "seed": seed}
    training, its_rows = sample_of(frame, "train", n=examples, **given)
    tokens, rows = sample_of(frame, "dev", n=dev_examples, **given)
    its_labels, labels = its_rows["label"].to_numpy(), rows["label"].to_numpy()
    scores, found = [], {}
    for epoch, place in enumerate(epochs_of(directory), start=1):
        model = load_classifier(place, devices.pick(device))
        found[epoch] = importance_of(model, training, its_labels, variant, normalise)
        counts = orders.steps(found[epoch].size, step)
        masks = orders.by_score(found[epoch], counts)
        logits = ablate(model, tokens, masks, "zero", pass_tokens=pass_tokens, precision=precision)
        scores.append(curve(its_task, labels, logits, counts).assign(epoch=epoch))
    named = {"task": task, "init": init, "seed": seed}
    heads = found[epoch].size
    tables.write(pd.concat(scores, ignore_index=True).assign(heads=heads, **named), curves)
    tables.write(_beside_last(found).assign(**named), importance)


def _beside_last(found: dict[int, np.ndarray]) -> pd.DataFrame:
    last = found[max(found)]
    frames = []
    for epoch, values in found.items():
        axes = {"layer": range(values.shape[0]), "head": range(values.shape[1])}
        agreement = stats.spearmanr(values.ravel(), last.ravel()).statistic
        one = tables.tidy(axes, importance=values)
        frames.append(one.assign(epoch=epoch, agreement=agreement))
    return pd.concat(frames, ignore_index=True)


if __name__ == "__main__":
    job.run(main, globals())
