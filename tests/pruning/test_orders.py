"""Orders of pruning by importance estimated again and by one-head scores; curves by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core.tiny_models import HEADS, LAYERS, random_classifier, random_tokens
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.stats import orders, resampling
from workflow_scripts.pruning.importance import Definition, importance_of
from workflow_scripts.pruning.michel2019_one_head import over_runs
from workflow_scripts.pruning.pruning_curves import (
    by_ablation,
    by_importance,
    curve,
    one_in_each_layer,
    read_sweep,
    with_intervals,
)

LABELS = np.array([2, 0, 1, 1])


def test_importance_is_computed_again_without_the_heads_that_are_gone() -> None:
    model, tokens = random_classifier("bert"), random_tokens((9, 23, 14, 5))
    counts = orders.steps(LAYERS * HEADS, 0.25)
    definition = Definition("paper", normalise=True)
    first = importance_of(model, tokens, LABELS, definition)
    again = by_importance(model, tokens, LABELS, counts, definition, first)
    gone = np.zeros((LAYERS, HEADS), bool)  # plainly
    for count, mask in zip(counts, again, strict=True):
        current = importance_of(model, tokens, LABELS, definition, gone)
        while gone.sum() < count:
            left = np.where(gone, np.inf, current)
            gone[np.unravel_index(left.argmin(), left.shape)] = True
        np.testing.assert_array_equal(mask, gone)
    assert (again != orders.by_score(first, counts)).any()


def test_the_head_without_which_the_score_is_highest_goes_first() -> None:
    labels = np.array([0, 1, 1, 0])
    right, wrong = np.array([[2.0, -2], [-2, 2], [-2, 2], [2, -2]]), np.array([[-1.0, 1]] * 4)
    surer = 2 * right
    logits = np.stack([[wrong, right], [surer, wrong[::-1]]])
    every = np.ones(4, bool)
    masks = by_ablation(TASKS["rte"], labels, logits, every, [0, 1, 2, 4])
    np.testing.assert_array_equal(masks[1], [[False, False], [True, False]])  # lower loss
    np.testing.assert_array_equal(masks[2], [[False, True], [True, False]])


def test_only_its_part_of_the_examples_counts() -> None:
    labels = np.array([0, 0, 1, 1])
    good = np.array([[3.0, 0], [3, 0], [0, 3], [0, 3]])
    half_bad = good.copy()
    half_bad[2:] = [[3, 0], [3, 0]]
    logits = np.stack([[good, half_bad]])
    part = np.array([True, False, True, False])
    seen = by_ablation(TASKS["rte"], labels, logits, part, [0, 1])
    assert seen[1][0].tolist() == [True, False]
    first_half = by_ablation(TASKS["rte"], labels, logits[:, ::-1], ~part & (labels == 0), [0, 1])
    assert first_half[1][0].tolist() == [True, False]  # equal there, so the first of equals


def test_curves_by_hand() -> None:
    labels = np.array([0, 1])
    logits = np.array([[[1.0, 0], [0, 1]], [[1.0, 0], [1, 0]]])
    actual = curve(TASKS["mrpc"], labels, logits, [0, 5])
    accuracy = actual[actual["metric"] == "accuracy"]
    assert accuracy["score"].tolist() == [1.0, 0.5]
    assert accuracy["pruned"].tolist() == [0, 5]


def test_intervals_over_examples_by_a_plain_loop() -> None:
    rng = np.random.default_rng(4)
    labels, logits = rng.integers(0, 2, 15), rng.normal(size=(3, 15, 2))
    frame = curve(TASKS["mrpc"], labels, logits, [0, 2, 5])
    actual = with_intervals(frame, TASKS["mrpc"], labels, logits, 40, 9)
    assert actual[frame.columns].equals(frame)
    assert (actual["majority"] == curve(TASKS["mrpc"], labels, logits, [0, 2, 5])["majority"]).all()
    sampled = []
    for weights in resampling.bootstrap_weights(15, 40, 9):
        chosen = np.repeat(np.arange(15), weights)
        sampled.append([np.mean(step.argmax(1)[chosen] == labels[chosen]) for step in logits])
    sampled = np.array(sampled)
    last = actual[(actual["metric"] == "accuracy") & (actual["step"] == 2)].iloc[0]
    assert last["score_low"] == pytest.approx(np.percentile(sampled[:, 2], 2.5))
    assert last["change_high"] == pytest.approx(np.percentile(sampled[:, 2] - sampled[:, 0], 97.5))
    assert last["change"] == pytest.approx(last["score"] - frame.iloc[1]["score"])
    assert (actual["n"] == 15).all()
    unpruned = actual[actual["step"] == 0]
    assert (unpruned[["change", "change_low", "change_high"]] == 0).all(axis=None)


def test_a_sweep_of_other_examples_is_refused(tmp_path: Path) -> None:
    rows = [("dev", "head", "zero", k // 2, k % 2, name) for k in range(4) for name in "ab"]
    frame = pd.DataFrame(rows, columns=["split", "unit", "mode", "layer", "head", "id"])
    frame = frame.assign(logit_0=np.arange(8.0), logit_1=0.0)
    tables.write(frame, tmp_path / "logits")
    actual = read_sweep(tmp_path / "logits", ["a", "b"], (2, 2), 2)
    np.testing.assert_array_equal(actual[1, 0, :, 0], [4, 5])
    with pytest.raises(RuntimeError, match="other examples"):
        read_sweep(tmp_path / "logits", ["a", "c"], (2, 2), 2)


def test_intervals_over_runs() -> None:
    rows = [
        (seed, 0, pruned, 0.5 + seed / 10 - pruned / 10) for seed in (1, 2) for pruned in (0, 5)
    ]
    frame = pd.DataFrame(rows, columns=["seed", "draw", "pruned", "score"])
    frame = frame.assign(score_low=frame["score"] - 0.1, score_high=frame["score"] + 0.1)
    frame = frame.assign(change=-0.5, change_low=-0.6, change_high=-0.4, n=20)
    actual = over_runs(frame, 200, 1)
    assert actual["score"].tolist() == pytest.approx([0.65, 0.15])
    assert actual["runs_low"].tolist() == pytest.approx([0.6, 0.1])
    assert actual["runs_high"].tolist() == pytest.approx([0.7, 0.2])
    assert actual["score_low"].tolist() == pytest.approx([0.55, 0.05])
    assert actual["n"].tolist() == [20, 20]
    assert actual["runs"].tolist() == [2, 2]


def test_the_highest_score_of_each_layer_is_left() -> None:
    scores = np.array([[0.1, 0.4, 0.2], [0.9, 0.8, 0.7]])
    masks = one_in_each_layer(scores)
    assert not masks[0].any()
    np.testing.assert_array_equal(masks[1], [[True, False, True], [False, True, True]])
