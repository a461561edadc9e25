"""No training goes on with numbers that are not finite, and none is scored."""

import torch

from tests.bad_input.refused import refused
from workflow_scripts.core.model import training
from workflow_scripts.core.model.training import ShuffledBatches, constant_schedule


def test_the_step_is_counted_over_epochs_and_the_first_ends_the_training() -> None:
    weight, asked = torch.nn.Parameter(torch.ones(1)), []
    schedule = constant_schedule(torch.optim.SGD([weight], lr=0))

    def loss_of(batch: int) -> torch.Tensor:
        asked.append(batch)
        return weight.sum() * (torch.inf if len(asked) == 8 else 1)

    def run() -> None:
        batches = ShuffledBatches(range(5), seed=1)
        training.train(torch.nn.Module(), batches, loss_of, 3, schedule)

    refused(run, "the loss of step 8 is inf")
    assert len(asked) == 8


def test_weights_that_are_not_finite_after_a_finite_loss() -> None:
    """The gradient of a square root at 0."""
    weight = torch.nn.Parameter(torch.zeros(2))
    schedule = constant_schedule(torch.optim.SGD([weight], lr=1))
    batches = ShuffledBatches([0], seed=1)

    def run() -> None:
        training.train_epoch(batches, lambda _: (weight * 0).sum().sqrt(), schedule)

    refused(run, "training: weights are not finite after step 1")
