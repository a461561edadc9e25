"""Running text in segments of one length, for the tests of a decoder's heads."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


@dataclass(frozen=True)
class Texts:
    """Texts of one length: `ids` [text, token] without special tokens, and their documents.

    `too_short` counts the corpus' texts that were left out.
    """

    ids: np.ndarray
    documents: list[str]
    too_short: int


def read_segments(
    corpus: Path,
    tokenizer: "PreTrainedTokenizerFast",
    n_segments: int,
    n_tokens: int,
    key: str,
    one_per_document: bool = False,
) -> Texts:
    """The first `n_tokens` tokens of at most `n_segments` texts, spread evenly over the corpus.

    With `one_per_document` only the first text of each document counts. Raises InputError, with
    the config's `key` of the length, where no text is as long.
    """
    examples = read_examples(corpus)
    found = []
    for example in examples:
        ids = encode("\n".join(filter(None, example.texts)), tokenizer)
        if len(ids) >= n_tokens:
            found.append((ids[:n_tokens], example.document))
    too_short = len(examples) - len(found)
    if one_per_document:
        found = list({document: (ids, document) for ids, document in reversed(found)}.values())[
            ::-1
        ]
    if not found:
        raise InputError(f"{corpus}: no text has {n_tokens} tokens; lower {key}")
    chosen = np.linspace(0, len(found) - 1, min(n_segments, len(found))).round().astype(int)
    ids, documents = zip(*(found[index] for index in chosen), strict=True)
    return Texts(np.array(ids), list(documents), too_short)


def encode(text: str, tokenizer: "PreTrainedTokenizerFast") -> list[int]:
    """A text's tokens without special ones; what reads like one in the text is text."""
    options = {"add_special_tokens": False, "truncation": False, "padding": False}
    return tokenizer(text, **options, split_special_tokens=True, verbose=False)["input_ids"]
