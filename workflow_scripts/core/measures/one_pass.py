"""Measures that read the patterns of each text once, from a cache or as a model computes them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from workflow_scripts.core.data.cache import triangle
from workflow_scripts.core.data.patterns import CachedExample, Patterns
from workflow_scripts.core.data.tables import document_units

Name = TypeVar("Name")
Units = Mapping[str, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Measure:
    """What a script measures: `update` reads each text or some layers of it, `finish` writes.

    A cache gives each text whole. A model gives one layer of one text at a time, the texts in no
    order, the layers of each in theirs. Of a cache the first `n` texts are read, by default all.
    Once they are, `units` may give what a comparison of two models takes: by name, sums
    [unit, layer, head] and what they are sums over, [unit]; a unit is a document.
    """

    patterns: Patterns
    update: Callable[[CachedExample], None]
    finish: Callable[[], None]
    n: int | None = None
    units: Callable[[], Units] = dict


def measure_all(measures: Sequence[Measure]) -> None:
    """Read the patterns of these measures, the same for all, once, and finish each."""

    def update(text: CachedExample) -> None:
        for measure in measures:
            measure.update(text)

    measures[0].patterns.each(update, measures[0].n)
    for measure in measures:
        measure.finish()


def in_one_pass(prepare: Callable[..., Measure]) -> Callable[..., None]:
    """The `main` of a rule, of a function with the same parameters that prepares its measure.

    `main.__wrapped__` is that function; its `attention` may be Patterns in the place of a path.
    """

    @wraps(prepare)
    def main(*values: Any, **named: Any) -> None:
        measure = prepare(*values, **named)
        with measure.patterns:
            measure_all([measure])

    return main


def mean_per_segment(
    patterns: Patterns,
    documents: Sequence[str],
    function: Callable[[CachedExample], Mapping[Name, np.ndarray]],
    write: Callable[[dict[Name, np.ndarray]], None],
) -> Measure:
    """The measure of what `function` gives for each text: numbers [layer, head] by name.

    `write` is given those of all texts, float64 [text, layer, head] by name, as `per_head` takes
    them; NaN where a text has none. `documents` has the document of each.
    """
    shape = (len(patterns), patterns.n_layers, patterns.n_heads)
    values: dict[Name, np.ndarray] = {}

    def update(text: CachedExample) -> None:
        for name, numbers in function(text).items():
            if name not in values:
                values[name] = np.full(shape, np.nan)
            values[name][text.index, text.layers] = numbers

    def units() -> Units:
        names = {name: name if isinstance(name, str) else ".".join(name) for name in values}
        return {names[name]: summed(numbers, documents) for name, numbers in values.items()}

    return Measure(patterns, update, lambda: write(values), units=units)


def summed(values: np.ndarray, documents: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the texts of each unit, and how many have a value, of [text, layer, head]."""
    units, known = document_units(documents), np.isfinite(values[:, 0, 0])
    sums, n = np.zeros((units.max() + 1, *values.shape[1:])), np.zeros(units.max() + 1, int)
    np.add.at(sums, units[known], values[known])
    np.add.at(n, units[known], 1)
    return sums, n


def with_all_layers(
    patterns: Patterns, n: int, update: Callable[[CachedExample], None]
) -> Callable[[CachedExample], None]:
    """An `update` of parts that calls the given one with each of the first `n` texts, whole.

    The layers of a decoder's text are kept, each as a `triangle`, half as large, until it has all;
    then its `pattern` is of triangles, too. They have no `outside`.
    """
    waiting: dict[int, np.ndarray] = {}

    def update_part(text: CachedExample) -> None:
        if text.index >= n:
            return
        if text.is_whole:
            update(text)
            return
        pattern = text.pattern if patterns.bidirectional else triangle(text.pattern)
        if text.is_first:
            shape = (patterns.n_layers, *pattern.shape[1:])
            waiting[text.index] = np.empty(shape, pattern.dtype)
        waiting[text.index][text.layers] = pattern
        if text.layers.stop == patterns.n_layers:
            about = {"layers": slice(None), "outside": None}
            update(replace(text, pattern=waiting.pop(text.index), **about))  # held nowhere else

    return update_part
