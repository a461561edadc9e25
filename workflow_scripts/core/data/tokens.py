"""Examples as wordpieces: ids, the word that each belongs to, and its segment."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workflow_scripts.core.data.examples import Example, Spans
from workflow_scripts.core.run.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast


@dataclass(frozen=True)
class Tokens:
    """One example as the model reads it; L wordpieces, special tokens included.

    `word` is the index of the word, counted over the whole example, and -1 for special tokens;
    `segment` is 0 or 1. Words whose wordpieces were cut off or that vanish in tokenisation have
    an index below `n_words` that no wordpiece carries.
    """

    id: str
    ids: np.ndarray  # int32 [L]
    word: np.ndarray  # int32 [L]
    segment: np.ndarray  # int8 [L]
    n_words: int

    def __len__(self) -> int:
        return len(self.ids)


def tokenize(
    examples: Sequence[Example],
    tokenizer: "PreTrainedTokenizerFast",
    max_tokens: int,
    max_positions: int,
) -> list[Tokens]:
    """The wordpieces of each example, the longer text cut first to at most `max_tokens`.

    Raises InputError, with the source of the example, if an example is longer than the model's
    positions or empty.
    """
    tokenized = [_tokenize_example(example, tokenizer, max_tokens) for example in examples]
    for example, tokens in zip(examples, tokenized, strict=True):
        if len(tokens) > max_positions:
            raise InputError(
                f"{example.source}: {len(tokens)} tokens, but the model has {max_positions} "
                f"positions; lower max_tokens of this corpus to at most {max_positions}"
            )
        if not (tokens.word >= 0).any():
            raise InputError(f"{example.source}: no token is left; remove this text")
    return tokenized


def token_texts(tokenizer: "PreTrainedTokenizerFast", ids: np.ndarray) -> list[str]:
    """Each wordpiece of `ids` [L] as people read it."""
    return [
        tokenizer.convert_tokens_to_string([token]).strip() or token
        for token in tokenizer.convert_ids_to_tokens(ids.tolist())
    ]


def _tokenize_example(
    example: Example, tokenizer: "PreTrainedTokenizerFast", max_tokens: int
) -> Tokens:
    batch = tokenizer(
        *example.texts,
        truncation="longest_first",
        max_length=max_tokens,
        padding=False,
        split_special_tokens=True,  # "[SEP]" in a text is text
    )
    encoding = batch.encodings[0]
    sequence = np.array(
        [-1 if index is None else index for index in encoding.sequence_ids], dtype=np.int8
    )
    if example.words is None:
        word, n_words = _pre_tokenizer_words(encoding, sequence)
    else:
        word, n_words = _words_of_spans(encoding, sequence, example.words)
    return Tokens(
        id=example.id,
        ids=np.array(encoding.ids, dtype=np.int32),
        word=word,
        segment=_segments(sequence),
        n_words=n_words,
    )


def _pre_tokenizer_words(encoding: "Encoding", sequence: np.ndarray) -> tuple[np.ndarray, int]:
    """The tokenizer's own words; those of the second text are counted on from the first's."""
    pairs = zip(encoding.word_ids, sequence, strict=True)
    first = [index for index, text in pairs if text == 0 and index is not None]
    offset = max(first, default=-1) + 1
    word = np.full(len(encoding.ids), -1, dtype=np.int32)
    for position, (index, text) in enumerate(zip(encoding.word_ids, sequence, strict=True)):
        if text >= 0 and index is not None:
            word[position] = index + (offset if text == 1 else 0)
    return word, int(word.max(initial=-1)) + 1


def _words_of_spans(
    encoding: "Encoding", sequence: np.ndarray, words: tuple[Spans, ...]
) -> tuple[np.ndarray, int]:
    """The word of `words` that each wordpiece's characters overlap most, the first of them."""
    word = np.full(len(encoding.ids), -1, dtype=np.int32)
    base = 0
    for text, spans in enumerate(words):
        starts = np.array([start for start, _ in spans])
        ends = np.array([end for _, end in spans])
        for position in np.flatnonzero(sequence == text):
            start, end = encoding.offsets[position]
            overlap = np.minimum(ends, end) - np.maximum(starts, start)
            best = int(overlap.argmax()) if len(spans) else -1
            if best >= 0 and overlap[best] > 0:
                word[position] = base + best
        base += len(spans)
    return word, base


def _segments(sequence: np.ndarray) -> np.ndarray:
    """Special tokens take the segment of the text before them, [CLS] takes 0."""
    segment = np.zeros(len(sequence), dtype=np.int8)
    current = 0
    for position, text in enumerate(sequence):
        current = max(current, int(text))
        segment[position] = current
    return segment
