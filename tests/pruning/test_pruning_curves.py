"""Curves of pruning: whole scripts on a tiny model, against the same worked out plainly."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.ablation.builders import checkpoint_in
from tests.core.tiny_models import HEADS, LAYERS, tokenizer
from workflow_scripts.ablation import ablation_sweep
from workflow_scripts.core.data.glue import read_task, split_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model.attention import open_attention, watching
from workflow_scripts.core.model.classifiers import load_classifier, logits_of, tokens_of
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.run.job import call
from workflow_scripts.pruning import (
    michel2019_fig3,
    michel2019_fig5,
    michel2019_one_head,
    pruning_curves,
    pruning_during_training,
    pruning_importance,
)
from workflow_scripts.pruning.importance import read_gradients

STEP, COUNTS = 0.25, [0, 3, 6, 9, 12]
PRODUCTS, PARTS = ("importance", "curves", "order"), (1, 3)


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the products of `curves`, whole and in parts, and of `training`."""
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
    outputs = {name: folder / name for name in PRODUCTS}
    inputs = {"settings": settings, "logits": folder / "logits"}
    call(pruning_curves.main, arguments | inputs | outputs)
    for n_parts in PARTS:
        in_parts(folder, n_parts, arguments | inputs)
    arguments |= {"epochs": folder / "mnli.pretrained.3.epochs"}
    outputs = {"curves": folder / "training", "importance": folder / "epochs"}
    kept = ("step", "importance", "examples", "bootstrap")
    chosen = {"settings": {key: settings[key] for key in kept}}
    call(pruning_during_training.main, arguments | chosen | outputs)
    return folder


def in_parts(folder: Path, n_parts: int, arguments: dict[str, Any]) -> None:
    """The same products, `<product>.<n_parts>`, of gradients computed in parts."""
    shared = {name: arguments[name] for name in ("card", "checkpoint", "table", "sample_seed")}
    shared |= {"examples": 10, "max_tokens": 32, "device": "cpu"}
    parts = []
    for number in range(1, n_parts + 1):
        parts.append(folder / f"{number}-of-{n_parts}")
        part = {"values": parts[-1], "part": parts[-1].name}
        call(pruning_importance.main, shared | part)
    outputs = {name: folder / f"{name}.{n_parts}" for name in PRODUCTS}
    call(pruning_curves.main, arguments | outputs | {"parts": parts})


@pytest.mark.parametrize("n_parts", PARTS)
def test_gradients_in_parts_give_the_same_bytes(pruned: Path, n_parts: int) -> None:
    """All examples fit into one batch, so that all parts but one are empty."""
    for name in PRODUCTS:
        actual = pruned / f"{name}.{n_parts}"
        assert actual.read_bytes() == (pruned / name).read_bytes(), name
    parts = [pruned / f"{number}-of-{n_parts}" for number in range(1, n_parts + 1)]
    assert sum(len(pd.read_parquet(part)) > 0 for part in parts) == 1
    with pytest.raises(InputError, match="gradients of other than 11 examples"):
        read_gradients(parts, 11, (LAYERS, HEADS))


def right(folder: Path, weights: Path, gone: np.ndarray) -> np.ndarray:
    """Which development examples the whole model gets right with the heads of `gone` at 0."""
    model = open_attention(load_classifier(weights, torch.device("cpu")))
    dev = split_of(read_task(folder / "mnli.parquet"), "dev")
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
    weights = pruned / "mnli.pretrained.3"
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
    half = pruning_curves.resampling.half_weights(20, 1, 3)[0].astype(bool)
    weights = pruned / "mnli.pretrained.3"
    for step, actual in enumerate(selected["score"]):
        first, second = (right(pruned, weights, gone_at(order, step, fold=fold)) for fold in folds)
        assert actual == pytest.approx(np.where(half, second, first).mean())


def test_one_head_is_left_in_every_layer(pruned: Path) -> None:
    scores, order = pd.read_parquet(pruned / "curves"), pd.read_parquet(pruned / "order")
    importance = pd.read_parquet(pruned / "importance")
    paper = importance[importance["variant"] == "paper"]
    best = paper.loc[paper.groupby("layer")["importance"].idxmax()]
    weights, left = pruned / "mnli.pretrained.3", {}
    for strategy, draw in (("one-head", 0), ("one-head-random", 0), ("one-head-random", 1)):
        selected = scores[(scores["strategy"] == strategy) & (scores["draw"] == draw)]
        assert selected["pruned"].tolist() == [0, LAYERS * (HEADS - 1)]
        gone = gone_at(order, 1, strategy=strategy, draw=draw)
        assert (~gone).sum(axis=1).tolist() == [1] * LAYERS
        assert selected["score"].iloc[1] == pytest.approx(right(pruned, weights, gone).mean())
        left[strategy, draw] = np.argwhere(~gone).tolist()
    assert left["one-head", 0] == best[["layer", "head"]].to_numpy().tolist()
    assert left["one-head-random", 0] != left["one-head-random", 1]


def test_the_table_of_one_head(pruned: Path, tmp_path: Path) -> None:
    arguments = {"curves": [pruned / "curves"], "bootstrap": 100, "seed": 1}
    call(michel2019_one_head.main, arguments | {"table": tmp_path / "t.csv"})
    table = pd.read_csv(tmp_path / "t.csv").set_index("kept")
    scores = pd.read_parquet(pruned / "curves")
    sampled = scores[(scores["strategy"] == "one-head-random") & (scores["pruned"] > 0)]
    assert table.loc["random", "score"] == pytest.approx(100 * sampled["score"].mean())
    assert table.loc["random", "change"] == pytest.approx(100 * sampled["change"].mean())
    assert table["runs"].to_dict() == {"most important": 1, "random": 2}
    assert (table["heads_left"] == LAYERS).all()
    assert (table["n"] == 20).all()
    labels = split_of(read_task(pruned / "mnli.parquet"), "dev")["label"]
    assert table["majority"].tolist() == pytest.approx([100 * labels.value_counts().max() / 20] * 2)


@pytest.mark.parametrize("recomputed", [False, True])
def test_the_figure_states_when_importance_was_estimated(
    pruned: Path, tmp_path: Path, recomputed: bool
) -> None:
    curves = pd.read_parquet(pruned / "curves")
    assert not curves["recomputed"].any()
    by_importance = curves["strategy"] == "importance"
    curves.assign(recomputed=by_importance & recomputed).to_parquet(tmp_path / "curves")
    outputs = {kind: tmp_path / f"fig.{kind}" for kind in ("svg", "pdf", "png")}
    arguments = {"curves": [tmp_path / "curves"], "bootstrap": 100, "seed": 1}
    call(michel2019_fig3.main, arguments | outputs | {"table": tmp_path / "table.csv"})
    words = "importance, estimated " + ("again each step" if recomputed else "once")
    assert words in (tmp_path / "fig.svg").read_text(encoding="utf-8")
    table = pd.read_csv(tmp_path / "table.csv")
    assert table.groupby("strategy")["recomputed"].first().to_dict() == {
        "ablation": False,
        "importance": recomputed,
        "random": False,
    }


def test_importance_comes_first(pruned: Path) -> None:
    importance, order = pd.read_parquet(pruned / "importance"), pd.read_parquet(pruned / "order")
    selected = importance[importance["variant"] == "paper"]
    first = selected.nsmallest(3, "normalised")[["layer", "head"]].to_numpy().tolist()
    gone = gone_at(order, 1, strategy="importance")
    assert sorted(first) == np.argwhere(gone).tolist()
    assert (selected["n"] == 10).all()


def test_every_epoch_has_its_own_curve(pruned: Path) -> None:
    scores, epochs = pd.read_parquet(pruned / "training"), pd.read_parquet(pruned / "epochs")
    assert scores.groupby("epoch")["pruned"].apply(list).to_dict() == {1: COUNTS, 2: COUNTS}
    for epoch, place in ((1, "mnli.pretrained.3.epochs/epoch-1"), (2, "mnli.pretrained.3")):
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
    outputs = {kind: pruned / f"fig5.{kind}" for kind in ("svg", "pdf", "png")}
    tables_of = {"curves": [pruned / "training"], "importance": [pruned / "epochs"]}
    call(michel2019_fig5.main, tables_of | outputs)
    svg = outputs["svg"].read_text()
    n = int(scores["n"].iloc[0])
    assert f"n = {n} examples, 1 seed" in svg
    assert f"epoch 1, ρ = {agreement[1]:.2f}" in svg and "epoch 2 (last)" in svg
