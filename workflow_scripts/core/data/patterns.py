"""What measures read: the patterns of a corpus, from a cache or as a model computes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.errors import InputError


@dataclass(frozen=True)
class CachedExample:
    """One example with its pattern, float16 [layer, head, query, key], or that of some `layers`.

    `index` is its place in the corpus. `outside`, float32 [layer, head, query], is the weight that
    each query gives to no token of the text, in a model with sinks; None in others.
    """

    id: str
    ids: np.ndarray
    word: np.ndarray
    segment: np.ndarray
    pattern: np.ndarray
    index: int = 0
    layers: slice = field(default_factory=lambda: slice(None))
    outside: np.ndarray | None = None

    @property
    def is_first(self) -> bool:
        """Whether no layer of this example was read before: what needs no pattern counts once."""
        return not self.layers.start

    @property
    def is_whole(self) -> bool:
        """Whether the pattern has all layers."""
        return self.layers == slice(None)


class Patterns:
    """The examples of a corpus: random access, and all of them once."""

    path: Path
    n_layers: int
    n_heads: int
    bidirectional: bool
    ids: list[str]
    _tokens: dict[str, np.ndarray]
    _token_offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> CachedExample:
        raise NotImplementedError

    def each(self, update: Callable[[CachedExample], None], n: int | None = None) -> None:
        """Call `update` once with each example, or with each of its layers in their order.

        Where only the first `n` are asked for, there may be others.
        """
        raise NotImplementedError

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each example, int64 [n]."""
        return np.diff(self._token_offsets)

    def tokens(self, index: int) -> dict[str, np.ndarray]:
        """Views of the token arrays of one example."""
        start, end = self._token_offsets[index : index + 2]
        return {name: values[start:end] for name, values in self._tokens.items()}

    def expect(self, ids: Sequence[str], source: str) -> None:
        """Raise InputError unless the examples are those of `source`: `ids`, in this order."""
        if list(ids) != self.ids:
            raise InputError(f"{self.path}: the examples are not those of {source}; run again")

    def documents(self, corpus: Path) -> list[str]:
        """The document of each example by its corpus file; InputError where that has others."""
        examples = read_examples(corpus)
        self.expect([example.id for example in examples], str(corpus))
        return [example.document for example in examples]

    def close(self) -> None:
        """Close what was opened."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def row_entropy(pattern: np.ndarray) -> np.ndarray:
    """Entropy in nats of each query's distribution: [layer, head, query] of [..., query, key]."""
    weights = pattern.astype(np.float32)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...k,...k->...", weights, logs)
