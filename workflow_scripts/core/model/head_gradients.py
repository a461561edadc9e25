"""The heads' outputs of a pass with their gradients, and the loss of each example behind them."""

from dataclasses import dataclass, field

import torch
from torch.nn import functional

from workflow_scripts.core.model.attention import Watcher

BATCH_TOKENS = 2048  # of a classifier's backward pass


@dataclass
class HeadOutputs(Watcher):
    """Collects the heads' outputs of a forward pass, with their gradients after `backward`."""

    outputs: list[torch.Tensor] = field(default_factory=list)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        output.retain_grad()
        self.outputs.append(output)
        return output


def losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The loss of each example, [batch]: cross-entropy, or the squared error of a score."""
    if logits.shape[1] == 1:
        return (logits[:, 0] - labels.to(logits.dtype)) ** 2
    return functional.cross_entropy(logits, labels.long(), reduction="none")
