"""The training loop against a plain one, its schedule, its order of batches and its best epoch."""

import copy
import math
from itertools import chain

import numpy as np
import pytest
import torch
from torch.nn import functional
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR

from tests.bad_input.refused import refused
from workflow_scripts.core.model.training import (
    LengthGroupedIndices,
    ShuffledBatches,
    ShuffledIndices,
    linear_schedule,
    train,
    train_epoch,
)

N, SIZE, EPOCHS = 23, 5, 4
INPUTS = torch.randn(N, 3, generator=torch.Generator().manual_seed(1))
TARGETS = INPUTS.sum(dim=1, keepdim=True)


def linear_model() -> torch.nn.Linear:
    torch.manual_seed(0)
    return torch.nn.Linear(3, 1)


def loss_on(model: torch.nn.Module, indices: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(model(INPUTS[indices]), TARGETS[indices])


def fit(model: torch.nn.Module, **options: object) -> list:
    batches = ShuffledIndices(N, SIZE, seed=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = OneCycleLR(optimizer, 0.1, total_steps=EPOCHS * len(batches))
    return train(model, batches, lambda k: loss_on(model, k), EPOCHS, schedule, **options)


def test_training_is_a_plain_loop() -> None:
    ours, plain = linear_model(), linear_model()
    epochs = fit(ours, max_norm=0.5, desc="test")
    optimizer = torch.optim.AdamW(plain.parameters(), lr=0.1)
    schedule = OneCycleLR(optimizer, 0.1, total_steps=EPOCHS * 5)
    order = torch.Generator().manual_seed(2)
    means = []
    for _ in range(EPOCHS):
        losses = []
        for indices in torch.randperm(N, generator=order).split(SIZE):
            optimizer.zero_grad()
            loss = loss_on(plain, indices)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 0.5)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        means.append(float(np.mean(losses)))
    assert torch.equal(ours.weight, plain.weight)
    assert [epoch.loss for epoch in epochs] == means
    assert [epoch.number for epoch in epochs if epoch.best] == [EPOCHS]
    assert all(math.isnan(epoch.dev_score) for epoch in epochs)


def test_the_first_best_epoch_is_kept() -> None:
    model, scores, states = linear_model(), iter([0.2, 0.5, 0.5, 0.1]), []

    def dev_score() -> float:
        states.append(copy.deepcopy(model.state_dict()))
        return next(scores)

    epochs = fit(model, dev_score=dev_score)
    assert [epoch.dev_score for epoch in epochs] == [0.2, 0.5, 0.5, 0.1]
    assert [epoch.best for epoch in epochs] == [False, True, False, False]
    assert torch.equal(model.weight, states[1]["weight"])
    assert not torch.equal(model.weight, states[2]["weight"])


def test_batches_of_similar_lengths_hold_every_example_in_a_new_order() -> None:
    lengths = np.random.default_rng(1).integers(3, 60, 1203)
    batches = LengthGroupedIndices(lengths, 8, seed=3)
    passes = [[batch.tolist() for batch in batches] for _ in range(3)]
    again = [batch.tolist() for batch in LengthGroupedIndices(lengths, 8, seed=3)]
    assert again == passes[0] and passes[0] != passes[1] != passes[2]
    for batches_of_pass in passes:
        assert sorted(chain(*batches_of_pass)) == list(range(1203))
        assert sorted(map(len, batches_of_pass)) == [3, *[8] * 150]
        assert len(batches_of_pass) == len(batches)
        longest = [max(lengths[batch]) for batch in batches_of_pass]
        assert longest != sorted(longest)  # the batches are shuffled, not only the windows
    padded = sum(len(batch) * max(lengths[batch]) for batch in passes[0])
    assert padded < 1.25 * lengths.sum()


@pytest.mark.parametrize(
    ("warmup", "expected"),
    [
        (0, [1, 0.8, 0.6, 0.4, 0.2]),
        (1, [1, 0.8, 0.6, 0.4, 0.2]),
        (2, [0.5, 1, 0.75, 0.5, 0.25]),
        (5, [0.2, 0.4, 0.6, 0.8, 1]),
    ],
)
def test_linear_schedule(warmup: int, expected: list[float]) -> None:
    optimizer = torch.optim.Adam(linear_model().parameters(), lr=3)
    schedule = linear_schedule(optimizer, 5, warmup)
    rates = []
    for _ in range(5):
        rates.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    assert rates == pytest.approx([3 * factor for factor in expected])


def test_the_step_is_counted_over_epochs_and_the_first_ends_the_training() -> None:
    weight, asked = torch.nn.Parameter(torch.ones(1)), []
    schedule = LambdaLR(torch.optim.SGD([weight], lr=0), lambda step: 1.0)

    def loss_of(batch: int) -> torch.Tensor:
        asked.append(batch)
        return weight.sum() * (torch.inf if len(asked) == 8 else 1)

    def run() -> None:
        batches = ShuffledBatches(range(5), seed=1)
        train(torch.nn.Module(), batches, loss_of, 3, schedule)

    refused(run, "the loss of step 8 is inf")
    assert len(asked) == 8


def test_weights_that_are_not_finite_after_a_finite_loss() -> None:
    """The gradient of a square root at 0."""
    weight = torch.nn.Parameter(torch.zeros(2))
    schedule = LambdaLR(torch.optim.SGD([weight], lr=1), lambda step: 1.0)
    batches = ShuffledBatches([0], seed=1)

    def run() -> None:
        train_epoch(batches, lambda _: (weight * 0).sum().sqrt(), schedule)

    refused(run, "training: weights are not finite after step 1")
