"""Orders and curves of pruning: whole scripts on a tiny model, against plain loops."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.ablation.builders import checkpoint_in
from tests.core.tiny_models import HEADS, LAYERS, random_classifier, random_tokens, tokenizer
from workflow_scripts.ablation import ablation_sweep
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS, split_of
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.classifiers import load_classifier, logits_of, tokens_of
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.run.job import call
from workflow_scripts.core.stats import bootstrap, effects
from workflow_scripts.pruning import (
    pruning_curves,
    pruning_during_training,
)
from workflow_scripts.pruning.figures import over_runs
from workflow_scripts.pruning.importance import Definition, importance_of
from workflow_scripts.pruning.pruning_curves import (
    by_ablation,
    by_importance,
    curve,
)

LABELS = np.array([2, 0, 1, 1])


def test_importance_is_computed_again_without_the_heads_that_are_gone() -> None:
    model, tokens = random_classifier("bert"), random_tokens((9, 23, 14, 5))
    counts = effects.pruning_steps(LAYERS * HEADS, 0.25)
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
    assert (again != effects.order_by_score(first, counts)).any()


def test_the_head_without_which_the_score_is_highest_goes_first() -> None:
    labels = np.array([0, 1, 1, 0])
    right, wrong = np.array([[2.0, -2], [-2, 2], [-2, 2], [2, -2]]), np.array([[-1.0, 1]] * 4)
    surer = 2 * right
    logits = np.stack([[wrong, right], [surer, wrong[::-1]]])
    every = np.ones(4, bool)
    masks = by_ablation(TASKS["rte"], labels, logits, every, [0, 1, 2, 4])
    np.testing.assert_array_equal(masks[1], [[False, False], [True, False]])  # lower loss
    np.testing.assert_array_equal(masks[2], [[False, True], [True, False]])


def test_intervals_over_examples_by_a_plain_loop() -> None:
    rng = np.random.default_rng(4)
    labels, logits = rng.integers(0, 2, 15), rng.normal(size=(3, 15, 2))
    actual = curve(TASKS["mrpc"], labels, logits, [0, 2, 5], 40, 9)
    assert actual["pruned"].tolist() == [0, 0, 2, 2, 5, 5]
    sampled = []
    for weights in bootstrap.bootstrap_weights(15, 40, 9):
        chosen = np.repeat(np.arange(15), weights)
        sampled.append([np.mean(step.argmax(1)[chosen] == labels[chosen]) for step in logits])
    sampled = np.array(sampled)
    last = actual[(actual["metric"] == "accuracy") & (actual["step"] == 2)].iloc[0]
    assert last["score_low"] == pytest.approx(np.percentile(sampled[:, 2], 2.5))
    assert last["change_high"] == pytest.approx(np.percentile(sampled[:, 2] - sampled[:, 0], 97.5))
    first = actual[(actual["metric"] == "accuracy") & (actual["step"] == 0)].iloc[0]
    assert last["change"] == pytest.approx(last["score"] - first["score"])
    assert (actual["n"] == 15).all()
    unpruned = actual[actual["step"] == 0]
    assert (unpruned[["change", "change_low", "change_high"]] == 0).all(axis=None)


def test_intervals_over_runs() -> None:
    rows = [
        (seed, 0, pruned, 0.5 + seed / 10 - pruned / 10) for seed in (1, 2) for pruned in (0, 5)
    ]
    frame = pd.DataFrame(rows, columns=["seed", "draw", "pruned", "score"])
    frame = frame.assign(score_low=frame["score"] - 0.1, score_high=frame["score"] + 0.1)
    frame = frame.assign(change=[-0.4, -0.5, -0.5, -0.5], change_low=-0.6, change_high=-0.4, n=20)
    actual = over_runs(frame, 200, 1)
    assert actual["score"].tolist() == pytest.approx([0.65, 0.15])
    assert actual["runs_low"].tolist() == pytest.approx([0.6, 0.1])
    assert actual["runs_high"].tolist() == pytest.approx([0.7, 0.2])
    assert actual["score_low"].tolist() == pytest.approx([0.55, 0.05])
    assert actual["n"].tolist() == [20, 20]
    assert actual["runs"].tolist() == [2, 2]
    assert actual["change_sd"].tolist() == pytest.approx([0.1 / 2**0.5, 0])


STEP, COUNTS = 0.25, [0, 3, 6, 9, 12]


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the products of `curves` and of `training`."""
    folder = tmp_path_factory.mktemp("pruning")
    arguments = checkpoint_in(folder, n_epochs=1)
    units = {"units": {"head": ["zero"]}, "examples": 0, "reference": 1}
    call(ablation_sweep.main, arguments | units | {"logits": folder / "logits"})
    arguments |= {"dev_examples": 0, "limits": {"pass_tokens": arguments.pop("pass_tokens")}}
    settings = {
        "step": STEP,
        "strategies": ["importance", "ablation", "random", "one-head"],
        "importance": {"variant": "paper", "normalise": True, "recompute": False},
        "draws": 2,
        "examples": 10,
        "bootstrap": 100,
    }
    outputs = {name: folder / name for name in ("importance", "curves", "order")}
    inputs = {"settings": settings, "logits": folder / "logits"}
    call(pruning_curves.main, arguments | inputs | outputs)
    arguments |= {"epochs": folder / "mnli.finetuned.3.epochs"}
    outputs = {"curves": folder / "training", "importance": folder / "epochs"}
    kept = ("step", "importance", "examples", "bootstrap")
    chosen = {"settings": {key: settings[key] for key in kept}}
    call(pruning_during_training.main, arguments | chosen | outputs)
    return folder


def right(folder: Path, weights: Path, gone: np.ndarray) -> np.ndarray:
    """Which development examples the whole model gets right with the heads of `gone` at 0."""
    model = open_attention(load_classifier(weights, torch.device("cpu")))
    dev = split_of(tables.read(folder / "mnli.parquet"), "dev")
    with watching(model, Gates(torch.from_numpy(~gone).float())):
        logits = logits_of(model, tokens_of(dev, tokenizer(), 32, 128))
    return logits.argmax(axis=1) == dev["label"].to_numpy()


def gone_at(order: pd.DataFrame, step: int, **keys: Any) -> np.ndarray:
    for key, value in keys.items():
        order = order[order[key] == value]
    gone = np.zeros((LAYERS, HEADS), bool)
    early = order[order["step"] <= step]
    gone[early["layer"], early["head"]] = True
    return gone


def test_scores_are_those_of_the_heads_that_are_left(pruned: Path) -> None:
    scores, order = pd.read_parquet(pruned / "curves"), pd.read_parquet(pruned / "order")
    weights = pruned / "mnli.finetuned.3"
    for strategy, draw in (("importance", 0), ("random", 0), ("random", 1)):
        selected = scores[(scores["strategy"] == strategy) & (scores["draw"] == draw)]
        assert selected["pruned"].tolist() == COUNTS
        for step, actual in enumerate(selected["score"]):
            gone = gone_at(order, step, strategy=strategy, draw=draw)
            assert gone.sum() == COUNTS[step]
            assert actual == pytest.approx(right(pruned, weights, gone).mean())


def test_each_half_is_scored_in_the_order_of_the_other(pruned: Path) -> None:
    scores, order = pd.read_parquet(pruned / "curves"), pd.read_parquet(pruned / "order")
    selected, order = (frame[frame["strategy"] == "ablation"] for frame in (scores, order))
    folds = sorted(order["fold"].unique())
    assert len(folds) == 2
    half = bootstrap.half_weights(20, 1, 3)[0].astype(bool)
    weights = pruned / "mnli.finetuned.3"
    for step, actual in enumerate(selected["score"]):
        first, second = (right(pruned, weights, gone_at(order, step, fold=fold)) for fold in folds)
        assert actual == pytest.approx(np.where(half, second, first).mean())


def test_one_head_is_left_in_every_layer(pruned: Path) -> None:
    scores, order = pd.read_parquet(pruned / "curves"), pd.read_parquet(pruned / "order")
    importance = pd.read_parquet(pruned / "importance")
    paper = importance[importance["variant"] == "paper"]
    best = paper.loc[paper.groupby("layer")["importance"].idxmax()]
    weights, left = pruned / "mnli.finetuned.3", {}
    for strategy, draw in (("one-head", 0), ("one-head-random", 0), ("one-head-random", 1)):
        selected = scores[(scores["strategy"] == strategy) & (scores["draw"] == draw)]
        assert selected["pruned"].tolist() == [0, LAYERS * (HEADS - 1)]
        gone = gone_at(order, 1, strategy=strategy, draw=draw)
        assert (~gone).sum(axis=1).tolist() == [1] * LAYERS
        assert selected["score"].iloc[1] == pytest.approx(right(pruned, weights, gone).mean())
        left[strategy, draw] = np.argwhere(~gone).tolist()
    assert left["one-head", 0] == best[["layer", "head"]].to_numpy().tolist()
    assert left["one-head-random", 0] != left["one-head-random", 1]


def test_every_epoch_has_its_own_curve(pruned: Path) -> None:
    scores, epochs = pd.read_parquet(pruned / "training"), pd.read_parquet(pruned / "epochs")
    assert scores.groupby("epoch")["pruned"].apply(list).to_dict() == {1: COUNTS, 2: COUNTS}
    for epoch, place in ((1, "mnli.finetuned.3.epochs/epoch-1"), (2, "mnli.finetuned.3")):
        weights = pruned / place
        selected = epochs[epochs["epoch"] == epoch]
        gone = np.zeros((LAYERS, HEADS), bool)
        lowest = selected.nsmallest(6, "importance")
        gone[lowest["layer"], lowest["head"]] = True
        actual = scores[(scores["epoch"] == epoch) & (scores["pruned"] == 6)]["score"].item()
        assert actual == pytest.approx(right(pruned, weights, gone).mean())
    agreement = epochs.groupby("epoch")["agreement"].first()
    assert agreement[2] == pytest.approx(1)
    assert agreement[1] < 1
    main = scores[scores["metric"] == "accuracy"]
    assert main["score"].between(main["score_low"], main["score_high"]).all()
