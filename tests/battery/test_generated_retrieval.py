"""Retrieval while the answer is generated, against passes without a cache, and by hand."""

import numpy as np
import pytest

from tests.battery.plain_heads import plain_heads
from tests.battery.test_retrieval import TEXT
from tests.context.test_apply import WINDOWED
from tests.core.tiny_decoders import GPT2, LLAMA, random_decoder
from workflow_scripts.battery.generated_retrieval import copied_share, generated, recall
from workflow_scripts.core.model import attention


@pytest.mark.parametrize("config", [GPT2, LLAMA, WINDOWED], ids=["gpt2", "llama", "window"])
def test_tokens_and_keys_are_those_of_whole_passes(config) -> None:
    plain, model = random_decoder(config), attention.open_attention(random_decoder(config))
    tokens, keys = generated(model, TEXT)
    ids = TEXT.ids[: TEXT.answer[0]]
    for step, token in enumerate(tokens):
        expected = plain_heads(plain, ids).pattern[:, :, len(ids) - 1].argmax(-1)
        np.testing.assert_array_equal(keys[:, :, step], expected)
        ids = np.append(ids, token)


def test_copied_tokens_by_hand() -> None:
    """The needle has 11, 12, 13 and 14; a head that copies 12 twice, and 13, has half of them."""
    tokens, at = np.array([12, 9, 12, 13, 14]), TEXT.needle
    keys = np.array([[at[1], at[1], at[3], at[2], TEXT.answer[4]], at])  # [head, token]
    assert copied_share(tokens, keys, TEXT).tolist() == [0.5, 0.25]


def test_recall_counts_words_as_often_as_the_reference_has_them() -> None:
    assert recall("A map, a MAP and a map", "a torn map and a bell") == pytest.approx(4 / 6)
