"""A cache that drops keys gives the outputs of the mask that hides them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import Gemma2Config, PretrainedConfig

from tests.context.test_apply import RECENT, SINKS, TOKENS, WINDOWED, apply, lists
from tests.core.tiny_decoders import GPT2, HEADS, KV_HEADS, LAYERS, LLAMA, random_decoder
from workflow_scripts.context import files
from workflow_scripts.context.documents import cache_bytes
from workflow_scripts.context.streaming_cache import StreamingCache
from workflow_scripts.core.errors import InputError

OPTIONS = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
OPTIONS |= {"output_logits": True, "return_dict_in_generate": True}


@pytest.mark.parametrize("prompt", [3, 20])
@pytest.mark.parametrize(("config", "kv_heads"), [(LLAMA, KV_HEADS), (GPT2, HEADS)])
def test_generation_equals_the_mask_and_keeps_what_is_seen(
    config: PretrainedConfig, kv_heads: int, prompt: int, tmp_path: Path
) -> None:
    text = TOKENS[:, :prompt]
    for full in lists(kv_heads):
        masked, model = random_decoder(config), random_decoder(config)
        apply(masked, tmp_path, full)
        cache = StreamingCache(model, tmp_path)
        expected = masked.generate(text, **OPTIONS)
        found = model.generate(text, past_key_values=cache, **OPTIONS)
        assert torch.equal(found.sequences, expected.sequences)
        torch.testing.assert_close(
            torch.stack(found.logits), torch.stack(expected.logits), atol=1e-4, rtol=0
        )
        kept = np.where(full > files.THRESHOLD, 0, RECENT - 1)  # the next query's own is to come
        size = model.config.hidden_size // HEADS
        assert cache.bytes == 2 * cache_bytes(kept, prompt + 11, SINKS, size, of_number=4)
        plain = random_decoder(config).generate(text, **OPTIONS)
        again = model.generate(text, **OPTIONS)  # without the cache as ever
        torch.testing.assert_close(torch.stack(again.logits), torch.stack(plain.logits))


def test_a_text_in_pieces_equals_the_mask(tmp_path: Path) -> None:
    model = random_decoder(LLAMA)
    with torch.no_grad():
        apply(model, tmp_path, lists(KV_HEADS)[0])
        expected = model(TOKENS).logits
        cache = StreamingCache(model, tmp_path)
        pieces = [model(piece, past_key_values=cache).logits for piece in TOKENS.split(7, 1)]
        apply(model, tmp_path, lists(KV_HEADS)[0])
        again = model(TOKENS).logits
    for found in (torch.cat(pieces, 1), again):
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_what_it_cannot_compute_is_refused(tmp_path: Path) -> None:
    files.write_heads(tmp_path, files.HeadList(np.zeros((LAYERS, KV_HEADS)), SINKS, RECENT))
    model, windowed = random_decoder(LLAMA), random_decoder(WINDOWED)
    padded = torch.ones_like(TOKENS)
    padded[0, :3] = 0
    capped = random_decoder(Gemma2Config(**LLAMA.to_diff_dict()))
    for each, mask in ((model, padded), (windowed, None), (capped, None)):
        with pytest.raises(
            InputError, match="softcap" if each is capped else "padding, or a model"
        ):
            each(TOKENS, attention_mask=mask, past_key_values=StreamingCache(each, tmp_path))
    with pytest.raises(InputError, match=r"\(2, 2\) layers and key-value heads"):
        StreamingCache(random_decoder(GPT2), tmp_path)
