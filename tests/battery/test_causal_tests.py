"""Losses without heads against hooks on the output projections, and the sets that are disabled."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn.functional import cross_entropy

from tests.core.tiny_decoders import GPT2, HEADS, LAYERS, LLAMA, WIDTH, random_decoder
from workflow_scripts.battery.causal_tests import (
    MOST,
    TEXTS,
    as_grid,
    found_heads,
    losses_of,
    random_heads,
    read_roles,
    rows_of,
    to_test,
)
from workflow_scripts.battery.causal_tests import (
    tests as run_tests,
)
from workflow_scripts.battery.inputs import repeated
from workflow_scripts.core.model import attention

LENGTH = 6
SEQUENCES = repeated(np.arange(5, 60), start=1, n=20, length=LENGTH, seed=2)
SEGMENTS = np.random.default_rng(0).integers(1, 300, (20, 5))


def slow_losses(model, ids: np.ndarray, heads: list[tuple[int, int]], tokens: range) -> float:
    """Mean loss of the `tokens` of one text where what the heads hand to W_O is 0."""
    gpt2, dim, handles = model.config.model_type == "gpt2", WIDTH // HEADS, []
    for layer, head in heads:
        block = model.transformer.h[layer].attn if gpt2 else model.model.layers[layer].self_attn

        def silence(module, args, head=head):
            states = args[0].clone()
            states[..., head * dim : (head + 1) * dim] = 0
            return (states,)

        projection = block.c_proj if gpt2 else block.o_proj
        handles.append(projection.register_forward_pre_hook(silence))
    tensor = torch.from_numpy(ids)[None].long()
    with torch.no_grad():
        logits = model(tensor).logits[0]
    for handle in handles:
        handle.remove()
    each = [cross_entropy(logits[token - 1], tensor[0, token]).item() for token in tokens]
    return float(np.mean(each))


@pytest.mark.parametrize("config", [GPT2, LLAMA], ids=["gpt2", "llama"])
def test_losses_equal_those_of_silenced_projections(config) -> None:
    model = random_decoder(config)
    sets = [[], [(0, 1)], [(0, 1), (1, 3), (1, 0)]]
    parts = {
        "second copy": (SEQUENCES, range(LENGTH + 2, 2 * LENGTH + 1)),
        "first copy": (SEQUENCES, range(2, LENGTH + 1)),
        "text": (SEGMENTS, range(1, SEGMENTS.shape[1])),
    }
    expected = {
        text: [[slow_losses(model, row, heads, tokens) for row in ids[:3]] for heads in sets]
        for text, (ids, tokens) in parts.items()
    }
    attention.open_attention(model)
    disabled = np.stack([as_grid(heads, (LAYERS, HEADS)) for heads in sets])
    found = losses_of(model, SEQUENCES[:3], SEGMENTS[:3], disabled, "zero")
    for text, values in expected.items():
        np.testing.assert_allclose(found[text], values, atol=1e-5)
    assert np.ptp(found["text"], axis=0).max() > 1e-3  # the heads matter


def test_random_heads_are_any_of_the_same_layers() -> None:
    grid = np.zeros((3, 6), bool)
    grid[0, :2] = grid[2, 5] = True
    samples = random_heads(grid, 300, seed=1)
    assert (samples.sum(axis=2) == [2, 0, 1]).all()
    expected = [[1 / 3] * 6, [0] * 6, [1 / 6] * 6]
    np.testing.assert_allclose(samples.mean(axis=0), expected, atol=0.1)


def test_a_role_without_heads_has_no_samples() -> None:
    (none,) = to_test("induction", [], (2, 4), 5, 1)
    assert len(none.random) == none.heads.sum() == 0
    many = [(layer, head) for head in range(3) for layer in range(4)]
    everything, strongest = to_test("sink", many, (4, 6), 5, 1)
    assert strongest.chosen == f"strongest {MOST}"
    assert np.argwhere(strongest.heads).tolist() == sorted(map(list, many[:MOST]))
    assert everything.heads.sum() == len(many)
    assert len(everything.random) == len(strongest.random) == 5
    for n, sets in ((MOST, 1), (MOST + 1, 2)):
        assert len(list(to_test("sink", many[:n], (4, 6), 5, 1))) == sets


def made_up_row(counts: list[int], rng: np.random.Generator) -> dict:
    """The row of as many random heads of each layer as `counts`; every head costs what it likes."""
    shape, n = (len(counts), 9), 20
    costs = rng.standard_t(3, shape)
    heads = [(layer, head) for layer, count in enumerate(counts)
             for head in rng.choice(9, count, replace=False)]  # fmt: skip
    (tested,) = to_test("induction", heads, shape, 19, int(rng.integers(2**31)))
    sets = np.concatenate([tested.heads[None], tested.random])
    losses = (sets * costs).sum(axis=(1, 2))[:, None] + rng.normal(0, 0.1, (len(sets), n))
    intact = dict.fromkeys(TEXTS, np.zeros(n))
    return rows_of(tested, intact, dict.fromkeys(TEXTS, losses), 20, seed=1)[0]


def test_random_heads_are_not_significant_more_often_than_the_level() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame([made_up_row([3, 1, 2, 1], rng) for _ in range(300)])
    most = 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / len(rows))
    assert (rows["p"] <= 0.05).mean() < most
    assert (rows["margin_low"] > 0).mean() < most
    assert 0.45 < rows["p"].mean() < 0.6
    # The interval over sequences holds the samples fixed: as a test it would be wrong.
    assert (rows["excess_low"] > 0).mean() > 0.3


def test_roles_are_read_from_all_tables(tmp_path: Path) -> None:
    heads = {"layer": [0, 0, 1], "head": [0, 1, 0]}
    roles = pd.DataFrame({"role": "induction", **heads, "score": [0.4, 0.1, 0.6]})
    roles["has_role"] = roles["score"] > 0.3
    sinks = pd.DataFrame({"first": "text", **heads, "attention": [0.3, 0.31, 0.2]})
    sinks["has_role"] = sinks["attention"] > 0.3
    sinks = pd.concat([sinks, sinks.assign(first="start", attention=0.9)])
    copying = pd.DataFrame({"role": "copying", **heads, "score": [0.1, 0.9, 0.8]})
    copying["has_role"] = copying["score"] > 0.3
    for name, frame in (("roles", roles), ("sinks", sinks), ("copying", copying)):
        frame.to_parquet(tmp_path / name)
    frame = read_roles(tmp_path / "roles", tmp_path / "sinks", [tmp_path / "copying"])
    expected = {"induction": [(1, 0), (0, 0)], "sink": [(0, 1)], "copying": [(0, 1), (1, 0)]}
    assert found_heads(frame) == expected


def test_rows_of_every_role() -> None:
    """A role that no head has has rows, too; the paired differences are those of the losses."""
    model = attention.open_attention(random_decoder(LLAMA))
    roles = {"previous": [(0, 1)], "duplicate": [], "sink": [(0, 0), (0, 1), (0, 2), (1, 1)]}
    modes = ["zero", "uniform"]
    frame = run_tests(model, roles, SEQUENCES, SEGMENTS, modes, 3, 100, seed=1)
    assert len(frame) == 3 * 3 * 2
    tested = frame[frame["role"] == "previous"]
    np.testing.assert_allclose(tested["excess"], tested["loss"] - tested["random"], atol=1e-9)
    assert tested["n_samples"].eq(3).all()
    assert (tested["random_min"] <= tested["random"]).all()
    assert (tested["p_corrected"] >= tested["p"]).all()
    silent = frame[frame["role"] == "duplicate"]
    assert silent["loss"].isna().all()
    assert silent["note"].eq("no head has this role").all()
    full = frame[frame["role"] == "sink"]
    assert full["p"].between(1 / 4, 1).all()
    families = frame[frame["p"].notna()].groupby(["mode", "text"])
    for _, rows in families:  # two sets each: Holm doubles the smaller p
        first, last = sorted(rows["p"])
        assert sorted(rows["p_corrected"]) == [min(1, 2 * first), max(last, min(1, 2 * first))]
