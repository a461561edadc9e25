"""Watchers that change or keep what heads attend to or output, and what replaces it.

with watching(open_attention(model), Disabled(heads[None], "uniform")):
    model(**batch)
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import torch
from torch.nn import functional
from transformers import GenerationMixin, PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import running
from workflow_scripts.core.model.attention import Watcher, open_attention, watching

STREAM = "stream"  # a head sees the first tokens of a text and the last ones alone
FROM_TEXTS = ("mean", "position", "resample")  # the modes whose outputs come from reference texts
# Of a batch: of reference texts, and of a classifier's backward pass.
REFERENCE_TOKENS, BACKWARD_TOKENS = 4096, 2048


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

    In mode STREAM `heads` is int: how many tokens up to itself a query sees next to the text's
    first `sinks`; 0 is all (Xiao et al. 2024, whose paper was not read here).

    `outputs` [row or 1, layer, head, token or 1, dim] are what the heads output instead in a mode
    that takes them from texts. Where a pass has k times as many rows, as one of k variants has,
    they serve all k in turn; each row of `heads` serves k neighbours, as a decoder's with k beams.
    """

    heads: torch.Tensor
    mode: str
    outputs: torch.Tensor | None = None
    sinks: int = 0

    def keep(self, rows: torch.Tensor) -> None:
        """Leave out all rows of `heads` but these."""
        self.heads = self.heads[rows]

    def hidden(self, layer: int, scores: torch.Tensor) -> torch.Tensor | None:
        if self.mode != STREAM or not self.heads[:, layer].any():
            return None
        recent = self._rows(layer, scores)
        return (recent > 0) & between(*scores.shape[2:], self.sinks, recent)

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if self.mode != "uniform" or not self.heads[:, layer].any():
            return pattern
        return torch.where(self._rows(layer, pattern), uniform(real, pattern.dtype), pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if self.mode in ("uniform", STREAM) or not self.heads[:, layer].any():
            return output
        instead = output.new_zeros(1)
        if self.outputs is not None:
            instead = self.outputs[:, layer, :, : output.shape[2]]
            times = len(output) // len(instead) if len(instead) > 1 else 1
            instead = instead.repeat(times, 1, 1, 1)
        return torch.where(self._rows(layer, output), instead.to(output), output)

    def _rows(self, layer: int, states: torch.Tensor) -> torch.Tensor:
        """The disabled heads of a pass' rows, as in `heads`: [row, head, 1, 1]."""
        heads = self.heads[:, layer, :, None, None]
        return heads.repeat_interleave(len(states) // len(heads), 0)


@dataclass
class HeadOutputs(Watcher):
    """Collects the heads' outputs [batch, head, token, dim], with gradients after `backward`."""

    outputs: list[torch.Tensor] = field(default_factory=list)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if output.requires_grad:
            output.retain_grad()
        self.outputs.append(output)
        return output


def between(queries: int, keys: int, sinks: int, recent: torch.Tensor) -> torch.Tensor:
    """Keys after the first `sinks` and before a query's `recent` last, bool [..., query, key].

    The queries are the last of the keys, and their own keys the last of the recent ones. `recent`
    is int [...] with two axes of 1 at its end, or a single number.
    """
    key = torch.arange(keys, device=recent.device)
    return (key >= sinks) & (key <= key[keys - queries :, None] - recent)


def uniform(real: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Attention 1/L over the L keys that a query may see, [batch, 1, query or 1, key].

    `real` is that of a watcher. A padded query whose window is padding alone attends to none.
    """
    share = (real[:, None] if real.ndim == 2 else real).to(dtype)
    return (share / share.sum(-1, keepdim=True).clamp(min=1))[:, None]


class Replacement(Protocol):
    """What disabled heads output instead, for some of the texts that it was made for."""

    def outputs_for(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        """Of texts padded to `n_tokens`: [text or 1, layer, head, token or 1, dim]."""


@dataclass(frozen=True)
class ByPosition:
    """Each head's average output at each position; beyond these, over all tokens."""

    outputs: torch.Tensor  # [layer, head, position, dim]
    overall: torch.Tensor  # [layer, head, dim]

    def outputs_for(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        known = self.outputs[:, :, :n_tokens]
        beyond = self.overall[:, :, None].expand(-1, -1, n_tokens - known.shape[2], -1)
        return torch.cat([known, beyond], 2)[None]


@dataclass(frozen=True)
class Resampled:
    """Each head's output at the same position of another text, or at its last where it is shorter.

    The model runs on the partners of a batch at each call, which keeps no outputs in memory: not to
    be called while another watcher is at work.
    """

    model: PreTrainedModel
    others: Sequence[Tokens]
    partners: np.ndarray  # the place of each text's partner among `others`

    def outputs_for(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        chosen = [self.others[self.partners[row]] for row in rows]
        found: list[torch.Tensor] = [torch.empty(0)] * len(chosen)
        for batch in running.by_length([len(other) for other in chosen], REFERENCE_TOKENS):
            outputs = torch.stack(_outputs(self.model, [chosen[at] for at in batch]), 1)
            for place, at in enumerate(batch):
                last = len(chosen[at]) - 1
                positions = torch.arange(n_tokens, device=outputs.device).clamp(max=last)
                found[at] = outputs[place][:, :, positions]
        return torch.stack(found)


def replacement_of(
    mode: str,
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    reference: Sequence[Tokens],
    seed: int,
) -> Replacement | None:
    """The replacement of a mode for `tokens`, from `reference`; None for a mode without."""
    if mode not in FROM_TEXTS:
        return None
    if mode == "resample":
        return Resampled(model, reference, partners_of(tokens, reference, seed))
    averages = averages_of(model, reference)
    return averages if mode == "position" else replace(averages, outputs=averages.outputs[:, :, :0])


def averages_of(model: PreTrainedModel, tokens: Sequence[Tokens]) -> ByPosition:
    """Every head's average output over the tokens of texts, by position and over all of them."""
    total, n = torch.zeros(0), torch.zeros(max(map(len, tokens)), device=model.device)
    for batch in running.by_length([len(example) for example in tokens], REFERENCE_TOKENS):
        outputs = _outputs(model, texts := [tokens[at] for at in batch])
        real = running.pad(texts, model)["attention_mask"].double()
        sums = [torch.einsum("bhqd,bq->hqd", each.double(), real) for each in outputs]
        summed = torch.stack(sums)
        total = total if len(total) else torch.zeros_like(summed)  # the longest texts come first
        total[:, :, : summed.shape[2]] += summed
        n[: summed.shape[2]] += real.sum(0)
    return ByPosition((total / n[:, None]).float(), (total.sum(2) / n.sum()).float())


def partners_of(tokens: Sequence[Tokens], reference: Sequence[Tokens], seed: int) -> np.ndarray:
    """For each text the place of a partner in `reference`, int [text].

    The partner is sampled by `seed`, and by the text alone, from those with other tokens that are
    at least as long; where none is, it is the longest. Raises ValueError where all are this text.
    """
    lengths = np.array([len(other) for other in reference])
    known = [other.ids.tobytes() for other in reference]
    partners = np.empty(len(tokens), int)
    for row, text in enumerate(tokens):
        own = text.ids.tobytes()
        others = np.array([at for at, other in enumerate(known) if other != own], int)
        if not len(others):
            raise ValueError(f"{text.id}: no other text among {len(reference)} reference texts")
        longer = others[lengths[others] >= len(text)]
        rng = np.random.default_rng([seed, zlib.crc32(own)])
        longest = others[lengths[others].argmax()]
        partners[row] = rng.choice(longer) if len(longer) else longest
    return partners


def _outputs(model: PreTrainedModel, tokens: Sequence[Tokens]) -> list[torch.Tensor]:
    """What the heads of each layer output for a batch; a causal model's logits are not computed."""
    read = HeadOutputs()
    inputs = running.pad(tokens, model)
    inputs.pop("labels", None)
    with watching(open_attention(model), read), torch.no_grad(), running.OneDNN():
        if isinstance(model, GenerationMixin):
            model.get_decoder()(**inputs, use_cache=False)
        else:
            model(**inputs)
    return read.outputs


def example_losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The loss of each example, [batch]: cross-entropy, or the squared error of a score."""
    if logits.shape[1] == 1:
        return (logits[:, 0] - labels.to(logits.dtype)) ** 2
    return functional.cross_entropy(logits, labels.long(), reduction="none")
