"""Needles in haystacks: a made-up sentence inside running text, and a question that it answers.

The sentences are of this file, so that no model has read them; the text around them is a corpus'.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workflow_scripts.battery.texts import encode
from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

NAMES = "Amara Bruno Celeste Dmitri Esme Farid Greta Hiro Imani Jonas Katya Lionel Mirela".split()
THINGS = (
    "seven green lemons;a broken violin;two silver keys;an old compass;forty paper cranes;"
    "a wooden flute;three blue marbles;a jar of honey;a torn map;five copper bells;"
    "a velvet glove;nine white candles;a stuffed owl;a bag of walnuts;a glass dolphin"
).split(";")
PLACES = "attic;boathouse;cellar;greenhouse;lighthouse;observatory;pantry;stable;tower;windmill"
N_THINGS = 3
ENDS = (".", "?", "!")


@dataclass(frozen=True)
class Needle:
    """A sentence and a question; the answer is the sentence's, word for word."""

    sentence: str
    question: str
    answer: str


@dataclass(frozen=True)
class Haystack:
    """The tokens of a text with a needle, its question and answer.

    `needle` are the positions of the answer's tokens inside the text, `answer` those of the same
    tokens at the end; `depth` is the share of the text that stands before the needle, `segment` the
    id of the corpus' segment with which the text begins.
    """

    ids: np.ndarray
    needle: np.ndarray
    answer: np.ndarray
    depth: float
    segment: str


def make_needles(n: int, seed: int) -> list[Needle]:
    """Needles of different names, things and places, as far as these suffice."""
    rng = np.random.default_rng(seed)
    needles = []
    for _ in range(n):
        name, place = rng.choice(NAMES), rng.choice(PLACES.split(";"))
        one, two, three = rng.choice(THINGS, N_THINGS, replace=False)
        answer = f" {one}, {two} and {three}"
        start = f"In the {place} {name} keeps"
        question = f"\n\nQuestion: What does {name} keep in the {place}?\nAnswer: {start}"
        needles.append(Needle(f" {start}{answer}.", question, answer))
    return needles


def haystacks(
    examples: Sequence[Example],
    needles: Sequence[Needle],
    tokenizer: "PreTrainedTokenizerFast",
    n_tokens: int,
    start: Sequence[int],
) -> list[Haystack]:
    """Each needle in `n_tokens` tokens of text of its own, at depths spread evenly from 0 to 1.

    A text goes on over segments of the corpus from one document on; the needle stands after the end
    of a sentence, the nearest to its depth. `start` is what the tokenizer puts first. Raises
    InputError where the corpus has too little text.
    """
    made, place = [], 0
    for needle, depth in zip(needles, np.linspace(0, 1, len(needles)), strict=True):
        segment = examples[place].id if place < len(examples) else ""
        ids: list[int] = []
        while len(ids) < n_tokens:
            if place == len(examples):
                raise InputError(
                    f"config: battery.retrieval: {len(needles)} texts of {n_tokens} tokens need a "
                    "longer corpus; lower n_needles or n_tokens, or raise the corpus' n_segments"
                )
            ids += encode("\n".join(filter(None, examples[place].texts)) + "\n", tokenizer)
            place += 1
        made.append(_hidden(needle, depth, ids[:n_tokens], tokenizer, list(start), segment))
    return made


def _hidden(
    needle: Needle,
    depth: float,
    ids: list[int],
    tokenizer: "PreTrainedTokenizerFast",
    start: list[int],
    segment: str,
) -> Haystack:
    """One needle in its text."""
    texts = tokenizer.batch_decode([[index] for index in ids])
    ends = [0] + [at + 1 for at, text in enumerate(texts) if text.rstrip().endswith(ENDS)]
    cut = min(ends, key=lambda end: abs(end - depth * len(ids)))
    answer = encode(needle.answer, tokenizer)
    before = encode(needle.sentence.removesuffix(f"{needle.answer}."), tokenizer)
    parts = [start, ids[:cut], before, answer, encode(".", tokenizer), ids[cut:]]
    parts += [encode(needle.question, tokenizer), answer]
    starts = np.cumsum([0, *map(len, parts)])
    return Haystack(
        np.array([index for part in parts for index in part]),
        starts[3] + np.arange(len(answer)),
        starts[7] + np.arange(len(answer)),
        cut / len(ids),
        segment,
    )
