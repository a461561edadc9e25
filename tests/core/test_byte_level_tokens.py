"""Words and their tokens where a token includes the blank before its word."""

import numpy as np
import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokenizers import trainers as training
from transformers import PreTrainedTokenizerFast

from tests.core.tiny_decoders import TEXTS, byte_tokenizer
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.tokens import Tokens, token_texts, tokenize

TEXT = "1  the old\n\n river, café 12 \u4f60\u597d  \U0001f600\u00a0boat's\t town "
SPANS = [(0, 1), (3, 6), (7, 10), (13, 18), (18, 19), (20, 24), (25, 27), (28, 30), (32, 33)]
SPANS += [(34, 38), (38, 40), (42, 46)]


def trained(inner: Tokenizer, **options: object) -> PreTrainedTokenizerFast:
    inner.train_from_iterator(TEXTS, training.BpeTrainer(show_progress=False, **options))
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<unk>")


def sentencepiece(normalizer: normalizers.Normalizer | None, splits: bool) -> object:
    """As those of Llama 2 and Gemma, which do not split, and of XLM-R."""
    inner = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    inner.normalizer = normalizer
    inner.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    if splits:
        inner.pre_tokenizer = pre_tokenizers.Metaspace()
    special = [AddedToken("<unk>"), *(f"<0x{byte:02X}>" for byte in range(256))]
    return trained(inner, vocab_size=300, special_tokens=special)


def with_prefix() -> object:
    """As RoBERTa's: a blank is put before the text, and offsets are without blanks."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    inner.decoder = decoders.ByteLevel()
    inner.post_processor = processors.ByteLevel(trim_offsets=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return trained(inner, vocab_size=300, initial_alphabet=alphabet, special_tokens=["<unk>"])


UNDERLINE = normalizers.Replace(" ", "\u2581")
TOKENIZERS = {
    "gpt2": byte_tokenizer,
    "roberta": with_prefix,
    "llama 2": lambda: sentencepiece(
        normalizers.Sequence([normalizers.Prepend("\u2581"), UNDERLINE]), splits=False
    ),
    "gemma": lambda: sentencepiece(UNDERLINE, splits=False),
    "xlm-r": lambda: sentencepiece(None, splits=True),
}


@pytest.fixture(params=TOKENIZERS, scope="module")
def tokenizer(request: pytest.FixtureRequest) -> PreTrainedTokenizerFast:
    return TOKENIZERS[request.param]()


def tokens_of(tokenizer: object, text: str, spans: list[tuple[int, int]] | None) -> Tokens:
    words = None if spans is None else (tuple(spans),)
    return tokenize([Example("e", "d", "file.txt:1", (text,), words)], tokenizer, 200, 200)[0]


def spelled(tokenizer: PreTrainedTokenizerFast, tokens: Tokens, word: int) -> str:
    """What the tokens of a word spell, without blanks."""
    return tokenizer.decode(tokens.ids[tokens.word == word].tolist()).strip()


def test_given_words_are_spelled_by_their_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = tokens_of(tokenizer, TEXT, SPANS)
    found = [spelled(tokenizer, tokens, word) for word in range(tokens.n_words)]
    assert found == [TEXT[start:end] for start, end in SPANS]


def test_words_of_a_text_are_spelled_by_their_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    tokens = tokens_of(tokenizer, TEXT, None)
    found = [spelled(tokenizer, tokens, word) for word in range(tokens.n_words)]
    assert "".join(found) == "".join(TEXT.split())
    assert not any(" " in word for word in found)
    joined = " ".join(found)
    assert all(word in joined.split() for word in ("1", "the", "old", "café", "town"))


def test_tokens_of_blanks_alone_can_be_seen() -> None:
    tokenizer = byte_tokenizer()
    ids = np.array(tokenizer("the\n boat").input_ids)
    texts = token_texts(tokenizer, ids)
    assert "".join(texts).replace("␣", "") == "theboat"
    blank = np.array(tokenizer.convert_tokens_to_ids(["\u0120", "\u010a"]))
    assert token_texts(tokenizer, blank) == ["␣", "␣"]
