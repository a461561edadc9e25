"""Interventions: watchers that change what heads attend to or output, or average it.

with watching(open_attention(model), Uniform({(2, 5)})):
    model(**batch)
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import torch

from workflow_scripts.core.model.attention import Watcher, is_encoder_decoder
from workflow_scripts.core.model.attention_function import real_queries


@dataclass
class Uniform(Watcher):
    """Gives the heads (layer, head) attention 1/L over the real tokens (Kovaleva 4.6).

    In a decoder, L of them are not after the query, nor before its window.
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
class Disabled(Watcher):
    """Disables heads of each row, bool [row or 1, layer, head], in a mode of the ablation engine.

    `outputs` [row or 1, layer, head, token or 1, dim] are what the heads output instead in a mode
    that takes them from texts, of at least as many tokens as there are. Where a pass has k times as
    many rows, as one of k variants has, they serve all k in turn.
    """

    heads: torch.Tensor
    mode: str
    outputs: torch.Tensor | None = None

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        chosen = self.heads[:, layer, :, None, None]
        if self.mode != "uniform" or not chosen.any():
            return pattern
        return torch.where(chosen, uniform(real, pattern.dtype), pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        chosen = self.heads[:, layer, :, None, None]
        if self.mode == "uniform" or not chosen.any():
            return output
        instead = output.new_zeros(1)
        if self.outputs is not None:
            instead = self.outputs[:, layer, :, : output.shape[2]]
            times = len(output) // len(instead) if len(instead) > 1 else 1
            instead = instead.repeat(times, 1, 1, 1)
        return torch.where(chosen, instead.to(output), output)


@dataclass
class Averages(Watcher):
    """Sums the heads' outputs over all real tokens at each position: `total` [layer, head, token,
    dim] of `n` [token] tokens, over passes of any lengths.

    Raises RuntimeError for an encoder-decoder, whose sublayers have different queries.
    """

    total: dict[int, torch.Tensor] = field(default_factory=dict)
    n: torch.Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.long))

    def start(self, model: torch.nn.Module) -> None:
        if is_encoder_decoder(model):
            raise RuntimeError("outputs are averaged over the tokens of one stack alone")

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        queries = real_queries(real).expand(len(output), -1)
        if layer == 0:
            self.n = _sum(self.n.to(output.device), queries.sum(0), 0)
        summed = torch.einsum("bhqd,bq->hqd", output.double(), queries.double())
        known = self.total.get(layer, summed[:, :0])
        self.total[layer] = _sum(known, summed, 1)
        return output

    def mean(self) -> torch.Tensor:
        """The average output of every head over all tokens, [layer, head, dim]."""
        return self._stacked().sum(2) / self.n.sum()

    def by_position(self) -> torch.Tensor:
        """The average output of every head at each position, [layer, head, position, dim]."""
        return self._stacked() / self.n[:, None]

    def _stacked(self) -> torch.Tensor:
        return torch.stack([self.total[layer] for layer in sorted(self.total)])


def uniform(real: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Attention 1/L over the L keys that a query may see, [batch, 1, query or 1, key].

    `real` is that of a watcher. A padded query whose window is padding alone attends to none.
    """
    share = (real[:, None] if real.ndim == 2 else real).to(dtype)
    return (share / share.sum(-1, keepdim=True).clamp(min=1))[:, None]


def _heads_of(layer: int, heads: Collection[tuple[int, int]]) -> list[int]:
    """The heads of one layer among (layer, head) pairs."""
    return [head for head_layer, head in heads if head_layer == layer]


def _sum(one: torch.Tensor, other: torch.Tensor, axis: int) -> torch.Tensor:
    """The sum of two tensors, the shorter along `axis` followed by zeros."""
    longer, shorter = sorted((one, other), key=lambda each: -each.shape[axis])
    total = longer.clone()
    total.narrow(axis, 0, shorter.shape[axis]).add_(shorter)
    return total
