"""Wordpieces, their words and segments."""

import pytest

from tests.core.tiny_models import tokenizer
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.core.errors import InputError


def example(*texts: str, words: tuple | None = None) -> Example:
    return Example("e", "d", "file.txt:3", texts, words)


def tokenize_one(case: Example, max_tokens: int = 128):
    return tokenize([case], tokenizer(), max_tokens, 128)[0]


def test_two_texts() -> None:
    tokens = tokenize_one(example("the river flows", "a city"))
    names = tokenizer().convert_ids_to_tokens(tokens.ids.tolist())
    assert names == ["[CLS]", "the", "river", "flow", "##s", "[SEP]", "a", "city", "[SEP]"]
    assert tokens.word.tolist() == [-1, 0, 1, 2, 2, -1, 3, 4, -1]
    assert tokens.segment.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert tokens.n_words == 5


def test_given_words_are_followed_by_characters() -> None:
    text = "the dog's river-flow"
    words = ((0, 3), (4, 7), (7, 9), (10, 20))
    tokens = tokenize_one(example(text, words=(words,)))
    names = tokenizer().convert_ids_to_tokens(tokens.ids.tolist())
    assert names == ["[CLS]", "the", "dog", "'", "s", "river", "-", "flow", "[SEP]"]
    assert tokens.word.tolist() == [-1, 0, 1, 2, 2, 3, 3, 3, -1]


def test_a_vanished_word_has_no_wordpiece() -> None:
    text = "the \u00ad\u0007 dog"
    tokens = tokenize_one(example(text, words=(((0, 3), (4, 6), (7, 10)),)))
    assert tokens.word.tolist() == [-1, 0, 2, -1]
    assert tokens.n_words == 3


def test_too_long_for_the_model_names_the_source() -> None:
    long = example("the river " * 100)
    with pytest.raises(InputError, match=r"file.txt:3: 150 tokens.*128 positions.*max_tokens"):
        tokenize([long], tokenizer(), 150, 128)


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_text_far_longer_than_what_is_kept_has_the_tokens_of_all_of_it(side: str) -> None:
    long, fast = "the river flows " * 500 + "unbelievably", tokenizer()
    fast.truncation_side = side
    for texts in ((long,), (long, "a city"), ("a city", long)):
        (tokens,) = tokenize([example(*texts)], fast, 20, 128)
        options = {"truncation": "longest_first", "max_length": 20}
        assert tokens.ids.tolist() == fast(*texts, **options).input_ids
