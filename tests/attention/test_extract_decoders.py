"""Extraction from decoders: triangles, and the weight that sinks outside the text take."""

import copy
from pathlib import Path

import h5py
import numpy as np
import torch
from transformers import AutoModelForCausalLM

from tests.core.decoder_architectures import OPENED
from tests.core.tiny_decoders import HEADS, LAYERS, TEXTS, VOCABULARY, save_decoder, save_llama
from tests.core.tiny_models import write_card
from workflow_scripts.attention import extract
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card


def extracted(folder: Path, model: Path) -> Path:
    """The cache of three texts of different lengths in one batch."""
    card = write_card(folder, model)
    texts = [*TEXTS, "a dog"]
    examples = [Example(f"e{k}", "d", f"f:{k}", (text,)) for k, text in enumerate(texts)]
    write_records(folder / "corpus.jsonl", examples)
    shard = folder / "a.h5"
    extract.main(card, folder / "corpus.jsonl", shard, max_tokens=60, device="cpu")
    return shard


def eager(model: Path, ids: np.ndarray) -> np.ndarray:
    """[layer, head, query, key] of one text alone."""
    plain = AutoModelForCausalLM.from_pretrained(
        model, attn_implementation="eager", trust_remote_code=False
    ).eval()
    with torch.no_grad():
        out = plain(torch.tensor(ids[None], dtype=torch.long), output_attentions=True)
    return torch.cat(out.attentions).numpy()


def test_a_decoders_cache_is_a_triangle(tmp_path: Path) -> None:
    model = save_llama(tmp_path / "llama")
    path = extracted(tmp_path, model)
    with Cache(path, read_card(tmp_path / "model.json")) as cache:
        assert cache.marks == ("triangular",)
        for example in cache:
            expected = eager(model, example.ids)
            np.testing.assert_allclose(example.pattern, expected, atol=1e-3)
            assert not np.triu(example.pattern, 1).any()
            np.testing.assert_allclose(example.pattern.sum(-1, dtype=float), 1, atol=5e-3)
        lengths = cache.lengths
    with h5py.File(path) as file:
        assert file["pattern/values"].size == LAYERS * HEADS * (lengths * (lengths + 1) // 2).sum()
        assert "outside" not in file["pattern"]


def test_what_sinks_take_is_stored_before_rounding(tmp_path: Path) -> None:
    config = copy.deepcopy(OPENED["gpt_oss"])
    config.vocab_size = VOCABULARY
    model = save_decoder(config, tmp_path / "gpt-oss")
    path = extracted(tmp_path, model)
    with Cache(path, read_card(tmp_path / "model.json")) as cache:
        assert cache.marks == ("triangular", "sinks")
        for example in cache:
            expected = 1 - eager(model, example.ids)[..., : len(example.ids)].sum(-1)
            assert expected.max() > 0.1
            np.testing.assert_allclose(example.outside, expected, atol=1e-5)
            of_rounded = 1 - example.pattern.sum(-1, dtype=float)
            assert np.abs(of_rounded - expected).max() > 1e-5
