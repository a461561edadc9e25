"""Interventions: watchers that change what heads attend to or output, or average it.

with watching(open_attention(model), Uniform({(2, 5)})):
    model(**batch)
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import torch

from workflow_scripts.core.model.attention import Watcher, is_encoder_decoder


@dataclass
class Uniform(Watcher):
    """Gives the heads (layer, head) attention 1/L over the real tokens (Kovaleva 4.6).

    Where a decoder attends to its own tokens, L of them are not after the query.
    """

    heads: Collection[tuple[int, int]]

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        chosen = _heads_of(layer, self.heads)
        if not chosen:
            return pattern
        changed = pattern.clone()
        changed[:, chosen] = uniform(real, pattern.dtype).expand_as(pattern[:, chosen])
        return changed


@dataclass
class Gates(Watcher):
    """Multiplies each head's output by its gate xi (Michel et al. 2019, section 2.2).

    `xi` is [layer, head], or [batch, layer, head] with a gate for every example, which gives
    every example's own gradient in one backward pass. A gate of 0 disables the head. Where a pass
    has k times as many rows, as a decoder's has with k beams, each gate serves k rows in turn.
    """

    xi: torch.Tensor

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        gates = self.xi[..., layer, :, None, None].to(output.dtype)
        if gates.ndim == 4 and len(gates) != len(output):
            times, left = divmod(len(output), len(gates))
            if left:
                raise ValueError(f"gates for {len(gates)} rows, but {len(output)} rows")
            gates = gates.repeat_interleave(times, 0)
        return output * gates


@dataclass
class Fixed(Watcher):
    """Gives the heads (layer, head) the same output at every token.

    `outputs` is [layer, head, dim].
    """

    heads: Collection[tuple[int, int]]
    outputs: torch.Tensor

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        chosen = _heads_of(layer, self.heads)
        if not chosen:
            return output
        changed = output.clone()
        changed[:, chosen] = self.outputs[layer, chosen, None].to(output)
        return changed


@dataclass
class Averages(Watcher):
    """Sums the heads' outputs over all real tokens: `total` [layer, head, dim] of `n` tokens.

    Raises RuntimeError for an encoder-decoder, in which `real` does not cover the queries.
    """

    total: dict[int, torch.Tensor] = field(default_factory=dict)
    n: int = 0

    def start(self, model: torch.nn.Module) -> None:
        if is_encoder_decoder(model):
            raise RuntimeError("outputs are averaged over the tokens of an encoder alone")

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.n += int(real.sum()) if layer == 0 else 0
        summed = torch.einsum("bhqd,bq->hd", output.double(), real.double())
        self.total[layer] = self.total.get(layer, 0) + summed
        return output

    def mean(self) -> torch.Tensor:
        """The average output of every head, [layer, head, dim]."""
        return torch.stack([self.total[layer] for layer in sorted(self.total)]) / self.n


def disabling(
    heads: np.ndarray, mode: str, means: torch.Tensor | None, device: torch.device
) -> Watcher:
    """The watcher that disables `heads`, bool [layer, head], in a mode of the ablation engine."""
    if mode == "zero":
        return Gates(torch.from_numpy(~heads).to(device, torch.float32))
    chosen = [(int(layer), int(head)) for layer, head in np.argwhere(heads)]
    return Uniform(chosen) if mode == "uniform" else Fixed(chosen, means)


def uniform(real: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Attention 1/L over the L keys that a query may see, [batch, 1, query or 1, key].

    `real` is that of a watcher.
    """
    share = (real[:, None] if real.ndim == 2 else real).to(dtype)
    return (share / share.sum(-1, keepdim=True))[:, None]


def _heads_of(layer: int, heads: Collection[tuple[int, int]]) -> list[int]:
    """The heads of one layer among (layer, head) pairs."""
    return [head for head_layer, head in heads if head_layer == layer]
