"""What fine-tuning changes in each head's maps: four measures, read from two caches in one pass.

Similarity before and after, attention to kinds of tokens, attention between linked words, and to
words that two sentences share (Kovaleva et al. 2019, sections 4.3 to 4.5, and 5).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples, read_trees
from workflow_scripts.core.data.cache import Cache, CachedExample
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean, per_head
from workflow_scripts.finetuning.token_kinds import (
    KINDS,
    LABELS,
    tokens_of_kinds,
    word_links,
    words_of_kinds,
)

STAGES = ("pretrained", "fine-tuned")


def cosine(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Cosine similarity of flattened maps, float64 [layer, head], of two [layer, head, L, L]."""
    shape = (*before.shape[:2], -1)
    x, y = (np.asarray(maps, dtype=np.float64).reshape(shape) for maps in (before, after))
    return (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))


QUERIES = ("all", "cls")


class KindAttention:
    """For each of QUERIES and KINDS the attention of a cache's examples.

    From all queries it is their sum, divided by the length; `cls` is the first token alone.
    `values` is the attention to the most attended token of the kind, NaN without one; `shares` is
    the attention to all of them together, 0 without one, and `tokens` their share of the tokens,
    which uniform attention would give them. `shape` is (examples, layers, heads).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.values, self.shares = (
            {query: {kind: np.empty(shape) for kind in KINDS} for query in QUERIES}
            for _ in range(2)
        )
        self.tokens = {kind: np.empty(shape[0]) for kind in KINDS}

    def add(self, index: int, pattern: np.ndarray, kinds: dict[str, np.ndarray]) -> None:
        """Measure example `index`, whose tokens of each kind are `kinds`, bool [L]."""
        received = pattern.mean(axis=-2, dtype=np.float64), pattern[..., 0, :].astype(np.float64)
        for kind in KINDS:
            self.tokens[kind][index] = kinds[kind].mean()
            for query, attention in zip(QUERIES, received, strict=True):
                of_kind = attention[..., kinds[kind]]
                self.values[query][kind][index] = of_kind.max(-1) if of_kind.size else np.nan
                self.shares[query][kind][index] = of_kind.sum(axis=-1)

    def table(self, draws: int, seed: int) -> pd.DataFrame:
        """A row per query, kind and head; `n_without` counts the examples without the kind.

        `attention` is a mean over the examples with the kind, as are its `sums` and `counts`,
        `share` and `tokens` over all.
        """
        frames, given = [], (draws, seed, INDEPENDENT)
        for query in QUERIES:
            frame = per_head(self.values[query], "kind", "attention", *given, by_unit=True)
            shares = per_head(self.shares[query], "kind", "share", *given)
            frame[["share", "share_low", "share_high"]] = shares[["share", "ci_low", "ci_high"]]
            frames.append(frame.assign(query=query))
        frame = pd.concat(frames, ignore_index=True)
        frame["tokens"] = frame["kind"].map({name: of.mean() for name, of in self.tokens.items()})
        return frame.assign(n_without=len(self.tokens["cls"]) - frame["n"])


BACK = {"verb-subject": "subject-verb", "pronoun-noun": "noun-pronoun"}  # the reverse of each
LINKS = tuple(name for pair in BACK.items() for name in pair)
FAR = 2  # wordpieces; closer tokens are neighbours
DISTANCES = (False, True)  # all links, and those FAR or more apart
WordPairs = dict[str, list[tuple[int, int]]]


def links_of(
    example: CachedExample, pairs: Iterable[tuple[int, int]]
) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """The links between pairs of words of one example; pairs with truncated words are left out.

    Of each how far its tokens are apart, and maximum attention along and against it, [layer, head].
    """
    links = []
    for first, second in pairs:
        a, b = np.flatnonzero(example.word == first), np.flatnonzero(example.word == second)
        if len(a) and len(b):
            distance = int(np.abs(a[:, None] - b).min())
            along, against = (
                example.pattern[:, :, queries[:, None], keys].max(axis=(-2, -1)).astype(np.float64)
                for queries, keys in ((a, b), (b, a))
            )
            links.append((distance, along, against))
    return links


def neighbours(pattern: np.ndarray) -> np.ndarray:
    """Mean attention to the previous and next token together, [layer, head]."""
    length = pattern.shape[-1]
    before = np.diagonal(pattern, -1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    after = np.diagonal(pattern, 1, axis1=-2, axis2=-1).sum(axis=-1, dtype=np.float64)
    return (before + after) / length


class LinkAttention:
    """Attention along links and to neighbours, of a cache's examples.

    An example's value is the mean over its links, NaN where it has none; under the key True, over
    those whose tokens are FAR or more apart. `shape` is (examples, layers, heads).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.values = {far: {link: np.full(shape, np.nan) for link in LINKS} for far in DISTANCES}
        self.counts = {far: dict.fromkeys(LINKS, 0) for far in DISTANCES}
        self.neighbours = np.empty(shape)

    def add(self, index: int, example: CachedExample, pairs: WordPairs) -> None:
        """Measure example `index`, whose pairs of words are `pairs`, by the name of their link."""
        self.neighbours[index] = neighbours(example.pattern)
        for link, words in pairs.items():
            links = links_of(example, words)
            for far in DISTANCES:
                kept = [each for each in links if not far or each[0] >= FAR]
                for name in (link, BACK[link]):
                    self.counts[far][name] += len(kept)
                if kept:
                    _, along, against = zip(*kept, strict=True)
                    self.values[far][link][index] = np.mean(along, axis=0)
                    self.values[far][BACK[link]][index] = np.mean(against, axis=0)

    def table(self, draws: int, seed: int) -> pd.DataFrame:
        """A row per distance, link and head, with the number of links and the neighbours' mean.

        neighbours_low and neighbours_high are the ends of its 95% interval over examples.
        """
        near, frames = bootstrap_mean(self.neighbours, draws, seed, INDEPENDENT), []
        names = ("neighbours", "neighbours_low", "neighbours_high")
        for far, by_link in self.values.items():
            frame = per_head(by_link, "link", "attention", draws, seed, INDEPENDENT)
            frame["links"] = frame["link"].map(self.counts[far])
            for name, values in zip(names, near, strict=True):
                frame[name] = np.tile(values.ravel(), len(LINKS))
            frames.append(frame.assign(far=far))
        return pd.concat(frames, ignore_index=True)


SHARED = ("copy", "shared")


def shared_spellings(words: Sequence[str], n_first: int) -> np.ndarray:
    """A number for each spelling that both texts have, -1 for all other words: int [word].

    The first `n_first` words are the first text's. Case is ignored; a word has a letter or a digit.
    """
    spellings = [word.casefold() for word in words]
    both = set(spellings[:n_first]) & set(spellings[n_first:])
    kept = sorted(word for word in both if any(letter.isalnum() for letter in word))
    numbers = {word: number for number, word in enumerate(kept)}
    return np.array([numbers.get(word, -1) for word in spellings], dtype=int)


def to_copies(
    pattern: np.ndarray, spelling: np.ndarray, segment: np.ndarray, ordinary: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Attention of shared words to their copies, and to the other words, of the other text.

    Both are weights per key token, means over the queries, float64 [layer, head], so that uniform
    attention gives the same twice; None where no shared word is left. `pattern` is [layer, head,
    query, key]; `spelling` numbers each token's shared spelling (else -1), `segment` its text, and
    `ordinary` (bool) marks tokens of words, each [L].
    """
    across = (segment[:, None] != segment) & ordinary & ordinary[:, None]
    same = (spelling[:, None] == spelling) & (spelling >= 0)
    copies, others = across & same, across & ~same
    queries = np.flatnonzero(copies.any(axis=1) & others.any(axis=1))
    if not len(queries):
        return None
    rows = pattern[:, :, queries].astype(np.float64)
    return tuple(
        ((rows * keys[queries]).sum(axis=-1) / keys[queries].sum(axis=-1)).mean(axis=-1)
        for keys in (copies, others)
    )


def to_shared(
    pattern: np.ndarray, spelling: np.ndarray, ordinary: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Attention of all tokens to shared words, and to other words: weights per key token.

    Shapes and arguments as in `to_copies`.
    """
    shared, others = ordinary & (spelling >= 0), ordinary & (spelling < 0)
    if not shared.any() or not others.any():
        return None
    received = pattern.mean(axis=-2, dtype=np.float64)
    return received[..., shared].mean(axis=-1), received[..., others].mean(axis=-1)


class SharedWords:
    """For each of SHARED the attention of a cache's examples to shared and to other words.

    NaN for an example without two texts, or without a shared word or any other. `shape` is
    (examples, layers, heads).
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self.shared, self.others = (
            {measure: np.full(shape, np.nan) for measure in SHARED} for _ in range(2)
        )

    def add(self, index: int, example: CachedExample, spelling_of_word: np.ndarray) -> None:
        """Measure example `index`; `spelling_of_word` is that of `shared_spellings`."""
        ordinary = example.word >= 0
        spelling = np.where(ordinary, spelling_of_word[example.word], -1)
        measured = {
            "copy": to_copies(example.pattern, spelling, example.segment, ordinary),
            "shared": to_shared(example.pattern, spelling, ordinary),
        }
        for measure, both in measured.items():
            if both is not None:
                self.shared[measure][index], self.others[measure][index] = both

    def table(self, draws: int, seed: int) -> pd.DataFrame:
        """A row per measure and head: `excess` is `attention` minus `others`, with its interval."""
        excess = {measure: self.shared[measure] - self.others[measure] for measure in SHARED}
        frame = per_head(excess, "measure", "excess", draws, seed, INDEPENDENT)
        for name, values in (("attention", self.shared), ("others", self.others)):
            frame[name] = per_head(values, "measure", name, draws, seed, INDEPENDENT)[name]
        return frame


def main(
    body: Path,
    tuned: Path,
    model: Path,
    card: Path,
    examples: Path,
    annotation: Path,
    similarity: job.Out,
    features: job.Out,
    links: job.Out,
    shared: job.Out,
    task: str,
    seed: int,
    bootstrap: int,
    labels: str,
) -> None:
    """Write each head's similarity between the stages and, for both, the other measures.

    `labels`, one of LABELS, states which words are subjects and objects.
    """
    corpus, trees = read_examples(examples), read_trees(annotation)
    cards = (read_card(model), read_card(card))
    with Cache(body, cards[0]) as before, Cache(tuned, cards[1]) as after:
        for cache in (before, after):
            cache.expect([example.id for example in corpus], str(examples))
        shape = (len(corpus), before.n_layers, before.n_heads)
        alike, to_kinds = np.empty(shape), {stage: KindAttention(shape) for stage in STAGES}
        along_links = {stage: LinkAttention(shape) for stage in STAGES}
        to_shared = {stage: SharedWords(shape) for stage in STAGES}
        annotated = zip(corpus, trees, before, after, strict=True)
        progress = job.progress(annotated, len(corpus), "examples")
        for index, (example, tree, *cached) in enumerate(progress):
            alike[index] = cosine(*(each.pattern for each in cached))
            words = words_of_kinds(tree, example, LABELS[labels])
            pairs = word_links(tree, words, LABELS[labels])
            spellings = shared_spellings(tree.words, len(example.words[0]))
            for stage, each, of_stage in zip(STAGES, cached, cards, strict=True):
                kinds = tokens_of_kinds(words, each.word, each.ids, of_stage)
                to_kinds[stage].add(index, each.pattern, kinds)
                along_links[stage].add(index, each, pairs)
                to_shared[stage].add(index, each, spellings)
    alike = {task: alike}
    frame = per_head(alike, "task", "similarity", bootstrap, seed, INDEPENDENT, by_unit=True)
    tables.write(frame.assign(seed=seed), similarity)
    for measured, out in ((to_kinds, features), (along_links, links), (to_shared, shared)):
        frames = [measured[stage].table(bootstrap, seed).assign(stage=stage) for stage in STAGES]
        tables.write(pd.concat(frames, ignore_index=True).assign(task=task, seed=seed), out)


if __name__ == "__main__":
    job.run(main, globals())
