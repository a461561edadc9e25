"""Variants of a translator as rows of one pass: which heads are disabled in which row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from workflow_scripts.core.model.attention import Watcher, n_heads, sublayers, watching
from workflow_scripts.core.model.interventions import uniform
from workflow_scripts.core.model.translators import Translator, pad_sources

MODES = ("zero", "uniform")


class Disabled(Watcher):
    """Disables heads row by row: `heads` is bool [row, sublayer, head].

    A disabled head outputs 0 (`zero`), or attends to all keys alike that it may see (`uniform`).
    Where a pass has k times as many rows, as a decoder's has with k beams, each serves k in turn.
    """

    def __init__(self, heads: torch.Tensor, mode: str) -> None:
        if mode not in MODES:
            raise ValueError(f"mode {mode!r}: one of {MODES}")
        self.mode = mode
        self._set(heads)

    def keep(self, rows: torch.Tensor) -> None:
        """Leave out all rows but these."""
        self._set(self.heads[rows])

    def pattern(self, layer: int, pattern: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if self.mode != "uniform" or layer not in self._sublayers:
            return pattern
        return torch.where(self._rows(layer, pattern), uniform(real, pattern.dtype), pattern)

    def output(self, layer: int, output: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        if self.mode != "zero" or layer not in self._sublayers:
            return output
        return output.masked_fill(self._rows(layer, output), 0)

    def _set(self, heads: torch.Tensor) -> None:
        self.heads = heads
        # The others have nothing to change in any row.
        self._sublayers = set(heads.any(2).any(0).nonzero()[:, 0].tolist())

    def _rows(self, layer: int, states: torch.Tensor) -> torch.Tensor:
        """The disabled heads of a pass' rows, bool [row, head, 1, 1]."""
        heads = self.heads[:, layer, :, None, None]
        return heads.repeat_interleave(len(states) // len(heads), 0)


@dataclass(frozen=True)
class Variants:
    """Sets of disabled heads, bool [variant, sublayer, head], and how they are disabled."""

    translator: Translator
    heads: np.ndarray
    mode: str

    @cached_property
    def of_encoder(self) -> np.ndarray:
        """A number for each variant: the same for those that disable the same encoder heads."""
        types = [sublayer.type for sublayer in sublayers(self.translator.model)]
        heads = self.heads[:, np.array(types) == "encoder"]
        return np.unique(heads.reshape(len(heads), -1), axis=0, return_inverse=True)[1].ravel()

    def rows(self, variants: np.ndarray) -> Disabled:
        """The watcher for a pass whose rows are of these variants."""
        heads = torch.from_numpy(self.heads[variants]).to(self.translator.model.device)
        return Disabled(heads, self.mode)

    def encode(
        self, sources: Sequence[Sequence[int]], sentences: np.ndarray, variants: np.ndarray
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The encoder's states [row, token, width] and its inputs, of sentences by variants.

        Rows of one sentence that disable the same heads of the encoder share its pass.
        """
        keys = np.stack([sentences, self.of_encoder[variants]])
        _, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        translator, rows = self.translator, torch.from_numpy(inverse.ravel())
        inputs = pad_sources(translator, [sources[index] for index in sentences[first]])
        with watching(translator.model, self.rows(variants[first])):
            states = translator.model.get_encoder()(**inputs).last_hidden_state
        rows = rows.to(states.device)
        return states[rows], {name: value[rows] for name, value in inputs.items()}


def variants_of(translator: Translator, heads: np.ndarray | None, mode: str) -> Variants:
    """The variants that disable `heads`; without any, the model itself alone."""
    if heads is None:
        shape = (1, len(sublayers(translator.model)), n_heads(translator.model))
        heads = np.zeros(shape, bool)
    return Variants(translator, heads, mode)
