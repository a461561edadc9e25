"""Scores without heads against hooks on the output projections, and the sets that are disabled."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import chisquare
from torch.nn.functional import cross_entropy

from tests.core.tiny_decoders import GPT2, HEADS, LAYERS, LLAMA, WIDTH, random_decoder
from workflow_scripts.battery.causal_tests import (
    TEXTS,
    KnockOut,
    as_grid,
    doses_of,
    found_heads,
    rank,
    read_roles,
    rows_of,
    scores_of,
    to_test,
)
from workflow_scripts.battery.causal_tests import (
    tests as run_tests,
)
from workflow_scripts.battery.inputs import repeated
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.causal_engine import ranked_first

LENGTH = 6
SEQUENCES = repeated(np.arange(5, 60), start=1, n=20, length=LENGTH, seed=2)
SEGMENTS = np.random.default_rng(0).integers(1, 300, (20, 5))


def slow_scores(
    model, ids: np.ndarray, heads: list[tuple[int, int]], tokens: range
) -> tuple[float, float]:
    """Mean loss, and share ranked first, of a text's `tokens` where heads hand 0 to W_O."""
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
    first = [logits[token - 1].argmax().item() == ids[token] for token in tokens]
    return float(np.mean(each)), float(np.mean(first))


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
        text: np.array(
            [[slow_scores(model, row, heads, tokens) for row in ids[:3]] for heads in sets]
        )
        for text, (ids, tokens) in parts.items()
    }
    attention.open_attention(model)
    disabled = np.stack([as_grid(heads, (LAYERS, HEADS)) for heads in sets])
    of = model, SEQUENCES[:3], SEGMENTS[:3], disabled, "zero"
    found, first = scores_of(*of), scores_of(*of, ranked_first)
    for text, values in expected.items():
        np.testing.assert_allclose(found[text], values[..., 0], atol=1e-5)
        np.testing.assert_allclose(first[text], values[..., 1], atol=1e-6)
    assert np.ptp(found["text"], axis=0).max() > 1e-3  # the heads matter


def test_sets_are_of_the_same_layers_and_free_or_dosed() -> None:
    """All different; of a role of one head, all other heads of its layer and no mixed ones."""
    heads = [(0, 0), (0, 1), (2, 5)]
    tested = to_test("induction", heads, (3, 6), 40, seed=1)
    assert (tested.sets.sum(axis=2) == [2, 0, 1]).all()
    assert len(tested.free) == 6 * 5  # C(4, 2) C(5, 1)
    assert len(np.unique(tested.sets, axis=0)) == len(tested.sets)
    n = len(tested.free)
    assert tested.dose[0] == 3
    assert (tested.dose[1 : 1 + n] == 0).all()
    assert set(tested.dose[1 + n :]) == {1, 2}
    alone = to_test("previous", [(1, 3)], (3, 6), 40, seed=1)
    assert sorted(map(tuple, np.argwhere(alone.free)[:, 1:])) == [(1, n) for n in (0, 1, 2, 4, 5)]
    assert len(alone.mixed) == 0
    many = to_test(
        "sink", [(layer, head) for layer in range(9) for head in range(90)], (9, 200), 50, 1
    )
    assert len(many.free) == 50  # of far more


def test_why_there_are_no_sets() -> None:
    none = to_test("induction", [], (2, 4), 5, 1)
    most = to_test("sink", [(1, head) for head in range(3)], (2, 4), 5, 1)
    assert len(none.free) == len(none.mixed) == len(most.free) == len(most.mixed) == 0
    assert none.note == "no head has this role"
    assert most.note == "most heads of 1 layer have this role"


def made_up(costs: list[list[float]]) -> tuple[KnockOut, dict[str, np.ndarray]]:
    """Two heads of a role with two free sets and a mixed one, and each set's losses [sequence]."""
    own = as_grid([(0, 0), (0, 1)], (1, 4))
    free = as_grid([(0, 2), (0, 3)], (1, 4))[None].repeat(2, axis=0)
    mixed = as_grid([(0, 0), (0, 3)], (1, 4))[None]
    return KnockOut("induction", own, free, mixed), dict.fromkeys(TEXTS, np.array(costs))


def test_rows_by_hand() -> None:
    """Losses of the role's set, of two free sets and a mixed one, on two sequences."""
    tested, losses = made_up([[5, 7], [2, 4], [6, 8], [3, 3]])
    intact = dict.fromkeys(TEXTS, np.array([1, 2]))
    accuracy = dict.fromkeys(TEXTS, np.array([[0.5, 0.7], [0, 0.2]]))
    row = rows_of(tested, intact, losses, accuracy, 200, seed=1)[0]
    means = ("loss", "intact", "cost", "random", "random_min", "random_max", "excess")
    assert [row[name] for name in means] == [6, 1.5, 4.5, 5, 3, 7, 1]
    assert (row["accuracy_intact"], row["accuracy"]) == pytest.approx((0.6, 0.1))
    assert (row["as_large"], row["p"]) == (1, 2 / 3)
    assert (row["cost_low"], row["cost_high"]) == (4, 5)
    assert row["excess_low"] == row["excess_high"] == 1  # paired: 5 - 4 and 7 - 6
    doses = pd.DataFrame(doses_of(tested, intact, losses, 200, seed=1))
    doses = doses[doses["text"] == "text"].set_index("dose")
    assert doses["cost"].to_dict() == {0: 3.5, 1: 1.5, 2: 4.5}
    assert doses["n_sets"].to_dict() == {0: 2, 1: 1, 2: 1}
    assert doses.loc[0, ["cost_min", "cost_max"]].tolist() == [1.5, 5.5]


def simulated_p(rng: np.random.Generator, costs: np.ndarray) -> float:
    """p of a role that random heads have, where heads have `costs` [layer, head] and sets noise."""
    own = [(layer, head) for layer, n in enumerate([3, 1, 2])
           for head in rng.choice(9, n, replace=False)]  # fmt: skip
    tested = to_test("induction", own, costs.shape, 19, int(rng.integers(2**31)))
    losses = (tested.sets * costs).sum(axis=(1, 2)) + rng.normal(size=len(tested.sets))
    return rank(losses[0], losses[1:20])[1]


def test_p_is_uniform_where_no_set_differs() -> None:
    rng = np.random.default_rng(0)
    p = np.array([simulated_p(rng, np.zeros((3, 9))) for _ in range(400)])
    counts = np.bincount((20 * p).round().astype(int), minlength=21)[1:]  # of 1 / 20, 2 / 20, ...
    assert chisquare(counts).pvalue > 0.01
    assert (p <= 0.05).mean() < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / len(p))


def test_p_is_small_where_one_head_of_the_role_costs_all() -> None:
    """Three of nine heads of a layer have the role by chance, so a third of the roles has it."""
    rng = np.random.default_rng(0)
    costs = np.zeros((3, 9))
    costs[0, 0] = 100
    p = np.array([simulated_p(rng, costs) for _ in range(200)])
    assert (p == 1 / 20).mean() == pytest.approx(1 / 3 + 2 / 3 / 20, abs=0.09)


def test_roles_are_read_from_all_tables(tmp_path: Path) -> None:
    heads = {"layer": [0, 0, 1], "head": [0, 1, 0]}
    roles = pd.DataFrame({"role": "induction", **heads, "has_role": [True, False, True]})
    sinks = pd.DataFrame({"first": "text", **heads, "has_role": [False, True, False]})
    sinks = pd.concat([sinks, sinks.assign(first="start", has_role=True)])
    copying = pd.DataFrame({"role": "copying", **heads, "has_role": [False, True, True]})
    for name, frame in (("roles", roles), ("sinks", sinks), ("copying", copying)):
        frame.to_parquet(tmp_path / name)
    frame = read_roles(tmp_path / "roles", tmp_path / "sinks", [tmp_path / "copying"])
    expected = {"induction": [(0, 0), (1, 0)], "sink": [(0, 1)], "copying": [(0, 1), (1, 0)]}
    assert found_heads(frame) == expected


def test_rows_of_every_role() -> None:
    """A role that no head has has rows without a dose; a set's loss is what the model says."""
    model = attention.open_attention(random_decoder(LLAMA))
    roles = {"previous": [(0, 1)], "duplicate": [], "sink": [(0, 0), (0, 2), (1, 1)]}
    modes = ["zero", "uniform"]
    frame, doses = run_tests(model, roles, SEQUENCES, SEGMENTS, modes, 3, 100, seed=1)
    assert len(frame) == 3 * 3 * 2
    tested = frame[frame["role"] == "sink"]
    np.testing.assert_allclose(tested["excess"], tested["loss"] - tested["random"], atol=1e-9)
    np.testing.assert_allclose(tested["cost"], tested["loss"] - tested["intact"], atol=1e-9)
    (loss,) = scores_of(model, SEQUENCES, SEGMENTS, as_grid(roles["sink"], (2, 4))[None], "zero")[
        "text"
    ]
    zero = frame[frame["mode"].eq("zero") & frame["text"].eq("text")].set_index("role")
    assert zero.loc["sink", "loss"] == pytest.approx(loss.mean(), abs=1e-5)
    silent = frame[frame["role"] == "duplicate"]
    assert silent[["loss", "accuracy", "p", "p_corrected"]].isna().all(axis=None)
    assert silent["note"].eq("no head has this role").all()
    assert doses.loc[doses["role"] == "duplicate", "n_sets"].tolist() == [0] * 3 * 2
    sets = doses.pivot_table(index="role", columns="dose", values="n_sets")
    assert sets.loc["sink", [0, 3]].tolist() == [3, 1]
    assert sets.loc["previous", [0, 1]].tolist() == [3, 1]
    families = frame[frame["p"].notna()].groupby(["mode", "text"])
    for _, rows in families:  # two roles each: Holm doubles the smaller p
        first, last = sorted(rows["p"])
        assert sorted(rows["p_corrected"]) == [min(1, 2 * first), max(last, min(1, 2 * first))]
