"""Texts longer than what is kept of them: their tokens, and the memory that they take."""

import os
import random
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Encoding,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokenizers.trainers import BpeTrainer, UnigramTrainer, WordPieceTrainer
from transformers import PreTrainedTokenizerFast as FastTokenizer

from workflow_scripts.core.data import tokens
from workflow_scripts.core.data.examples import Example

TRAINING = [
    "the river flows north of the old city, unbelievable!",
    "a aa aaa  ab ba\n\tcafé 東京",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LEARNT = {"special_tokens": SPECIAL, "show_progress": False}
GIGABYTE = 2**30
KINDS: dict[str, Callable[[], FastTokenizer]] = {}


def kind(build: Callable[[], FastTokenizer]) -> Callable[[], FastTokenizer]:
    KINDS[build.__name__] = build
    return build


def finished(inner: Tokenizer, side: str = "right") -> FastTokenizer:
    """With the special tokens of a pair, and an added token that holds a blank and eats others."""
    if inner.post_processor is None:
        inner.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    inner.add_tokens([AddedToken("old city", lstrip=True, rstrip=True)])
    names = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP")}
    return FastTokenizer(tokenizer_object=inner, truncation_side=side, **names)


@kind
def wordpiece() -> FastTokenizer:
    """As BERT: characters are deleted, words of more than 100 letters are [UNK]."""
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.train_from_iterator(TRAINING, WordPieceTrainer(**LEARNT, vocab_size=90))
    return finished(inner)


@kind
def byte_level() -> FastTokenizer:
    """As RoBERTa: the post-processor moves the starts of tokens that begin with a blank."""
    inner = Tokenizer(models.BPE(unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.train_from_iterator(TRAINING, BpeTrainer(**LEARNT, vocab_size=300))
    inner.post_processor = processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2))
    return finished(inner)


@kind
def unigram() -> FastTokenizer:
    """As XLM-R: NFKC, blanks stripped, a word is what stands between blanks."""
    inner = Tokenizer(models.Unigram())
    strip = normalizers.Strip()
    inner.normalizer = normalizers.Sequence([normalizers.NFKC(), strip])
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = UnigramTrainer(**LEARNT, unk_token="[UNK]", vocab_size=60)
    inner.train_from_iterator(TRAINING, trainer)
    return finished(inner)


@kind
def one_word() -> FastTokenizer:
    """As LLaMA: no pre-tokenizer, so that a text is one word."""
    inner = Tokenizer(models.BPE(unk_token="[UNK]"))
    inner.normalizer = normalizers.Replace(" ", "▁")
    inner.train_from_iterator(TRAINING, BpeTrainer(**LEARNT, vocab_size=80))
    return finished(inner)


@kind
def cut_on_the_left() -> FastTokenizer:
    tokenizer = wordpiece()
    tokenizer.truncation_side = "left"
    return tokenizer


BUILT = {name: build() for name, build in KINDS.items()}
PIECES = [
    *"ab é\n\t,!東\u0301\u00ad\u200b",
    "the ",
    "river ",
    "old city",
    "aaaa",
    "x" * 40,
    "[SEP]",
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=120).map("".join)


def tokens_of(name: str, texts: tuple[str, ...], room: int) -> list[tuple[int, int, int]]:
    read = tokens._tokenize_example(Example("e", "d", "s", texts), BUILT[name], room)
    return list(zip(read.ids.tolist(), read.word.tolist(), read.segment.tolist(), strict=True))


def words_by_letters(encoding: Encoding, texts: tuple[str, ...], which: int) -> np.ndarray:
    """The words of one text's tokens, by the letters of each: one that has none has no word, -1."""
    owned = [at for at, sequence in enumerate(encoding.sequence_ids) if sequence == which]
    words, before = np.full(len(owned), -1), None
    for place, at in enumerate(owned):
        start, stop = encoding.offsets[at]
        letters = [i for i in range(start, stop) if not texts[which][i].isspace()]
        if not letters or (encoding.tokens[at] in "Ġ▁" != texts[which][start:stop]):
            continue
        piece = encoding.word_ids[at]
        if before is None:
            words[place] = encoding.word_ids[owned[0]]
        else:
            gap = texts[which][before[1] + 1 : letters[0]]
            words[place] = before[2] + (before[0] != piece or any(map(str.isspace, gap)))
        before = (piece, letters[-1], words[place])
    return words


def by_the_library(name: str, texts: tuple[str, ...], room: int) -> list[tuple[int, int, int]]:
    """What the tokenizers library itself keeps, as (id, word, segment)."""
    (encoding,) = BUILT[name](
        *texts, truncation="longest_first", max_length=room, split_special_tokens=True
    ).encodings
    words = np.array([-1 if word is None else word for word in encoding.word_ids])
    second = np.array([text == 1 for text in encoding.sequence_ids])
    first = np.array([text == 0 for text in encoding.sequence_ids])
    if name not in ("wordpiece", "cut_on_the_left"):  # whose tokens have no blanks
        for number, chosen in enumerate((first, second)):
            words[chosen] = words_by_letters(encoding, texts, number)
    words[second & (words >= 0)] += words[first].max(initial=-1) + 1
    # The special token after the second text belongs to it.
    segments = np.maximum.accumulate(second)
    return list(zip(encoding.ids, words.tolist(), segments.astype(int).tolist(), strict=True))


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=60, deadline=None)
@given(texts=st.tuples(TEXTS) | st.tuples(TEXTS, TEXTS), room=st.integers(6, 40))
def test_what_is_kept_is_what_the_library_keeps(
    name: str, texts: tuple[str, ...], room: int
) -> None:
    assert tokens_of(name, texts, room) == by_the_library(name, texts, room)


def test_what_follows_64_characters_a_token_is_not_read() -> None:
    text = "a river " * 1000
    longer = "x" * 10 + text * 100
    for name in ("wordpiece", "cut_on_the_left"):
        kept = tokens_of(name, (text, "the old city"), 20)
        assert kept == by_the_library(name, (text, "the old city"), 20)
    whole = tokens_of("cut_on_the_left", (longer,), 20)
    assert whole == by_the_library("cut_on_the_left", (longer,), 20)


def read_within_a_gigabyte() -> None:
    """Two texts of 240,000 words, one, and two of one word each, within 1 GB of address space."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))
    words = random.Random(1).choices(TRAINING[0].split(), k=240_000)
    text, word = " ".join(words), "a" * 400_000
    cases = (wordpiece, (text, text)), (byte_level, (text,)), (one_word, (word, word))
    for build, texts in cases:
        (read,) = tokens.tokenize([Example("e", "d", "s", texts)], build(), 128, 128)
        assert len(read) == 128


def test_long_texts_fit_into_a_gigabyte() -> None:
    code = f"from {__name__} import read_within_a_gigabyte; read_within_a_gigabyte()"
    # Each thread of a pool would reserve address space that it never uses.
    one = dict.fromkeys(("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | one
    )
    assert done.returncode == 0, done.stderr[-2000:]
