"""The texts whose maps the atlas shows, and how their maps are stored.

Of running text, the segment of Clark et al.'s Figure 1 first, then short ones from all over the
corpus; a short sentence of the treebank and a short document of the coreference corpus; of each
task, examples sampled at random, the first of them the one of Kovaleva et al.'s maps.

A map is text: eight bits for the root of each weight, deflated, in base64. The root spends the bits
where most weights are, near 0: 1.1 MB for 128 tokens and all heads of MiniLM.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import Cache, CachedExample, open_patterns
from workflow_scripts.core.data.tokens import Tokens, token_texts

CORPUS = "own"  # of a reader's own texts
ANY_LENGTH = 1 << 20  # tokens: a text is not cut
# Shorter texts show little.
FEWEST_TOKENS = 16
STEPS = 255
# Values that are in memory as float64 at a time.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Wanted:
    """How many texts are wanted: segments of running text, examples of each task.

    `first` is the id of the segment to begin with, or empty; an example of a task has at most
    `most_tokens` tokens, where there are such.
    """

    segments: int
    examples: int
    most_tokens: int
    seed: int
    first: str = ""


@contextmanager
def opened(
    kinds: Iterable[str], paths: Sequence[Path], card: Mapping[str, Any]
) -> Iterator[dict[str, Cache]]:
    """The pretrained model's caches by the name of their corpus or task."""
    with ExitStack() as stack:
        named = zip(kinds, paths, strict=True)
        yield {name: stack.enter_context(open_patterns(path, card)) for name, path in named}


def chosen(
    caches: Mapping[str, Cache], kinds: Mapping[str, str], wanted: Wanted
) -> list[tuple[str, int]]:
    """The texts as (name, index), the most wanted first: one of each source, then the next.

    `kinds` states what each source is, in the order of the page: text (running text), annotated
    (sentences or documents) or task.
    """
    lists = {name: _indices_of_one(caches[name], kind, wanted) for name, kind in kinds.items()}
    ranks = range(max(map(len, lists.values()), default=0))
    return [(name, found[r]) for r in ranks for name, found in lists.items() if r < len(found)]


def _indices_of_one(cache: Cache, kind: str, wanted: Wanted) -> list[int]:
    if kind == "task":
        return sampled(cache.lengths, wanted.examples, wanted.most_tokens, wanted.seed)
    if kind == "annotated":
        return spread(cache.lengths, min(1, wanted.segments))
    begin = cache.ids.index(wanted.first) if wanted.first in cache.ids else None
    return spread(cache.lengths, wanted.segments, begin)


def title_of(source: str, document: str, identity: str) -> str:
    """Where a text is from: corpus, document and example, one name where these are the same."""
    return f"{source}: {document}" + (f", {identity}" if identity != document else "")


def spread(lengths: np.ndarray, n: int, first: int | None = None) -> list[int]:
    """`n` short examples: `first`, then the shortest of each of as many equal stretches.

    Those of fewer than FEWEST_TOKENS are taken only where a stretch has no others; a corpus of
    fewer than `n` examples gives all.
    """
    found = [] if first is None or n == 0 else [first]
    for stretch in np.array_split(np.arange(len(lengths)), max(n - len(found), 1)):
        left = stretch[stretch != first]
        if len(found) < n and len(left):
            order = np.lexsort((left, lengths[left], lengths[left] < FEWEST_TOKENS))
            found.append(int(left[order[0]]))
    return found


def sampled(lengths: np.ndarray, n: int, most_tokens: int, seed: int) -> list[int]:
    """`n` random examples of at most `most_tokens` tokens; the shortest where there is none."""
    fitting = np.flatnonzero(lengths <= most_tokens)
    if not len(fitting):
        return [int(lengths.argmin())][:n]
    rng = np.random.default_rng(seed)
    found: list[int] = []
    while len(found) < min(n, len(fitting)):
        index = int(rng.choice(fitting))
        if index not in found:
            found.append(index)
    return found


def tokens_of(example: CachedExample) -> Tokens:
    """A cached example as a model reads it."""
    n_words = int(example.word.max(initial=-1)) + 1
    return Tokens(example.id, example.ids, example.word, example.segment, n_words)


def first_of_drawings(drawings: Path | None) -> str:
    """The id of the segment of Figure 1; empty where the study has none."""
    if drawings is None:
        return ""
    examples = tables.read(drawings)["example"]
    return str(examples.iloc[0]) if len(examples) else ""


def entry_of(
    name: str, model: str, corpus: str, title: str, tokens: Tokens | CachedExample, tokenizer: Any
) -> dict[str, Any]:
    """A text as the atlas has it, without its maps."""
    about = {"id": name, "model": model, "corpus": corpus, "title": title}
    return about | {"tokens": token_texts(tokenizer, tokens.ids), "word": tokens.word.tolist()}


def with_maps(
    segment: dict[str, Any], patterns: Mapping[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A text that names its maps, and these by their names."""
    names = {state: f"{segment['model']}.{segment['id']}.{state}" for state in patterns}
    maps = {names[state]: encode(pattern) for state, pattern in patterns.items()}
    return segment | {"maps": names}, maps


def write_maps(texts: Iterable[tuple[dict[str, Any], dict[str, Any]]], path: Path) -> None:
    """Write texts, each with its maps by their names, as atlas_data.py reads them."""
    segments, maps = [], {}
    for segment, of_text in texts:
        segments.append(segment)
        maps |= of_text
    path.write_text(json.dumps({"segments": segments, "maps": maps}) + "\n", encoding="utf-8")


def encode(values: np.ndarray) -> dict[str, Any]:
    """An entry of the atlas's maps: shape, the largest value, and the values as text.

    `values` are finite and not negative, of any shape. A value v comes back as
    largest * (byte / 255)^2, with byte = round(255 * sqrt(v / largest)).
    """
    values = np.asarray(values)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("only finite values that are not negative can be encoded")
    largest = float(values.max(initial=0))
    flat = values.reshape(-1)
    steps = np.zeros(flat.shape, np.uint8)
    for start in range(0, flat.size if largest else 0, BLOCK):
        share = flat[start : start + BLOCK].astype(np.float64) / largest
        steps[start : start + BLOCK] = np.rint(STEPS * np.sqrt(share))
    data = base64.b64encode(zlib.compress(steps, 9)).decode("ascii")
    return {"shape": list(values.shape), "largest": largest, "data": data}


def decode(entry: Mapping[str, Any]) -> np.ndarray:
    """The values of an entry, float32 of its shape."""
    steps = np.frombuffer(zlib.decompress(base64.b64decode(entry["data"])), np.uint8)
    values = entry["largest"] * np.square(steps / STEPS)
    return values.astype(np.float32).reshape(entry["shape"])
