"""A tokenizer's vocabulary: whether it is the model's, and what special tokens texts get."""

from itertools import groupby, pairwise
from pathlib import Path

from transformers import PretrainedConfig
from transformers import PreTrainedTokenizerBase as Tokenizer
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.errors import InputError, one_line

OWN_TOKENIZER = "use the tokenizer that was saved with these weights"
TEXT = -1


def check_vocabulary(
    directory: Path, tokenizer: Tokenizer, config: PretrainedConfig, kinds: tuple[str, ...]
) -> None:
    """Raise InputError where the tokenizer's vocabulary is not the model's.

    It has a token that the model's embedding has no row for, or, for a special token of one of
    `kinds`, another number than config.json where that has one.
    """
    vocabulary = tokenizer.get_vocab() | getattr(tokenizer, "lang_token_to_id", {})
    token, largest = max(vocabulary.items(), key=lambda item: item[1])
    if getattr(config, "vocab_size", None) is None:
        raise InputError(
            f"{directory}/config.json: no vocab_size of the whole model; use a model of text alone"
        )
    if largest >= config.vocab_size:
        raise InputError(
            f"{directory}: the vocabulary is not the model's: token {token!r} has the number "
            f"{largest}, but the embedding has {config.vocab_size} rows; {OWN_TOKENIZER}"
        )
    for kind in kinds:
        name = f"{kind}_token_id"
        found, expected = getattr(tokenizer, name), getattr(config, name, None)
        known = expected if isinstance(expected, list) else [expected]
        if None not in (found, expected) and found not in known:
            raise InputError(
                f"{directory}: the vocabulary is not the model's: the tokenizer's {name} is "
                f"{found}, but config.json's is {expected}; {OWN_TOKENIZER}"
            )


def special_tokens(directory: Path, tokenizer: FastTokenizer) -> dict[str, int | None]:
    """The numbers of cls, sep, mask and pad; None for one that the tokenizer lacks.

    So is a cls that does not begin every text and pair, and a sep that does not follow each text:
    where a tokenizer knows a token and leaves it out, all attention to it would be 0.
    """
    kinds = ("cls", "sep", "mask", "pad")
    special = {kind: getattr(tokenizer, f"{kind}_token_id") for kind in kinds}
    texts = ["a", "b"]
    try:
        frames = [_frame(tokenizer, texts[:n]) for n in (1, 2)]
        if not all(frames):
            raise ValueError("texts or pairs get no token")
    except BaseException as error:  # of any kind: a panic of tokenizers is no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise InputError(
            f"{directory}: the tokenizer encodes no text ({one_line(error)}); {OWN_TOKENIZER}"
        ) from error
    if any(frame[:1] != [special["cls"]] for frame in frames):
        special["cls"] = None
    after = [[token for text, token in pairwise(frame) if text == TEXT] for frame in frames]
    if after != [[special["sep"]], [special["sep"]] * 2]:
        special["sep"] = None
    return special


def start_token(tokenizer: FastTokenizer) -> int | None:
    """The number of the token that the tokenizer puts before a text, None where it puts none."""
    first = _frame(tokenizer, ["a"])[0]
    return None if first == TEXT else first


def _frame(tokenizer: FastTokenizer, texts: list[str]) -> list[int]:
    """The special tokens of a text or pair in their order, and TEXT for each text."""
    encoding = tokenizer(*texts, split_special_tokens=True).encodings[0]
    tokens = zip(encoding.sequence_ids, encoding.ids, strict=True)
    runs = groupby(tokens, lambda token: token if token[0] is None else token[0])
    return [run[1] if isinstance(run, tuple) else TEXT for run, _ in runs]
