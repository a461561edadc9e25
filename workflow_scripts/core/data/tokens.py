"""Examples as wordpieces: ids, the word that each belongs to, and its segment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workflow_scripts.core.data.examples import Example, Spans
from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast


BLANKS = "\u0120\u2581"  # how byte-level tokenizers and sentencepiece write a blank
LONG = 100_000  # characters of a text up to which it is tokenised as a whole


@dataclass(frozen=True)
class Tokens:
    """One example as the model reads it; L wordpieces, special tokens included.

    `word` is the index of the word, counted over the whole example, and -1 for special tokens and
    tokens of blanks; `segment` is 0 or 1. Words whose wordpieces were cut off or that vanish in
    tokenisation have an index below `n_words` that no wordpiece carries.
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
    """Each wordpiece of `ids` [L] as people read it; one of blanks alone is "␣"."""
    tokens = tokenizer.convert_ids_to_tokens(ids.tolist())
    texts = [tokenizer.convert_tokens_to_string([token]) for token in tokens]
    return [
        text.strip() or ("␣" if text else token) for text, token in zip(texts, tokens, strict=True)
    ]


def kept_lengths(lengths: Sequence[int], room: int) -> list[int]:
    """How many tokens of one text or two are kept: the longer is cut first, to `room` in all.

    This is the strategy longest_first of the tokenizers library.
    """
    if sum(lengths) <= room:
        return list(lengths)
    if len(lengths) == 1:
        return [room]
    less = min(*lengths, room // 2)
    return [room - less, less] if lengths[0] > lengths[1] else [less, room - less]


def _tokenize_example(
    example: Example, tokenizer: "PreTrainedTokenizerFast", max_tokens: int
) -> Tokens:
    first, *rest = example.texts
    texts = [first, *filter(None, rest)]  # an empty second text is no segment
    room = max(max_tokens - tokenizer.num_special_tokens_to_add(pair=len(texts) > 1), 0)
    read, lengths = zip(*(_read(text, tokenizer, room) for text in texts), strict=True)
    kept = [
        _cut(encoding, length, tokenizer.truncation_side)
        for encoding, length in zip(read, kept_lengths(lengths, room), strict=True)
    ]
    joined = tokenizer.backend_tokenizer.post_process(*kept)
    sequence = np.full(len(joined), -1, dtype=np.int8)
    of_text = np.array(joined.special_tokens_mask) == 0
    sequence[of_text] = np.repeat(np.arange(len(kept)), [len(encoding) for encoding in kept])
    word = np.full(len(sequence), -1, dtype=np.int32)
    if example.words is None:
        n_words = 0
        for text, encoding in enumerate(kept):
            word[sequence == text] = _words_of_text(encoding, texts[text], n_words)
            n_words = int(word.max(initial=-1)) + 1
    else:
        for text, (encoding, spans) in enumerate(zip(kept, example.words, strict=False)):
            before = sum(map(len, example.words[:text]))
            word[sequence == text] = _words_of_spans(encoding, texts[text], spans, before)
        n_words = sum(map(len, example.words))
    return Tokens(
        id=example.id,
        ids=np.array(joined.ids, dtype=np.int32),
        word=word,
        segment=_segments(sequence),
        n_words=n_words,
    )


def _read(text: str, tokenizer: "PreTrainedTokenizerFast", room: int) -> tuple["Encoding", int]:
    """The tokens of a text without special tokens, at least the first `room`, and their number.

    Of a text longer than LONG characters only a start is read, if its first `room` tokens are those
    of the text: the start goes on after the word that the last of them belongs to, and a tokenizer
    splits each of its words alone. What follows could only change how the words are found, and that
    is tried: a start of twice the length must give the same tokens. Otherwise, as where a tokenizer
    takes the text as one word, more is read, in the end all of it. The number of tokens of a text
    that is not read to its end is estimated from its characters.
    """

    def encode(part: str) -> "Encoding":
        without = {"add_special_tokens": False, "truncation": False, "padding": False}
        # "[SEP]" in a text is text.
        return tokenizer(part, **without, split_special_tokens=True, verbose=False).encodings[0]

    size = LONG if tokenizer.truncation_side == "right" else max(len(text), 1)
    encoding = encode(text[:size])
    while size < len(text):
        size, shorter, encoding = 2 * size, encoding, encode(text[: 2 * size])
        if _start(shorter, room) == _start(encoding, room) is not None:
            break
    return encoding, round(len(encoding) * max(len(text) / size, 1))


def _start(encoding: "Encoding", room: int) -> list[tuple] | None:
    """The first `room` tokens, their words and places; None where their last word goes on."""
    words = encoding.word_ids
    if not 0 < room < len(words) or words[room - 1] == words[-1]:
        return None
    return list(zip(encoding.ids, words, encoding.offsets, strict=True))[:room]


def _cut(encoding: "Encoding", length: int, side: str) -> "Encoding":
    """The first `length` tokens, the last where the tokenizer's truncation side is left.

    The library keeps what it cuts off in pieces of the length that it keeps, and for two texts it
    joins each piece of one with each of the other: memory grew with the square of the length. Here
    there is at most one such piece: a short end is cut off, or the wanted end is what is cut off.
    """
    if not length or len(encoding) <= 2 * length:
        encoding.truncate(length, direction=side)
        return encoding
    encoding.truncate(len(encoding) - length, direction="left" if side == "right" else "right")
    return encoding.overflowing[0]


def _spelled(encoding: "Encoding", text: str) -> Iterator[tuple[int, int, int]]:
    """The tokens that spell more than blanks: position, and start and end of what they spell.

    The blank before a word belongs to a byte-level token, and may be a token of its own. One that
    the tokenizer puts before a text, where there is none, has the place of the first letter.
    """
    tokens = zip(encoding.tokens, encoding.offsets, strict=True)
    for position, (token, (start, end)) in enumerate(tokens):
        spelled = text[start:end].strip()
        if spelled and (token.strip(BLANKS) or token == spelled):
            start = text.index(spelled, start)
            yield position, start, start + len(spelled)


def _words_of_text(encoding: "Encoding", text: str, before: int) -> np.ndarray:
    """For each token its word: what the tokenizer splits a text into, and at blanks; -1 is none.

    Some tokenizers, such as Gemma's, do not split at blanks. Words are counted from `before`.
    """
    word = np.full(len(encoding), -1, dtype=np.int32)
    pieces = encoding.word_ids
    current = before - 1 + (pieces[0] if pieces else 0)  # more than 0 where a start was cut off
    last, end = None, 0
    for position, start, stop in _spelled(encoding, text):
        # Between two tokens there may be a mark, too, that a letter before it has taken in.
        current += pieces[position] != last or any(map(str.isspace, text[end:start]))
        word[position], last, end = current, pieces[position], stop
    return word


def _words_of_spans(encoding: "Encoding", text: str, spans: Spans, before: int) -> np.ndarray:
    """For each token the word of `spans` that its characters overlap most, the first of them.

    Words are counted from `before`; -1 is none.
    """
    word = np.full(len(encoding), -1, dtype=np.int32)
    starts, ends = np.array(spans, dtype=int).reshape(-1, 2).T
    for position, start, end in _spelled(encoding, text) if len(spans) else ():
        overlap = np.minimum(ends, end) - np.maximum(starts, start)
        best = int(overlap.argmax())
        if overlap[best] > 0:
            word[position] = before + best
    return word


def _segments(sequence: np.ndarray) -> np.ndarray:
    """Special tokens take the segment of the text before them, [CLS] takes 0."""
    segment = np.zeros(len(sequence), dtype=np.int8)
    current = 0
    for position, text in enumerate(sequence):
        current = max(current, int(text))
        segment[position] = current
    return segment
