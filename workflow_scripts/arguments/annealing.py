"""Learning rates that fall where the development accuracy does (Niven and Kao 2019, section 2)."""

import math

from torch.optim.lr_scheduler import LambdaLR


class Annealer:
    """Multiplies a schedule's learning rates by `factor` where an accuracy does not rise.

    That is after more than `patience` epochs in a row without a new best. PyTorch's
    ReduceLROnPlateau does the same with `threshold=0`, but a LambdaLR undoes its changes.
    """

    def __init__(self, schedule: LambdaLR, factor: float, patience: int) -> None:
        self.schedule, self.factor, self.patience = schedule, factor, patience
        self.best, self.without_best = -math.inf, 0

    def step(self, accuracy: float) -> None:
        """Take note of an epoch's accuracy, and lower the learning rates where it is due."""
        if accuracy > self.best:
            self.best, self.without_best = accuracy, 0
            return
        self.without_best += 1
        if self.without_best > self.patience:
            self.without_best = 0
            self.schedule.base_lrs = [rate * self.factor for rate in self.schedule.base_lrs]
            for group in self.schedule.optimizer.param_groups:  # until the schedule's next step
                group["lr"] *= self.factor
