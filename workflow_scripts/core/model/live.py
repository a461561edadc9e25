"""Patterns as a model computes them, for measures that read them once, without a cache.

    live = Live(path, model, tokens, batch_tokens, precision)
    live.in_one_pass([partial(entropy, live), partial(position, live)])

Batches, padding and rounding are those of the extraction, so that all is equal to a cache bit for
bit. Only one layer of one batch is in memory: every measure has read it before the next begins.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel

from workflow_scripts.core.data.cache_format import FLAT, offsets, triangle
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.batches import by_length
from workflow_scripts.core.model.extraction import run, stream
from workflow_scripts.core.model.value_norms import output_grams


class Live(Patterns):
    """The patterns of a corpus, computed by an opened model as they are read.

    Random access runs the model on the batch of the example; iteration waits for `in_one_pass`.
    `path` is that of the corpus. With `by_norm`, the weights of a query are each key's share of the
    norms of what heads read (`value_norms.weighted`).
    """

    def __init__(
        self,
        path: Path,
        model: PreTrainedModel,
        tokens: Sequence[Tokens],
        batch_tokens: int = 4096,
        precision: str = "float32",
        by_norm: bool = False,
    ) -> None:
        self.path, self.ids = path, [example.id for example in tokens]
        self.n_layers, self.n_heads = attention.n_layers(model), attention.n_heads(model)
        self.n_parts = self.n_layers * len(tokens)
        self._token_offsets = offsets(np.array([len(example) for example in tokens], np.int64))
        self._tokens = {
            name: np.concatenate(
                [np.empty(0, dtype), *(getattr(each, name) for each in tokens)]
            ).astype(dtype)
            for name, dtype in FLAT.items()
        }
        self._model, self._examples = model, tokens
        self._settings = batch_tokens, precision
        self._grams = output_grams(model) if by_norm else None
        self._turn: threading.Barrier | None = None
        self._part: CachedExample | None = None

    def __getitem__(self, index: int) -> CachedExample:
        batch_tokens, precision = self._settings
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        index %= len(self)
        batches = by_length([len(example) for example in self._examples], batch_tokens)
        batch = next(batch for batch in batches if index in batch)
        row, n = batch.tolist().index(index), len(self._examples[index])
        layers: list[np.ndarray] = []
        missing: list[np.ndarray | None] = []

        def keep(layer: int, patterns: np.ndarray, outside: np.ndarray | None) -> None:
            layers.append(patterns[row, :, :n, :n].copy())
            missing.append(None if outside is None else outside[row, :, :n])

        run(self._model, [self._examples[each] for each in batch], precision, keep, self._grams)
        return self._example(index, slice(None), np.stack(layers), missing)

    def __iter__(self) -> Iterator[CachedExample]:
        if self._turn is None:
            raise RuntimeError("patterns that are not stored are read in one pass")
        while True:
            self._turn.wait()  # until there is another layer
            if self._part is None:
                return
            yield self._part
            self._turn.wait()  # until all have read it

    def whole(self, n: int) -> Iterator[CachedExample]:
        """The first `n` examples, each with all layers: of one batch at a time in memory.

        Without what is outside; a decoder's patterns are each a `triangle`, half as large.
        """
        bidirectional = attention.is_bidirectional(self._model)
        waiting: dict[int, np.ndarray] = {}
        for part in self:
            if part.index >= n:
                continue
            pattern = part.pattern if bidirectional else triangle(part.pattern)
            if part.is_first:
                shape = (self.n_layers, *pattern.shape[1:])
                waiting[part.index] = np.empty(shape, pattern.dtype)
            waiting[part.index][part.layers] = pattern
            if part.layers.stop == self.n_layers:
                about = {"layers": slice(None), "outside": None}
                yield replace(part, pattern=waiting.pop(part.index), **about)  # held nowhere else

    def in_one_pass(self, measures: Sequence[Callable[[], None]]) -> None:
        """Run the model once over all examples, and all `measures` at the same time.

        Each runs in a thread of its own and iterates over all parts, once. Raises the first error.
        """
        self._turn = turn = threading.Barrier(len(measures) + 1)
        done = threading.Event()

        def guarded(measure: Callable[[], None]) -> None:
            try:
                measure()
                if not done.is_set():
                    raise RuntimeError("a measure did not read all patterns")
            except threading.BrokenBarrierError:
                pass  # another has failed
            except BaseException:
                turn.abort()
                raise

        def hand(index: int, layer: int, pattern: np.ndarray, outside: np.ndarray | None) -> None:
            which = slice(layer, layer + 1)
            layers = np.ascontiguousarray(pattern)[None]
            self._part = self._example(index, which, layers, [outside])
            turn.wait()
            turn.wait()

        with ThreadPoolExecutor(len(measures)) as pool:
            futures = [pool.submit(guarded, measure) for measure in measures]
            try:
                stream(self._model, self._examples, *self._settings, hand, self._grams)
                self._part = None
                done.set()
                turn.wait()
            except threading.BrokenBarrierError:
                pass  # a measure has failed, which its future states
            except BaseException:
                turn.abort()
                raise
        self._turn = None
        for future in futures:
            future.result()

    def _example(
        self,
        index: int,
        layers: slice,
        pattern: np.ndarray,
        outside: Sequence[np.ndarray | None],
    ) -> CachedExample:
        flat = {name: values.copy() for name, values in self.tokens(index).items()}
        missing = None if outside[0] is None else np.stack(outside)
        about = {"id": self.ids[index], "index": index, "layers": layers, "outside": missing}
        return CachedExample(pattern=pattern, **about, **flat)
