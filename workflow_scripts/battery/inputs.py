"""What decoders read in the tests: repeated random sequences, and running text of one length."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerFast

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import token_texts
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import models
from workflow_scripts.core.run import job


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
    tokenizer: PreTrainedTokenizerFast,
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
        first = {document: ids for ids, document in reversed(found)}
        found = [(ids, document) for document, ids in reversed(first.items())]
    if not found:
        raise InputError(f"{corpus}: no text has {n_tokens} tokens; lower {key}")
    chosen = np.linspace(0, len(found) - 1, min(n_segments, len(found))).round().astype(int)
    ids, documents = zip(*(found[index] for index in chosen), strict=True)
    return Texts(np.array(ids), list(documents), too_short)


def encode(text: str, tokenizer: PreTrainedTokenizerFast) -> list[int]:
    """A text's tokens without special ones; what reads like one in the text is text."""
    options = {"add_special_tokens": False, "truncation": False, "padding": False}
    return tokenizer(text, **options, split_special_tokens=True, verbose=False)["input_ids"]


def start_token(tokenizer: PreTrainedTokenizerFast, own: int | None) -> tuple[int, str]:
    """The token before a sequence: the tokenizer's `own`, else bos, else eos; and which it is."""
    found = {"tokenizer": own, "bos": tokenizer.bos_token_id, "eos": tokenizer.eos_token_id}
    for what, index in found.items():
        if index is not None:
            return index, what
    raise InputError(
        "the tokenizer has no bos or eos token, one of which must begin a sequence; name one in "
        "tokenizer_config.json"
    )


def ordinary_tokens(tokenizer: PreTrainedTokenizerFast) -> np.ndarray:
    """The ids of the vocabulary without special and added tokens, ascending."""
    others = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    return np.array(sorted(set(tokenizer.get_vocab().values()) - others))


def repeated(ordinary: np.ndarray, start: int, n: int, length: int, seed: int) -> np.ndarray:
    """Ids [sequence, token]: `start`, then `length` different tokens of `ordinary`, twice."""
    rng = np.random.default_rng(seed)
    copies = np.stack([rng.choice(ordinary, length, replace=False) for _ in range(n)])
    return np.concatenate([np.full((n, 1), start), copies, copies], axis=1)


def main(
    model: Path,
    sequences: job.Out,
    n_sequences: int,
    length: int,
    seed: int = 1,
) -> None:
    """Write the sequences, a row for each token; `copy` is 0 for the start token, then 1 and 2."""
    card = read_card(model)
    tokenizer = models.load_tokenizer(models.directory_of(card))
    start, what = start_token(tokenizer, card.get("start"))
    ordinary = np.setdiff1d(ordinary_tokens(tokenizer), start)
    n_ordinary, n_positions = len(ordinary), card["max_positions"]
    if length > n_ordinary or 1 + 2 * length > n_positions:
        raise InputError(
            f"config: battery.length: a start token and twice {length} different tokens, but "
            f"{card['name']} has {n_ordinary} ordinary ones and {n_positions} positions; lower it"
        )
    ids = repeated(ordinary, start, n_sequences, length, seed)
    frame = tables.tidy({"sequence": range(len(ids)), "position": range(len(ids[0]))}, id=ids)
    frame["copy"] = (frame["position"] + length - 1) // length
    frame["token"] = token_texts(tokenizer, ids.ravel())
    tables.write(frame.assign(start=what), sequences)


def read_sequences(path: Path) -> np.ndarray:
    """The ids of a table of sequences, [sequence, token]."""
    frame = tables.read(path)
    return frame.pivot(index="sequence", columns="position", values="id").to_numpy()


if __name__ == "__main__":
    job.run(main, globals())
