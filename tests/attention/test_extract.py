"""Extraction: the same patterns as the plain model, whatever the batches and shards."""

import json
import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

from tests.attention.builders import open_cache
from tests.core.tiny_models import HEADS, LAYERS, tokenizer, write_card
from workflow_scripts.attention import extract, join_shards
from workflow_scripts.core.data.annotations import Example, write_examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import extraction
from workflow_scripts.core.run.job import call

ROOT = Path(__file__).parents[2]
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
    write_examples(path, [Example(f"e{k}", "d", f"f:{k}", pair) for k, pair in enumerate(pairs)])


def run(study: Path, name: str = "shard.h5", **options: object) -> Path:
    settings = {"max_tokens": 40, "batch_tokens": 200, "device": "cpu"} | options
    model, corpus = study / "model.json", study / "corpus.jsonl"
    extract.main(model=model, corpus=corpus, shard=study / name, **settings)
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


@pytest.mark.parametrize("batch_tokens", [1, 90, 10**6])
def test_batches_do_not_matter(study: Path, batch_tokens: int) -> None:
    with (
        open_cache(run(study, "a.h5")) as a,
        open_cache(run(study, "b.h5", batch_tokens=batch_tokens)) as b,
    ):
        for first, second in zip(a, b, strict=True):
            assert first.id == second.id
            np.testing.assert_allclose(first.pattern, second.pattern, atol=1e-3)


def test_one_layer_of_a_batch_is_in_memory(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers, alive = [], []
    original = extraction.run

    def watched(*arguments: object) -> None:
        *others, hand, grams = arguments

        def handed(layer: int, patterns: np.ndarray, outside: None) -> None:
            alive.append(sum(one() is not None for one in layers))
            layers.append(weakref.ref(patterns))
            hand(layer, patterns, outside)

        original(*others, handed, grams)

    monkeypatch.setattr(extraction, "run", watched)
    run(study, batch_tokens=90)
    assert len(alive) > 2 * LAYERS
    assert set(alive) == {0}


@pytest.mark.parametrize("n_shards", [1, 2, 3, 13])
def test_joined_shards_are_the_unsplit_cache_byte_for_byte(study: Path, n_shards: int) -> None:
    """Of some 5 batches; of 13 shards most are empty."""
    parts = [f"{number}-of-{n_shards}" for number in range(1, n_shards + 1)]
    shards = [run(study, f"{part}.h5", batch_tokens=100, part=part) for part in parts]
    join_shards.main(shards, study / "model.json", study / "joined.h5")
    whole = run(study, "whole.h5", batch_tokens=100)
    assert (study / "joined.h5").read_bytes() == whole.read_bytes()


def test_a_text_longer_than_the_positions(study: Path) -> None:
    write_corpus(study / "corpus.jsonl", np.array([5, 80]))
    with pytest.raises(InputError, match=r"f:1: 1\d\d tokens, but the model has 128 positions"):
        run(study, max_tokens=500)


def test_bfloat16_is_close(study: Path) -> None:
    with (
        open_cache(run(study, "a.h5")) as a,
        open_cache(run(study, "b.h5", precision="bfloat16")) as b,
    ):
        difference = np.mean([np.abs(x.pattern - y.pattern).mean() for x, y in zip(a, b)])  # noqa: B905
    assert 0 < difference < 0.02


def test_killed_while_writing(study: Path) -> None:
    """No cache is left by a killed job, and the next run makes it from the beginning."""
    write_corpus(study / "corpus.jsonl", np.full(3000, 18))
    command = [
        *(sys.executable, "-m", "workflow_scripts.attention.extract"),
        *("--model", "model.json", "--corpus", "corpus.jsonl", "--shard", "shard.h5"),
        *("--max-tokens", "40", "--batch-tokens", "40", "--device", "cpu"),
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    job = subprocess.Popen(command, cwd=study, env=environment, stderr=subprocess.PIPE, text=True)
    partial = study / "shard.h5.part"
    # A line reports that a tenth is written; the file has its full size from the beginning.
    assert any(line.startswith("attention: ") for line in job.stderr), "it ended before a tenth"
    assert job.poll() is None, "the job ended before it could be killed"
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert partial.exists()
    assert not (study / "shard.h5").exists()
    with pytest.raises(InputError, match=r"not complete|truncated"):
        open_cache(partial)
    write_corpus(study / "corpus.jsonl", np.full(20, 18))
    paths = {"model": "model.json", "corpus": "corpus.jsonl", "shard": "shard.h5"}
    settings = {"max_tokens": 40, "batch_tokens": 40, "device": "cpu"}
    call(extract.main, {name: study / file for name, file in paths.items()} | settings)
    assert not partial.exists()
    with open_cache(study / "shard.h5") as cache:
        assert len(cache) == 20
