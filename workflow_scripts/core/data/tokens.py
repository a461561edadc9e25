"""Examples as wordpieces: ids, the word that each belongs to, and its segment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workflow_scripts.core.data.annotations import Example, Spans
from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast


IGNORED = -100  # the label of a token that is not predicted, which cross entropy leaves out
BLANKS = "\u0120\u2581"  # how byte-level tokenizers and sentencepiece write a blank
CHARACTERS = 64  # of a text for each token that is kept: what follows is not read


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
    labels: np.ndarray | None = None  # int64 [L]: of what is predicted there, else IGNORED

    def __len__(self) -> int:
        return len(self.ids)


def tokenize(
    examples: Sequence[Example],
    tokenizer: "PreTrainedTokenizerFast",
    max_tokens: int,
    max_positions: int,
) -> list[Tokens]:
    """The wordpieces of each example, the longer text cut first to at most `max_tokens`.

    Raises InputError if an example is longer than the model's positions or empty.
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


def _tokenize_example(
    example: Example, tokenizer: "PreTrainedTokenizerFast", max_tokens: int
) -> Tokens:
    first, *rest = example.texts
    texts = [first, *filter(None, rest)]  # an empty second text is no segment
    if tokenizer.truncation_side == "right":  # of far longer texts the library keeps all pieces
        texts = [text[: CHARACTERS * max_tokens] for text in texts]
    (joined,) = tokenizer(
        *texts,
        truncation="longest_first",
        max_length=max_tokens,
        split_special_tokens=True,  # "[SEP]" in a text is text
        verbose=False,
    ).encodings
    sequence = np.array([-1 if text is None else text for text in joined.sequence_ids])
    word, n_words = np.full(len(sequence), -1, dtype=np.int32), 0
    for number, text in enumerate(texts):
        kept = np.flatnonzero(sequence == number)
        if example.words is None:
            word[kept] = _words_of_text(joined, kept, text, n_words)
            n_words = int(word.max(initial=-1)) + 1
        else:
            word[kept] = _words_of_spans(joined, kept, text, example.words[number], n_words)
            n_words += len(example.words[number])
    # Special tokens take the segment of the text before them, [CLS] takes 0.
    segment = np.maximum.accumulate(sequence.clip(min=0)).astype(np.int8)
    return Tokens(example.id, np.array(joined.ids, np.int32), word, segment, n_words)


def _spelled(encoding: "Encoding", kept: np.ndarray, text: str) -> Iterator[tuple[int, int, int]]:
    """Place, start and end of those of the tokens `kept` of a text that spell more than blanks.

    The blank before a word belongs to a byte-level token, and may be a token of its own. One that
    the tokenizer puts before a text, where there is none, has the place of the first letter.
    """
    tokens, offsets = encoding.tokens, encoding.offsets
    for place, position in enumerate(kept):
        token, (start, end) = tokens[position], offsets[position]
        spelled = text[start:end].strip()
        if spelled and (token.strip(BLANKS) or token == spelled):
            start = text.index(spelled, start)
            yield place, start, start + len(spelled)


def _words_of_text(encoding: "Encoding", kept: np.ndarray, text: str, before: int) -> np.ndarray:
    """The word of each of the tokens `kept`, -1 for none: what the tokenizer splits, and at blanks.

    Some tokenizers, such as Gemma's, do not split at blanks. Words are counted from `before`.
    """
    word, words = np.full(len(kept), -1, dtype=np.int32), encoding.word_ids
    pieces = [words[position] for position in kept]
    current = before - 1 + (pieces[0] if pieces else 0)  # more than 0 where a start was cut off
    last, end = None, 0
    for place, start, stop in _spelled(encoding, kept, text):
        # Between two tokens there may be a mark, too, that a letter before it has taken in.
        current += pieces[place] != last or any(map(str.isspace, text[end:start]))
        word[place], last, end = current, pieces[place], stop
    return word


def _words_of_spans(
    encoding: "Encoding", kept: np.ndarray, text: str, spans: Spans, before: int
) -> np.ndarray:
    """For each of the tokens `kept` the first word of `spans` that its characters overlap most.

    Words are counted from `before`; -1 is none.
    """
    word = np.full(len(kept), -1, dtype=np.int32)
    starts, ends = np.array(spans, dtype=int).reshape(-1, 2).T
    for place, start, end in _spelled(encoding, kept, text) if len(spans) else ():
        overlap = np.minimum(ends, end) - np.maximum(starts, start)
        best = int(overlap.argmax())
        if overlap[best] > 0:
            word[place] = before + best
    return word
