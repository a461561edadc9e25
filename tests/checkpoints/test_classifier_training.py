"""The loop against the Trainer, and against itself stopped after any epoch."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR
from transformers import (
    AutoModelForSequenceClassification,
    PreTrainedModel,
    Trainer,
    TrainingArguments,
    get_linear_schedule_with_warmup,
)

from tests.core.tiny_models import ARCHITECTURES, WITH_CLS, random_tokens
from workflow_scripts.checkpoints.finetune import FineTuning, LabelledTokens, train
from workflow_scripts.core.model import running, training
from workflow_scripts.core.model.running import OneDNN
from workflow_scripts.core.model.training import LengthGroupedIndices, curve_of, decay_groups

N = 42
RECIPE = FineTuning(seed=3, epochs=3, batch_size=8, learning_rate=2e-3, weight_decay=0.1)


def classifier(name: str = "bert", dropout: float = 0.0, labels: int = 2) -> PreTrainedModel:
    config = copy.deepcopy(ARCHITECTURES[name])
    config.num_labels = labels
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout
    torch.manual_seed(0)
    return AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)


def examples(scores: bool = False) -> LabelledTokens:
    """Examples of random lengths that begin with one of two words; the label states with which."""
    rng = np.random.default_rng(1)
    tokens, labels = random_tokens(rng.integers(4, 14, N)), rng.integers(0, 2, N)
    for example, label in zip(tokens, labels, strict=True):
        example.ids[1] = 5 + label
    return LabelledTokens(
        tokens, torch.tensor(labels, dtype=torch.float32 if scores else torch.int64)
    )


class ShiftedTrainer(Trainer):
    """The Trainer in the loop's order of batches and without its first step at a rate of 0."""

    order: LengthGroupedIndices
    data: LabelledTokens

    def get_train_dataloader(self) -> "ShiftedTrainer._Loader":
        return self._Loader(self)

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        warmup = self.args.get_warmup_steps(num_training_steps)
        left_out = 1 if warmup else 0
        optimizer = optimizer or self.optimizer
        theirs = get_linear_schedule_with_warmup(optimizer, warmup, num_training_steps + left_out)
        factor = theirs.lr_lambdas[0]
        schedule = LambdaLR(optimizer, lambda step: factor(step + left_out))
        self.lr_scheduler = schedule
        return schedule

    class _Loader:
        def __init__(self, trainer: "ShiftedTrainer") -> None:
            self.trainer = trainer
            self.dataset = trainer.data.tokens
            self.batch_size = RECIPE.batch_size

        def __len__(self) -> int:
            return len(self.trainer.order)

        def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
            for indices in self.trainer.order:
                chosen = [self.trainer.data.tokens[index] for index in indices]
                labels = self.trainer.data.labels[indices]
                yield running.pad(chosen, self.trainer.model) | {"labels": labels}


@pytest.mark.parametrize(("scores", "warmup"), [(False, 0.0), (True, 0.3)])
def test_the_loop_is_the_trainers(scores: bool, warmup: float, tmp_path: Path) -> None:
    data = examples(scores)
    ours, theirs = (classifier(labels=1 if scores else 2) for _ in range(2))
    before = copy.deepcopy(ours.state_dict())
    recipe = FineTuning(
        **{name: getattr(RECIPE, name) for name in ("seed", "epochs", "batch_size")},
        learning_rate=RECIPE.learning_rate,
        weight_decay=RECIPE.weight_decay,
        warmup=warmup,
    )
    train(ours, data, recipe, tmp_path / "state")
    arguments = TrainingArguments(
        str(tmp_path / "out"),
        num_train_epochs=recipe.epochs,
        per_device_train_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        warmup_steps=warmup,
        weight_decay=recipe.weight_decay,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = ShiftedTrainer(theirs, arguments)
    lengths = [len(example) for example in data.tokens]
    trainer.data, trainer.order = data, LengthGroupedIndices(lengths, recipe.batch_size, 3)
    with OneDNN():  # the loop's; other matrix products differ in the last digits
        trainer.train()
    for name, expected in theirs.state_dict().items():
        torch.testing.assert_close(ours.state_dict()[name], expected, atol=1e-5, rtol=0)
    moved = [not torch.equal(before[name], value) for name, value in ours.state_dict().items()]
    assert sum(moved) > 30


@pytest.mark.parametrize("name", WITH_CLS)
def test_what_decays_is_what_decays_in_the_trainer(name: str, tmp_path: Path) -> None:
    model = classifier(name)
    expected = set(
        Trainer(model, TrainingArguments(str(tmp_path))).get_decay_parameter_names(model)
    )
    decayed, rest = decay_groups(model, 0.1)
    names = {id(weights): name for name, weights in model.named_parameters()}
    assert {names[id(weights)] for weights in decayed["params"]} == expected
    assert len(decayed["params"]) + len(rest["params"]) == len(names)
    assert (decayed["weight_decay"], rest["weight_decay"]) == (0.1, 0)


class Stopped(Exception):
    pass


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_run_goes_on_after_any_epoch(
    epoch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = examples()
    whole = classifier(dropout=0.1)
    curve = train(whole, data, RECIPE, tmp_path / "whole")
    save, count = training.save_state, iter(range(1, 9))

    def stop(*arguments: Any) -> None:
        save(*arguments)
        if next(count) == epoch:
            raise Stopped

    monkeypatch.setattr(training, "save_state", stop)
    state = tmp_path / "stopped"
    with pytest.raises(Stopped):
        train(classifier(dropout=0.1), data, RECIPE, state)
    monkeypatch.setattr(training, "save_state", save)
    torch.manual_seed(99)  # the state brings its own random streams
    resumed = classifier(dropout=0.1)
    again = train(resumed, data, RECIPE, state)
    for name, value in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value), name
    assert curve.equals(again)


def test_the_curve_has_a_row_a_quarter_and_one_of_development() -> None:
    rows = curve_of(2, [4.0, 2.0, 1.0, 1.0, 0.5], 0.25)
    assert [row["step"] for row in rows] == [7, 8, 9, 10, 10]
    assert [row["epoch"] for row in rows] == pytest.approx([1.4, 1.6, 1.8, 2, 2])
    assert [row["loss"] for row in rows] == [3, 1, 1, 0.5, 0.25]
    assert [row["split"] for row in rows] == ["train"] * 4 + ["dev"]
    assert len(curve_of(1, [1.0, 2.0], 3.0)) == 3
    assert curve_of(1, [1.0, 2.0], None) == curve_of(1, [1.0, 2.0], 3.0)[:2]


def test_bfloat16_trains_in_other_steps(tmp_path: Path) -> None:
    data, ends = examples(), []
    for precision in ("float32", "bfloat16"):
        recipe = FineTuning(seed=3, batch_size=8, learning_rate=2e-3, precision=precision)
        model = classifier()
        train(model, data, recipe, tmp_path / precision)
        assert {value.dtype for value in model.parameters()} == {torch.float32}
        ends.append(model.classifier.weight.detach())
    assert not torch.equal(*ends)
    torch.testing.assert_close(*ends, atol=0.02, rtol=0.1)
