"""What the figures of disabled heads show."""

from pathlib import Path

import pandas as pd
import pytest

from tests.core.figure_checks import clipped, overlapping
from workflow_scripts.ablation import figures
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours
from workflow_scripts.core.plots.figures import style

SEEDS = (1, 2)


@pytest.fixture
def scores(tmp_path: Path) -> list[Path]:
    """Two tasks of 4 by 3 heads; head 2-2 loses with both seeds, head 3-1 with the first alone."""
    rows = [
        {"task": task, "seed": seed, "mode": mode, "layer": layer, "head": head, "p_corrected": 0.5}
        for task in ("sst2", "mnli")
        for seed in SEEDS
        for mode in ("uniform", "zero")
        for layer in range(4)
        for head in range(3)
    ]
    frame = pd.DataFrame(rows).assign(metric="accuracy", split="dev", unit="head", n=50)
    frame["effect"] = -0.02 * (frame["head"] - 1)
    lost = (frame["layer"] == 1) & (frame["head"] == 1)
    once = (frame["layer"] == 2) & (frame["head"] == 0) & (frame["seed"] == 1)
    frame.loc[lost, ["effect", "p_corrected"]] = [-0.3, 0.01]
    frame.loc[once, ["effect", "p_corrected"]] = [-0.3, 0.01]
    frame = frame.assign(ci_low=frame["effect"] - 0.1, ci_high=frame["effect"] + 0.1)
    frame = frame.assign(baseline=0.8, score=0.8 + frame["effect"])
    tables.write(frame, tmp_path / "scores")
    return [tmp_path / "scores"]


@pytest.mark.parametrize(("name", "lowest"), [("kovaleva2019_fig8", -30), ("michel2019_fig1", 50)])
def test_what_holds_with_every_seed_is_a_loss(name: str, lowest: float, scores: list[Path]) -> None:
    more = {}
    if name == "kovaleva2019_fig8":
        table = scores[0].with_name("metrics.parquet")
        row = {"task": "SST-2", "stage": "fine-tuned", "split": "dev", "metric": "accuracy"}
        tables.write(pd.DataFrame([row | {"value": 0.785, "n": 400}]), table)
        more = {"metrics": [table]}
    with style():
        figure = getattr(figures, name).__wrapped__(scores, **more)
        assert overlapping(figure) == clipped(figure) == []
    for axes in figure.axes:
        red = [line for line in axes.lines if line.get_color() == colours.HARM]
        assert [line.get_xydata().ravel().tolist() for line in red] == [[1, pytest.approx(lowest)]]
        assert [text.get_text() for text in axes.texts] == ["2-2"]


def test_data_sets_whose_halves_disagree_are_left_out(tmp_path: Path) -> None:
    others = {"products": 0.4, "tweets": -0.07}
    pairs = [("datasets", "SST-2 dev", name, 0.3) for name in others]
    pairs += [("datasets", "SST-2 products", "tweets", 0.3)]
    halves = {"SST-2 dev": 0.5} | {f"SST-2 {name}": r for name, r in others.items()}
    pairs += [("halves", name, "other half", r) for name, r in halves.items()]
    frame = pd.DataFrame(pairs, columns=["kind", "one", "other", "pearson"])
    for name in ("pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"):
        frame[name] = frame["pearson"]
    frame = frame.assign(mode="zero", n=3)
    tables.write_csv(frame, tmp_path / "pairs.csv")
    keys = frame[["kind", "one", "other", "mode"]]
    heads = pd.DataFrame({"layer": 0, "head": range(3), "x": [0, 0.1, 0.2], "y": [0.1, 0, 0.3]})
    tables.write(keys.merge(heads, how="cross"), tmp_path / "points")
    figure = figures.michel2019_fig2.__wrapped__(tmp_path / "points", tmp_path / "pairs.csv")
    (matrix,) = (axes for axes in figure.axes if axes.images)
    names = [label.get_text() for label in matrix.get_yticklabels()]
    assert names == ["SST-2 dev", "SST-2 products"]
    assert "not above 0: SST-2 tweets (−0.07)." in matrix.get_title()
