"""The joint vocabulary: what is decoded is what was encoded."""

import pytest
from transformers import PreTrainedTokenizerFast

from workflow_scripts.translation.translator_training import END, PAD, UNKNOWN, learnt_vocabulary

TEXTS = ["Ein Mann, der (schnell) läuft.", 'A man runs "fast".', "Zwei Männer laufen!"] * 5


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return learnt_vocabulary(TEXTS, 60)


@pytest.mark.parametrize("text", [*TEXTS[:3], "laufen Ein man, (der)"])
def test_decoding_gives_the_text_back(tokenizer: PreTrainedTokenizerFast, text: str) -> None:
    ids = tokenizer(text)["input_ids"]
    assert ids.count(tokenizer.eos_token_id) == 1
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_spaces_and_composed_characters_are_made_one(tokenizer: PreTrainedTokenizerFast) -> None:
    plain = tokenizer("der läuft")["input_ids"]
    assert tokenizer("  der\u00a0\t la\u0308uft ")["input_ids"] == plain
    assert tokenizer.unk_token_id not in plain


def test_the_size_and_the_special_tokens(tokenizer: PreTrainedTokenizerFast) -> None:
    assert len(tokenizer) == 60
    assert tokenizer.convert_tokens_to_ids([PAD, END, UNKNOWN]) == [0, 1, 2]
    assert tokenizer("日")["input_ids"][1:] == [tokenizer.unk_token_id, tokenizer.eos_token_id]


def test_the_same_texts_give_the_same_vocabulary(tokenizer: PreTrainedTokenizerFast) -> None:
    assert learnt_vocabulary(TEXTS, 60).get_vocab() == tokenizer.get_vocab()
    assert learnt_vocabulary(reversed(TEXTS), 60).get_vocab() == tokenizer.get_vocab()
