"""What disabled heads output instead of their own: averages, or their outputs on another text.

    instead = replacement_of("resample", model, tokens, reference, seed=1)
    instead.of([4, 7], n_tokens=20)  # for two of `tokens`: [text, layer, head, token, dim]

Averages have one text, which stands for all, and those of mode `mean` one token.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from transformers import GenerationMixin, PreTrainedModel

from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import padding
from workflow_scripts.core.model.attention import Watcher, open_attention, watching
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.interventions import Averages
from workflow_scripts.core.model.onednn import OneDNN

FROM_TEXTS = ("mean", "position", "resample")  # the modes whose outputs come from reference texts
BATCH_TOKENS = 4096


class Replacement(Protocol):
    """What disabled heads output instead, for some of the texts that it was made for."""

    def of(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        """Outputs for these texts padded to `n_tokens`: [text or 1, layer, head, token or 1, dim].

        Those at padding have no meaning.
        """


@dataclass(frozen=True)
class Mean:
    """Each head's average output, `outputs` [layer, head, dim], at every token of every text."""

    outputs: torch.Tensor

    def of(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        return self.outputs[None, :, :, None]


@dataclass(frozen=True)
class ByPosition:
    """Each head's average output at each position, `outputs` [layer, head, position, dim].

    Beyond these positions it is the average over all tokens, `overall` [layer, head, dim].
    """

    outputs: torch.Tensor
    overall: torch.Tensor

    def of(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        known = self.outputs[:, :, :n_tokens]
        beyond = self.overall[:, :, None].expand(-1, -1, n_tokens - known.shape[2], -1)
        return torch.cat([known, beyond], 2)[None]


@dataclass(frozen=True)
class Resampled:
    """Each head's output at the same position of another text.

    `others` are the other texts, and `partners` has the place of each text's partner among them.
    Where the partner is shorter, its last position stands for those that it lacks. The model runs
    on the partners of a batch at each call, which keeps no outputs in memory: not to be called
    while another watcher is at work.
    """

    model: PreTrainedModel
    others: Sequence[Tokens]
    partners: np.ndarray

    def of(self, rows: Sequence[int], n_tokens: int) -> torch.Tensor:
        chosen = [self.others[self.partners[row]] for row in rows]
        found: list[torch.Tensor] = [torch.empty(0)] * len(chosen)
        for batch in by_length([len(other) for other in chosen], BATCH_TOKENS):
            outputs = _outputs(self.model, [chosen[at] for at in batch])
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
    """The replacement of a mode for `tokens`; None for a mode that is not in FROM_TEXTS.

    Averages are over the tokens of all `reference` texts, without padding; resampled outputs come
    from one of them for each text, sampled by `seed`. Raises ValueError where none is another text.
    """
    if mode not in FROM_TEXTS:
        return None
    if mode == "resample":
        return Resampled(model, reference, partners_of(tokens, reference, seed))
    averages = averages_of(model, reference)
    overall = averages.mean().to(model.device, torch.float32)
    if mode == "mean":
        return Mean(overall)
    return ByPosition(averages.by_position().to(model.device, torch.float32), overall)


def averages_of(model: PreTrainedModel, tokens: Sequence[Tokens]) -> Averages:
    """Every head's average output over the tokens of texts, by position and over all of them."""
    averages = Averages()
    for batch in by_length([len(example) for example in tokens], BATCH_TOKENS):
        _run(model, [tokens[at] for at in batch], averages)
    return averages


def mean_outputs(model: PreTrainedModel, tokens: Sequence[Tokens]) -> torch.Tensor:
    """Every head's average output over the tokens of texts, [layer, head, dim]."""
    return averages_of(model, tokens).mean().to(model.device, torch.float32)


def partners_of(tokens: Sequence[Tokens], reference: Sequence[Tokens], seed: int) -> np.ndarray:
    """For each text the place of a partner in `reference`, int [text].

    The partner is sampled by `seed` from the texts that have other tokens and are at least as long;
    where none is, it is the longest other text. It depends on the text alone, not on which others
    are measured with it. Raises ValueError where no text of `reference` is another one.
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


@dataclass
class _Outputs(Watcher):
    """Keeps the outputs of the heads of each layer, [batch, head, token, dim]."""

    layers: dict[int, torch.Tensor] = field(default_factory=dict)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        self.layers[layer] = output
        return output


def _outputs(model: PreTrainedModel, tokens: Sequence[Tokens]) -> torch.Tensor:
    """The heads' outputs on a batch of texts, [text, layer, head, token, dim]."""
    _run(model, tokens, outputs := _Outputs())
    return torch.stack([outputs.layers[layer] for layer in sorted(outputs.layers)], 1)


def _run(model: PreTrainedModel, tokens: Sequence[Tokens], watcher: Watcher) -> None:
    """One pass over a batch, of a causal model without its logits."""
    inputs = padding.pad(tokens, model)
    with watching(open_attention(model), watcher), torch.no_grad(), OneDNN():
        if isinstance(model, GenerationMixin):
            model.get_decoder()(**inputs, use_cache=False)
        else:
            model(**inputs)
