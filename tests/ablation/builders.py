"""A tiny fine-tuned classifier in its places, for tests of what is done to its heads."""

from pathlib import Path
from typing import Any

import pandas as pd

from tests.checkpoints.test_finetune import made_up_task
from tests.core.tiny_models import random_classifier, tokenizer, write_card
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import split_of


def checkpoint_in(folder: Path, n_epochs: int = 0) -> dict[str, Any]:
    """A random BERT for MNLI with two development sets; the values that its rules share."""
    checkpoint = folder / "mnli.finetuned.3"
    random_classifier("bert").save_pretrained(checkpoint)
    epochs = folder / f"{checkpoint.name}.epochs"
    for epoch in range(1, n_epochs + 1):
        random_classifier("bert", seed=epoch).save_pretrained(epochs / f"epoch-{epoch}")
    tokenizer().save_pretrained(checkpoint)
    table = tables.read(made_up_task(folder, "mnli"))
    other = split_of(table, "dev").assign(split="dev_mismatched")
    tables.write(pd.concat([table, other]), folder / "mnli.parquet")
    arguments = {"card": write_card(folder, checkpoint)}
    arguments |= {"table": folder / "mnli.parquet", "task": "mnli", "seed": 3}
    arguments["sample_seed"] = 1
    return arguments | {"max_tokens": 32, "pass_tokens": 500, "device": "cpu"}
