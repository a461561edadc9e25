"""Passkeys in documents, and whether they are generated, against transformers' own generation."""

from pathlib import Path

import numpy as np

from tests.context.test_apply import RECENT, SINKS, TOKENS, apply
from tests.core.test_causal_engine import opened, some_tokens
from tests.core.tiny_decoders import KV_HEADS, LAYERS, LLAMA, byte_tokenizer, random_decoder
from workflow_scripts.context.context_recall import (
    QUESTION,
    STATEMENT,
    recalled,
    with_keys,
)
from workflow_scripts.core.data.tokens import Tokens


def test_a_key_is_recalled_where_greedy_search_generates_it(tmp_path: Path) -> None:
    streaming = np.array([np.zeros((LAYERS, KV_HEADS), int), np.full((LAYERS, KV_HEADS), RECENT)])
    generated = []
    for full in (np.ones((LAYERS, KV_HEADS)), np.zeros((LAYERS, KV_HEADS))):
        model = random_decoder(LLAMA)
        apply(model, tmp_path, full)
        options = {"max_new_tokens": 3, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
        text = TOKENS[:, : 20 - len(generated)]  # of different lengths
        generated.append(model.generate(text, **options)[0].numpy())
    altered = [each.copy() for each in generated]
    for each in altered:
        each[-2] ^= 1
    texts = [Tokens("", ids, ids, ids, len(ids)) for ids in (*generated, *altered)]
    found = recalled(opened(LLAMA), texts, [3] * 4, streaming, SINKS)
    assert found.tolist() == [[True, False, False, False], [False, True, False, False]]
    assert recalled(opened(LLAMA), texts, [1, 1, 3, 2], streaming[:1], SINKS)[0, 0]


def test_keys_lie_where_streaming_hides_them_and_are_asked_for_at_the_end() -> None:
    tokenizer, document = byte_tokenizer(), max(some_tokens(), key=len)
    found, lengths = with_keys([document] * 2, tokenizer, 2, 1, 2, seed=1)
    keys, places = set(), []
    for text, length in zip(found, lengths, strict=True):
        ids, key = text.ids.tolist(), tokenizer.decode(text.ids[-length:])
        hidden = tokenizer.encode(STATEMENT.format(key))
        places.append(next(at for at in range(len(ids)) if ids[at : at + len(hidden)] == hidden))
        around = ids[: places[-1]] + ids[places[-1] + len(hidden) :]
        question = tokenizer.encode(QUESTION + key)
        assert around == document.ids.tolist() + question
        keys.add(key)
    assert len(keys) == 4 and places == [4, 8] * 2  # between the first token and the last two of 14
