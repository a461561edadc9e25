"""Training a classifier with Hugging Face's Trainer, so that a killed run resumes.

After every epoch the Trainer saves its whole state to a working directory that belongs to this
run alone. A state is used only once it is marked as complete. The same seed, data and threads give
the same weights on a CPU, whether or not the run was killed and resumed.
"""

import json
import logging
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from transformers import (
    DataCollatorWithPadding,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.products import FastProducts
from workflow_scripts.core.model.training import Recipe

log = logging.getLogger(__name__)
MARK = "complete"
IDENTITY = "run.json"


@dataclass(frozen=True, kw_only=True)
class FineTuning(Recipe):
    """How a classifier is trained: AdamW, a linear warm-up, then linear decay to 0."""

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    warmup: float = 0.1  # share of the steps
    weight_decay: float = 0.01
    precision: str = "float32"


@dataclass(frozen=True)
class Run:
    """A run's working directory, and what distinguishes it from other runs.

    A directory that a run with another `identity` left is emptied. With `every_epoch` the weights
    after each epoch are kept in work/epoch-<k>.
    """

    work: Path
    identity: dict[str, Any]
    every_epoch: bool = False


class LabelledExamples(torch.utils.data.Dataset):
    """Examples with their labels, as the Trainer reads them."""

    def __init__(self, tokens: list[Tokens], labels: list[float], segments: bool) -> None:
        self.rows = []
        for example, label in zip(tokens, labels, strict=True):
            row = {"input_ids": example.ids.tolist(), "label": label}
            if segments:
                row["token_type_ids"] = example.segment.tolist()
            self.rows.append(row)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict:
        return self.rows[index]


class _LogProgress(TrainerCallback):
    """Logs a line per tenth of the training."""

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        tenth = max(1, state.max_steps // 10)
        if state.global_step % tenth == 0:
            log.info("training: step %d of %d", state.global_step, state.max_steps)


class _MarkComplete(TrainerCallback):
    """Marks a saved state as complete: `on_save` is called after its last file is written."""

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        (Path(args.output_dir) / f"checkpoint-{state.global_step}" / MARK).touch()


class _KeepEpochs(TrainerCallback):
    """Keeps the weights after every epoch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_epoch_end(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        model: PreTrainedModel,
        **_: object,
    ) -> None:
        model.save_pretrained(self.folder / f"epoch-{round(state.epoch)}")


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    training: LabelledExamples,
    dev: LabelledExamples,
    recipe: FineTuning,
    run: Run,
) -> pd.DataFrame:
    """Train `model` in place and return its curve: step, epoch, training and development loss."""
    recipe_and_threads = {"recipe": asdict(recipe), "threads": torch.get_num_threads()}
    _claim(run.work, run.identity | recipe_and_threads)
    device = model.device
    arguments = TrainingArguments(
        output_dir=str(run.work),
        seed=recipe.seed,
        data_seed=recipe.seed,
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch_size,
        per_device_eval_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        warmup_steps=recipe.warmup,
        weight_decay=recipe.weight_decay,
        lr_scheduler_type="linear",
        bf16=recipe.precision == "bfloat16",
        use_cpu=device.type == "cpu",
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=max(1, -(-len(training) // recipe.batch_size) // 4),
        report_to="none",
        disable_tqdm=not sys.stderr.isatty(),
        dataloader_num_workers=0,
        dataloader_pin_memory=device.type == "cuda",
    )
    if arguments.n_gpu > 1:
        arguments._n_gpu = 1  # more would multiply the batch size
    callbacks = [_LogProgress(), _MarkComplete()]
    if run.every_epoch:
        callbacks.append(_KeepEpochs(run.work))
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=training,
        eval_dataset=dev,
        processing_class=tokenizer,
        data_collator=DataCollatorWithPadding(tokenizer),
        callbacks=callbacks,
    )
    trainer.remove_callback(PrinterCallback)
    last = _last_complete(run.work)
    if last is not None:
        log.info("training resumes from %s", last)
    with FastProducts():
        trainer.train(resume_from_checkpoint=str(last) if last else None)
    return curve_of(trainer.state.log_history)


def curve_of(history: list[dict]) -> pd.DataFrame:
    """One row per logged loss: step, epoch, split (train or dev), loss."""
    names = {"loss": "train", "eval_loss": "dev"}
    rows = [
        {"step": entry["step"], "epoch": entry["epoch"], "split": split, "loss": entry[name]}
        for entry in history
        for name, split in names.items()
        if name in entry
    ]
    return pd.DataFrame(rows, columns=["step", "epoch", "split", "loss"])


def _claim(work: Path, identity: dict) -> None:
    """Reserve `work` for this run: what another run left there is removed."""
    text = json.dumps(identity, sort_keys=True, indent=2)
    path = work / IDENTITY
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    partial = path.with_suffix(".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def _last_complete(work: Path) -> Path | None:
    """The latest saved state that is marked as complete; those that are not are removed."""
    complete = []
    for state in work.glob("checkpoint-*"):
        if (state / MARK).is_file():
            complete.append(state)
        else:
            shutil.rmtree(state)
    return max(complete, key=lambda state: int(state.name.partition("-")[2]), default=None)
