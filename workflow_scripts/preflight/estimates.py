"""The disk that planned products take: caches and weights by their formulas, the rest by a share.

A cache takes 2 bytes for each layer, head, query and key of each example. `most` counts examples
of `max_tokens` tokens each, an upper bound; `expected` those of the first examples' lengths.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

VALUE_BYTES = 2  # float16
# Beside the patterns, a cache has ids, words and segments of tokens, offsets and its header.
TOKEN_BYTES, EXAMPLE_BYTES, HEADER_BYTES = 9, 64, 20_000
# What other files take in the mean, an upper bound for the default study (docs/preflight.md).
OTHER_BYTES = 60_000
# Words that the study's own text gives a vector, expected and at most; the default study's: 10 241.
TRAINED_WORDS = (10_000, 200_000)
# A checkpoint's config and tokenizer. Fine-tuning keeps weights and two moments twice for a moment.
BESIDE_WEIGHTS, STATES = 2_000_000, 6
BESIDE_TRANSLATOR = 500_000  # whose vocabulary is of some thousand subwords


# Below the folder of a model: caches, and folders of weights.
LARGE_PRODUCT = re.compile(
    r".+\.h5|checkpoints/\w+\.(pretrained|random)\.\d+(\.epochs)?|arguments/bert\.\w+\.\d+"
)


@dataclass(frozen=True)
class Amount:
    """Expected bytes, and the most that there may be; None where it is not known."""

    expected: float | None
    most: float | None

    def __add__(self, other: "Amount") -> "Amount":
        pairs = ((self.expected, other.expected), (self.most, other.most))
        return Amount(*(None if None in pair else sum(pair) for pair in pairs))

    def times(self, factor: float) -> "Amount":
        """The amount of `factor` such products."""
        return Amount(*(None if n is None else n * factor for n in (self.expected, self.most)))


NOTHING = Amount(0, 0)


@dataclass(frozen=True)
class Corpus:
    """How many examples a corpus or task has, at most, and the most tokens of each.

    `n` is None where it is not known. `lengths` are tokens of its first examples, by model.
    """

    n: int | None
    max_tokens: int
    lengths: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """What a model's sizes follow from; `weights` are the bytes of its float32 weights."""

    layers: int
    heads: int
    weights: int
    max_positions: int


def cache_bytes(lengths: Sequence[int], layers: int, heads: int) -> int:
    """Bytes of a cache of examples of `lengths` tokens (core/data/cache.py)."""
    tokens = np.asarray(lengths, dtype=np.int64)
    patterns = int((tokens**2).sum()) * layers * heads * VALUE_BYTES
    return patterns + int(tokens.sum()) * TOKEN_BYTES + len(tokens) * EXAMPLE_BYTES + HEADER_BYTES


def translator_bytes(recipe: Mapping[str, Any]) -> int:
    """Bytes of the float32 weights of a translator that a study trains, with a full vocabulary."""
    hidden, inner, words = (recipe[key] for key in ("hidden", "feed_forward", "vocabulary"))
    attention, norm = 4 * hidden * (hidden + 1), 2 * hidden
    forward = 2 * hidden * inner + inner + hidden
    layer = (attention + forward + 2 * norm) + (2 * attention + forward + 3 * norm)
    return 4 * (recipe["layers"] * layer + words * (hidden + 1))


def cache_amount(corpus: Corpus, shape: Shape, model: str) -> Amount:
    """What the attention cache of a corpus takes; without lengths, the bound is expected too."""
    if corpus.n is None:
        return Amount(None, None)
    longest = min(corpus.max_tokens, shape.max_positions)
    fixed = corpus.n * EXAMPLE_BYTES + HEADER_BYTES
    most = cache_bytes([longest], shape.layers, shape.heads) - EXAMPLE_BYTES - HEADER_BYTES
    lengths = corpus.lengths.get(model, ())
    if not len(lengths):
        return Amount(corpus.n * most + fixed, corpus.n * most + fixed)
    sample = cache_bytes(lengths, shape.layers, shape.heads) - HEADER_BYTES
    sample -= EXAMPLE_BYTES * len(lengths)
    return Amount(corpus.n * sample / len(lengths) + fixed, corpus.n * most + fixed)


@dataclass(frozen=True)
class Sizes:
    """What the paths of a study's products take on the disk."""

    results: str
    corpora: Mapping[str, Corpus]
    models: Mapping[str, Shape | None]  # None before a model is downloaded
    config: Mapping[str, Any]
    n_vectors: Mapping[str, int | None] = field(default_factory=dict)

    def amount(self, path: str) -> Amount:
        """What one planned output takes."""
        inside = path.removeprefix(f"{self.results}/")
        model, _, rest = inside.partition("/")
        if model in self.models:
            found = self._of_model(model, self.models[model], rest)
            if found is not None:
                return found
        if inside == "atlas.html":
            page = self.config.get("atlas", {}).get("megabytes", 0) * 1e6
            return Amount(page, page)
        if trained := re.fullmatch(r"translation/\d+\.(checkpoint|epochs)", inside):
            return self._of_translator(self.config["translation"]["train"], trained[1])
        if vectors := re.fullmatch(r"corpora/(.+)\.vectors\.safetensors", inside):
            entry, n = self.config["corpora"]["vectors"][vectors[1]], self.n_vectors.get(vectors[1])
            if "train" in entry:
                return Amount(*(4 * entry["dimensions"] * words for words in TRAINED_WORDS))
            return Amount(n, n)
        return Amount(OTHER_BYTES, OTHER_BYTES)

    def _of_model(self, model: str, shape: Shape | None, rest: str) -> Amount | None:
        """Caches and weights, unknown where the model is; None for other products."""
        if shape is None:
            return Amount(None, None) if LARGE_PRODUCT.fullmatch(rest) else None
        if rest == "probes/random_body.h5":
            return self._cache(self.config["probes"]["treebank"], shape, model)
        if shard := re.fullmatch(r"attention/(.+)\.shards/\d+-of-(\d+)\.h5", rest):
            return self._cache(shard[1], shape, model).times(1 / int(shard[2]))
        if cache := re.fullmatch(r"attention/(.+)\.h5", rest):
            return self._cache(cache[1], shape, model)
        tuning = self.config["checkpoints"]["finetune"]
        weights = shape.weights + BESIDE_WEIGHTS
        if run := re.fullmatch(r"checkpoints/(\w+)\.(?:pretrained|random)\.\d+(\.epochs)?", rest):
            copies = 1
            if run[2]:
                copies = (tuning["epochs"] - 1) * (run[1] in tuning["every_epoch"])
            return Amount(copies * weights, copies * weights)
        if run := re.fullmatch(r"arguments/bert\.(\w+)\.\d+", rest):
            copies = len(self.config["arguments"]["keep"]) if run[1] == "original" else 0
            return Amount(copies * weights, copies * weights)
        return None

    def _of_translator(self, recipe: Mapping[str, Any], what: str) -> Amount:
        """A trained translator's weights, of its last epoch or of all others that are kept."""
        copies = 1 if what == "checkpoint" else (recipe["epochs"] - 1) * recipe["every_epoch"]
        weights = translator_bytes(recipe) + BESIDE_TRANSLATOR
        return Amount(copies * weights, copies * weights)

    def _cache(self, name: str, shape: Shape, model: str) -> Amount:
        """The cache of a corpus, of a task or, with more dots, of a checkpoint on its task."""
        task = name.partition(".")[0]
        return cache_amount(self.corpora.get(name) or self.corpora[task], shape, model)

    def scratch(self, rules: Collection[str]) -> float:
        """Bytes that one fine-tuning job keeps while it runs, to go on after a kill."""
        largest = max((shape.weights for shape in self.models.values() if shape), default=0)
        return STATES * largest if {"finetune", "finetune_random"} & set(rules) else 0


def peak(events: Sequence[tuple[str, Amount]]) -> tuple[Amount, Amount]:
    """What is on the disk at the end of a run, and at most at any time, in the order of `events`.

    An event is `add` or `remove`, and an amount. Unknown amounts count as nothing.
    """
    now, highest = [0.0, 0.0], [0.0, 0.0]
    for kind, amount in events:
        sign = 1 if kind == "add" else -1
        now = [n + sign * (part or 0) for n, part in zip(now, _pair(amount), strict=True)]
        highest = [max(pair) for pair in zip(now, highest, strict=True)]
    return Amount(*now), Amount(*highest)


def _pair(amount: Amount) -> tuple[float | None, float | None]:
    return amount.expected, amount.most
