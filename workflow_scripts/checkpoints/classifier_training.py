"""Training a classifier with Hugging Face's Trainer, so that a killed run goes on where it was.

After every epoch the Trainer saves its whole state to a working directory that belongs to this
run alone. A state counts only once it is marked; one that was cut off is made anew. The same
seed, data and threads give the same weights on a CPU, with or without a kill between.
"""

import json
import logging
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

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

log = logging.getLogger(__name__)
MARK = "complete"
IDENTITY = "run.json"


@dataclass(frozen=True)
class Recipe:
    """How a classifier is trained; AdamW, a linear warm-up and a linear fall to 0."""

    seed: int
    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 5e-5
    warmup: float = 0.1  # share of the steps
    weight_decay: float = 0.01
    precision: str = "float32"


class Rows(torch.utils.data.Dataset):
    """Examples with their labels, as the Trainer reads them."""

    def __init__(self, tokens: list[Tokens], labels: list[float], segments: bool) -> None:
        self.rows = []
        for one, label in zip(tokens, labels, strict=True):
            row = {"input_ids": one.ids.tolist(), "label": label}
            if segments:
                row["token_type_ids"] = one.segment.tolist()
            self.rows.append(row)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict:
        return self.rows[index]


class _Lines(TrainerCallback):
    """A line per tenth of the training."""

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        tenth = max(1, state.max_steps // 10)
        if state.global_step % tenth == 0:
            log.info("training: step %d of %d", state.global_step, state.max_steps)


class _Mark(TrainerCallback):
    """Marks a saved state as whole: this is called after its last file is written."""

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        (Path(args.output_dir) / f"checkpoint-{state.global_step}" / MARK).touch()


class _Epochs(TrainerCallback):
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
    training: Rows,
    dev: Rows,
    recipe: Recipe,
    work: Path,
    identity: dict,
    device: torch.device,
    every_epoch: bool = False,
) -> pd.DataFrame:
    """Train `model` in place and return its curve: step, epoch, training and development loss.

    `work` is the run's working directory; one that another run left (another `identity`) is
    emptied first. With `every_epoch` the weights after each epoch are kept in work/epoch-<k>.
    """
    _claim(work, identity | {"recipe": asdict(recipe), "threads": torch.get_num_threads()})
    arguments = TrainingArguments(
        output_dir=str(work),
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
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=training,
        eval_dataset=dev,
        processing_class=tokenizer,
        data_collator=DataCollatorWithPadding(tokenizer),
        callbacks=[_Lines(), _Mark(), *([_Epochs(work)] if every_epoch else [])],
    )
    trainer.remove_callback(PrinterCallback)
    last = _last_whole(work)
    if last is not None:
        log.info("training goes on from %s", last)
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
    """Make `work` this run's own: what another run left there is removed."""
    text = json.dumps(identity, sort_keys=True, indent=2)
    place = work / IDENTITY
    if place.is_file() and place.read_text(encoding="utf-8") == text:
        return
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    partial = place.with_suffix(".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, place)


def _last_whole(work: Path) -> Path | None:
    """The latest saved state that is marked; the others are removed."""
    whole = []
    for place in work.glob("checkpoint-*"):
        if (place / MARK).is_file():
            whole.append(place)
        else:
            shutil.rmtree(place)
    return max(whole, key=lambda place: int(place.name.partition("-")[2]), default=None)
