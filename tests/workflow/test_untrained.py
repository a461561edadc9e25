"""Untrained copies: their tables equal a plain pass of a random model; claims have their range."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer

from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.attention.untrained import random_copy
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import tokenize
from workflow_scripts.patterns.annotated_maps import CLASSES
from workflow_scripts.patterns.pattern_network import PatternNetwork, predict, to_image

N_SEGMENTS, MAX_TOKENS = 4, 40


def test_a_copy_is_measured_as_the_model_is(
    tiny_study: TinyStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attention to the previous token in a plain loop over eager attention."""
    monkeypatch.chdir(tiny_study.folder)
    results = tiny_study.folder / "results/tiny"
    card = read_card(results / "tiny/attention/model.json")
    first, again, other = (
        random_copy(card, seed, tmp_path / name) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first["weights"] == again["weights"] != other["weights"] != card["weights"]
    model = AutoModel.from_pretrained(tmp_path / "a", attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "a")
    examples = read_examples(results / "corpora/made-up.jsonl")[:N_SEGMENTS]
    means = []
    for example in examples:
        tokens = tokenizer(
            *example.texts, truncation=True, max_length=MAX_TOKENS, return_tensors="pt"
        )
        with torch.no_grad():
            layers = torch.stack(model(**tokens, output_attentions=True).attentions)[:, 0]
        means.append(layers.diagonal(-1, -2, -1).mean(-1).numpy())  # [layer, head]
    plain = np.mean(means, axis=0)
    table = pd.read_parquet(results / "tiny/untrained/1/surface/position.parquet")
    found = table[table["target"] == "previous"].sort_values(["layer", "head"])["attention"]
    np.testing.assert_allclose(found.to_numpy().reshape(plain.shape), plain, atol=1e-3)


def test_maps_of_a_copy_are_classified_as_the_models_are(
    tiny_study: TinyStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the network, in a plain loop over eager attention; the printed table has the mean."""
    monkeypatch.chdir(tiny_study.folder)
    results = tiny_study.folder / "results/tiny"
    random_copy(read_card(results / "tiny/attention/model.json"), 1, tmp_path / "copy")
    model = AutoModel.from_pretrained(tmp_path / "copy", attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "copy")
    network = PatternNetwork()
    network.load_state_dict(load_file(results / "patterns/classifier.safetensors"))
    network.eval()
    examples, plain = read_examples(results / "tasks/mrpc.jsonl")[:N_SEGMENTS], []
    for tokens in tokenize(examples, tokenizer, 512, 512):
        read = {"input_ids": tokens.ids, "token_type_ids": tokens.segment}
        inputs = {name: torch.as_tensor(values)[None].long() for name, values in read.items()}
        with torch.no_grad():
            layers = torch.stack(model(**inputs, output_attentions=True).attentions)[:, 0]
        images = to_image(layers.numpy().astype(np.float16)).flatten(0, 1)
        plain.append(predict(network, images).argmax(axis=1).reshape(layers.shape[:2]))
    table = pd.read_parquet(results / "tiny/untrained/1/patterns/shares.parquet")
    assert table["n"].eq(N_SEGMENTS).all() and set(table["stage"]) == {"pretrained"}
    found = table[table["method"] == "network"].pivot(
        index=["layer", "head"], columns="class", values="share"
    )[list(CLASSES)]
    expected = (np.stack(plain)[..., None] == np.arange(len(CLASSES))).mean(0)
    np.testing.assert_allclose(found.to_numpy().reshape(expected.shape), expected)
    printed = pd.read_csv(results / "tiny/tables/kovaleva2019-patterns.csv")
    rows = printed[printed["stage"] == "untrained"].set_index("class")
    both = pd.concat(
        pd.read_parquet(results / f"tiny/untrained/{seed}/patterns/shares.parquet")
        for seed in (1, 2)
    )
    means = 100 * both[both["method"] == "network"].groupby("class")["share"].mean()
    np.testing.assert_allclose(rows["network"], means[rows.index], atol=0.05)


def test_claims_have_the_range_of_the_copies(tiny_study: TinyStudy) -> None:
    results = tiny_study.folder / "results/tiny/tiny"
    claims = pd.read_csv(results / "tables/claims.csv").set_index("id")
    shares = []
    for seed in (1, 2):
        table = pd.read_parquet(results / f"untrained/{seed}/surface/position.parquet")
        below = table[table["target"] == "self"]["attention"] < 0.1
        shares.append(100 * below.mean())
    row = claims.loc["clark-self"]
    assert [row["untrained_low"], row["untrained_high"]] == [min(shares), max(shares)]
    assert pd.isna(claims.loc["clark-table1-det", "untrained_low"])  # needs an annotation
    shown = claims.loc[["kovaleva-heterogeneous"]].set_index("case")["untrained_low"]
    assert shown.between(0, 100).all()
