"""A decoder's loss with heads disabled: effects, intervals and tests over documents, by hand."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests.core.builders import plain_ends
from tests.core.tiny_decoders import HEADS, KV_HEADS, LAYERS, byte_tokenizer, save_llama
from workflow_scripts.ablation import next_token_sweep
from workflow_scripts.ablation.next_token_scores import score
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import causal_engine, models
from workflow_scripts.core.model.ablation_engine import GROUP

UNITS = {"head": ["zero", "mean"], "all-but-one": ["zero"], GROUP: ["zero"]}
TEXTS = ["the river and the old town", "a dog saw the boat", "people walk to the bank", "a cat"]
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, its card, and a corpus of four segments of three documents, swept."""
    folder = tmp_path_factory.mktemp("study")
    source = {"path": str(save_llama(folder / "llama"))}
    write_card(models.describe(folder / "llama", "llama", source), folder / "model.json")
    lines = [
        {"id": str(at), "document": "one" if at < 2 else str(at), "source": "f:1", "texts": [text]}
        for at, text in enumerate(TEXTS)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "corpus.jsonl").write_text(text, encoding="utf-8")
    sweep(folder, 3)
    return folder


def sweep(folder: Path, n_segments: int, reference: int = 5) -> None:
    arguments = {"reference": reference, "max_tokens": 32, "pass_tokens": 100, "seed": 1}
    paths = (folder / "model.json", folder / "corpus.jsonl", folder / "losses.parquet")
    next_token_sweep.main(*paths, UNITS, n_segments, device="cpu", **arguments)


def test_sums_of_every_variant_and_segment(study: Path) -> None:
    frame = tables.read(study / "losses.parquet")
    counts = frame.groupby(["unit", "mode"], sort=False).size()
    heads, groups = 3 * LAYERS * HEADS, 3 * LAYERS * KV_HEADS
    assert counts.to_dict() == {
        ("none", "none"): 3,
        ("head", "zero"): heads,
        ("head", "mean"): heads,
        ("all-but-one", "zero"): heads,
        (GROUP, "zero"): groups,
    }
    model = causal_engine.load_causal(study / "llama", CPU)
    for row in frame[frame["unit"] == "none"].itertuples():
        inputs = byte_tokenizer()([TEXTS[int(row.id)]], return_tensors="pt")
        with torch.no_grad():
            nats = causal_engine.token_losses(model, inputs)[0]
        assert row.n_tokens == len(nats)
        assert row.nats == pytest.approx(float(nats.sum()), abs=1e-4)


def test_mode_mean_needs_other_segments(study: Path) -> None:
    with pytest.raises(InputError, match=r"lower ablation\.text\.n_segments or remove mean"):
        sweep(study, 4)


def losses(effects: np.ndarray, documents: list[str]) -> pd.DataFrame:
    """The plain model and heads 1-1 and 1-2, whose effects are [head, segment]; 3 tokens each."""
    rows = [
        ("none", "none", -1, -1, *np.zeros(len(documents))),
        ("head", "zero", 0, 0, *effects[0]),
    ]
    rows.append(("head", "zero", 0, 1, *effects[1]))
    frames = []
    for unit, mode, layer, head, *changes in rows:
        nats = np.arange(1, 1 + len(documents)) + np.array(changes)
        columns = {"unit": unit, "mode": mode, "layer": layer, "head": head, "nats": nats}
        ids = [str(at) for at in range(len(documents))]
        frames.append(pd.DataFrame(columns | {"id": ids, "document": documents, "n_tokens": 3}))
    return pd.concat(frames, ignore_index=True)


def test_effects_intervals_and_tests_are_over_documents() -> None:
    documents = ["a", "a", "b", "c", "d", "e"]
    effects = np.array([[0.3, 0.6, 0.3, 0.9, 0.6, 0.3], [0.3, -0.3, 0.3, -0.3, 0.3, -0.3]])
    found = score(losses(effects, documents), 2000, 20_000, 1)
    assert found["baseline"].tolist() == pytest.approx([21 / 18] * 2)
    assert found["effect"].tolist() == pytest.approx((effects.sum(axis=1) / 18).tolist())
    assert found[["n", "n_documents", "n_tokens"]].iloc[0].tolist() == [6, 5, 18]
    by_document = np.stack([effects[:, :2].sum(axis=1), *effects[:, 2:].T], axis=1)
    signs = np.array(list(product([1, -1], repeat=5)))  # every swap of whole documents
    null = np.abs(signs @ by_document.T)
    exact = (null >= np.abs(by_document.sum(axis=1)) - 1e-9).mean(axis=0)
    np.testing.assert_allclose(found["p"], exact)
    assert (found["p_corrected"] >= found["p"]).all()
    n_tokens = np.array([6, 3, 3, 3, 3])
    expected = [plain_ends(nats, n_tokens, 2000, 1) for nats in by_document]
    np.testing.assert_allclose(found[["ci_low", "ci_high"]], expected, atol=1e-9)
