"""A classifier that somebody else fine-tuned, in the place of one that the study trains."""

import logging
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PretrainedConfig, PreTrainedModel
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.checkpoints.finetune import write_checkpoint
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import TASKS, Task, split_of, texts_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models, running, weights
from workflow_scripts.core.model.classifiers import load_classifier, logits_of, tokens_of
from workflow_scripts.core.run import job

HEAD = "ForSequenceClassification"
SINGLE = (None, "regression", "single_label_classification")
TOLERANCE = 1e-3
log = logging.getLogger(__name__)


def check_head(config: PretrainedConfig, task: Task, where: str) -> None:
    """Raise InputError for a head other than a classifier's with these labels, or a score's.

    Labels of other names than the model's are those of its outputs in their order.
    """
    kinds, names = config.architectures or [], weights.label_names(config)
    if not any(kind.endswith(HEAD) for kind in kinds):
        raise InputError(f"{where}: {', '.join(kinds)} is no model {HEAD}; remove the model's task")
    several = config.problem_type == "regression" and len(names) > 1
    if config.problem_type not in SINGLE or several:
        raise InputError(
            f"{where}: {config.problem_type} with {len(names)} outputs is not read; use a model "
            "with one label a text, or one score"
        )
    if len(names) != task.n_labels:
        raise InputError(
            f"{where}: the model has {len(names)} outputs ({', '.join(names)}), and "
            f"tasks.{task.title}.labels {task.n_labels}; correct labels, or remove them"
        )
    spelled = [label.casefold() for label in task.labels], [name.casefold() for name in names]
    if task.labels and spelled[0] != spelled[1] and set(spelled[0]) == set(spelled[1]):
        raise InputError(
            f"{where}: the model's labels are in the order {', '.join(names)}; write "
            f"tasks.{task.title}.labels so"
        )
    elif task.labels != tuple(names):
        log.info("labels %s are the model's %s", ", ".join(task.labels), ", ".join(names))


def check_inputs(
    classifier: PreTrainedModel,
    tokenizer: FastTokenizer,
    rows: pd.DataFrame,
    max_tokens: int,
    max_positions: int,
    where: Path,
) -> None:
    """Raise InputError where a padded batch gives other logits than the tokenizer's own inputs.

    So it would where segments are numbered that the model was trained without.
    """
    shortest, longest = rows["text1"].str.len().argsort().iloc[[0, -1]]
    rows = rows.iloc[[shortest, longest]]
    found = logits_of(classifier, tokens_of(rows, tokenizer, max_tokens, max_positions))
    cut = {"truncation": "longest_first", "max_length": max_tokens, "split_special_tokens": True}
    for texts, logits in zip(texts_of(rows), found, strict=True):
        inputs = tokenizer(*texts, **cut, return_tensors="pt").to(classifier.device)
        with torch.inference_mode():
            own = classifier(**inputs).logits[0].float().cpu().numpy()
        if not np.allclose(own, logits, rtol=TOLERANCE, atol=TOLERANCE):
            raise InputError(
                f"{where}: the workflow's inputs give other outputs ({logits}) than those of the "
                f"tokenizer ({own}); see whether it is the model's own and gives token_type_ids"
            )


def main(
    model: Path,
    table: Path,
    checkpoint: job.Out,
    card: job.Out,
    task: str,
    max_tokens: int,
    device: str = "auto",
) -> None:
    """Write a copy of the classifier in `model`, and its card; it is tried on texts of `table`."""
    base = read_card(model)
    directory = models.directory_of(base)
    check_head(weights.read_config(directory), TASKS[task], str(directory / "config.json"))
    classifier = load_classifier(directory, running.pick_device(device))
    tokenizer, rows = models.load_tokenizer(directory), split_of(tables.read(table), "dev")
    check_inputs(classifier, tokenizer, rows, max_tokens, base["max_positions"], directory)
    write_checkpoint(classifier, tokenizer, base, checkpoint, card)


if __name__ == "__main__":
    job.run(main, globals())
