"""Extraction: the same patterns as the plain model, whatever the batches and shards."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

from tests.attention.builders import open_cache
from tests.core.tiny_models import HEADS, LAYERS, tokenizer, write_card
from workflow_scripts.attention import extract
from workflow_scripts.core.data.annotations import Example, write_records

WORDS = "the river flows through an old city and many small towns . a king built it".split()


@pytest.fixture
def study(tiny_model_dir: Path, tmp_path: Path) -> Path:
    """A folder with the card of the tiny model and a corpus of 10 examples."""
    write_card(tmp_path, tiny_model_dir)
    rng = np.random.default_rng(0)
    write_corpus(tmp_path / "corpus.jsonl", rng.integers(3, 25, size=10))
    return tmp_path


def write_corpus(path: Path, lengths: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    pairs = [tuple(" ".join(rng.choice(WORDS, size=n)) for _ in range(2)) for n in lengths]
    write_records(path, [Example(f"e{k}", "d", f"f:{k}", pair) for k, pair in enumerate(pairs)])


def run(study: Path, name: str = "shard.h5", **options: object) -> Path:
    settings = {"max_tokens": 40, "batch_tokens": 200, "device": "cpu"} | options
    model, corpus = study / "model.json", study / "corpus.jsonl"
    extract.main(model=model, corpus=corpus, attention=study / name, **settings)
    return study / name


def test_equals_the_plain_model_one_by_one(study: Path, tiny_model_dir: Path) -> None:
    plain = AutoModel.from_pretrained(
        tiny_model_dir, attn_implementation="eager", trust_remote_code=False
    ).eval()
    texts = [json.loads(line)["texts"] for line in (study / "corpus.jsonl").open()]
    with open_cache(run(study)) as cache:
        assert (cache.n_layers, cache.n_heads, len(cache)) == (LAYERS, HEADS, 10)
        for text, example in zip(texts, cache, strict=True):
            batch = tokenizer()(
                *text,
                truncation=True,
                max_length=40,
                return_tensors="pt",
                return_token_type_ids=True,
            )
            with torch.no_grad():
                attentions = plain(**batch, output_attentions=True).attentions
            expected = torch.cat(attentions).numpy()
            assert example.ids.tolist() == batch["input_ids"][0].tolist()
            assert example.segment.tolist() == batch["token_type_ids"][0].tolist()
            np.testing.assert_allclose(example.pattern, expected, atol=1e-3)
            np.testing.assert_allclose(example.pattern.sum(-1, dtype=np.float32), 1, atol=5e-3)


def test_batches_do_not_matter(study: Path) -> None:
    with (
        open_cache(run(study, "a.h5")) as a,
        open_cache(run(study, "b.h5", batch_tokens=1)) as b,
    ):
        for first, second in zip(a, b, strict=True):
            assert first.id == second.id
            np.testing.assert_allclose(first.pattern, second.pattern, atol=1e-3)


@pytest.mark.parametrize("n_shards", [2, 13])
def test_joined_shards_are_the_unsplit_cache_byte_for_byte(study: Path, n_shards: int) -> None:
    """Of some 5 batches; of 13 shards most are empty."""
    parts = [f"{number}-of-{n_shards}" for number in range(1, n_shards + 1)]
    shards = [run(study, f"{part}.h5", batch_tokens=100, part=part) for part in parts]
    run(study, "joined.h5", parts=shards)
    whole = run(study, "whole.h5", batch_tokens=100)
    assert (study / "joined.h5").read_bytes() == whole.read_bytes()
