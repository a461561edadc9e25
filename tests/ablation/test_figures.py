"""What the figures of ablation show."""

import numpy as np
import pandas as pd

from workflow_scripts.ablation import figures as ablation_figures
from workflow_scripts.core.plots import figures


def correlations() -> pd.DataFrame:
    rows = [
        ("datasets", "SST-2 dev", "tweets", 0.4, 0.3),
        ("datasets", "SST-2 products", "tweets", 0.1, 0.2),
        ("tasks", "STS-B", "MNLI", -0.5, -0.6),
        ("halves", "SST-2 dev", "other half", 0.7, 0.8),
    ]
    frame = pd.DataFrame(rows, columns=["kind", "one", "other", "pearson", "spearman"])
    for name in ("pearson", "spearman"):
        frame[f"{name}_low"], frame[f"{name}_high"] = frame[name] - 0.2, frame[name] + 0.2
    sets = [ablation_figures.development_sets(row) for _, row in frame.iterrows()]
    return frame.assign(a=[one for one, _ in sets], b=[other for _, other in sets])


def test_the_matrix_has_both_correlations_and_the_halves() -> None:
    _, (axes,) = figures.new(6, 4)
    ablation_figures.draw_matrix(axes, correlations(), 0.7)
    drawn = np.ma.filled(axes.images[0].get_array().astype(float), np.nan)
    expected = np.full((5, 5), np.nan)
    expected[4, 0], expected[0, 4] = -0.5, -0.6  # Pearson below the diagonal, Spearman above it
    expected[2, 1], expected[1, 2] = 0.4, 0.3
    expected[3, 2], expected[2, 3] = 0.1, 0.2
    expected[1, 1] = 0.7
    np.testing.assert_array_equal(drawn, expected)
    texts = {(text.get_position()[0], text.get_text()): text for text in axes.texts}
    assert texts[1, "0.40"].get_weight() == "bold"
    assert texts[2, "0.10"].get_weight() == "normal"
    assert (0, "−0.70 to −0.30") in texts
    assert len(axes.patches) == 1


def test_points_are_drawn_of_a_first_set_with_another() -> None:
    assert ablation_figures.within_a_task(correlations())["b"].tolist() == ["SST-2 tweets"]
    points = pd.DataFrame({"layer": [0, 0, 1], "head": [0, 1, 0], "x": [0, 0, -0.02]})
    _, (axes,) = figures.new(2, 2)
    ablation_figures.draw_points(axes, points.assign(y=[0, 0, -0.01]), correlations().iloc[0])
    (marks,) = axes.collections
    np.testing.assert_allclose(marks.get_offsets(), [[-2, -1], [0, 0]])
    assert marks.get_sizes()[1] == 2 * marks.get_sizes()[0]
    assert [text.get_text() for text in axes.texts] == ["2-1"]


def disabled(task: str, *effects: float, p: float) -> pd.DataFrame:
    """Effects of heads of one layer."""
    frame = pd.DataFrame({"effect": effects, "head": range(len(effects)), "layer": 0, "seed": 1})
    return frame.assign(task=task, p_corrected=p, n=200, baseline=0.795)


def test_tasks_share_one_scale_and_what_is_not_significant_is_hatched() -> None:
    frame = pd.concat([disabled("sst2", -0.035, 0.01, p=0.5), disabled("rte", 0.02, -0.26, p=0.01)])
    frame["metric"] = "accuracy"
    metrics = pd.DataFrame({"task": ["SST-2", "RTE"], "value": [0.785, 0.795], "n": [400, 200]})
    metrics = metrics.assign(stage="fine-tuned", split="dev", metric="accuracy")
    figure = ablation_figures.draw_disabled_heads(frame, metrics)
    panels = {axes.get_title().split()[0]: axes for axes in figure.axes if axes.get_title()}
    assert [axes.images[0].get_clim() for axes in panels.values()] == [(-26, 26)] * 2
    hatched = {name: [p for p in axes.patches if p.get_hatch()] for name, axes in panels.items()}
    assert (len(hatched["SST-2"]), hatched["RTE"]) == (1, [])
    assert panels["SST-2"].get_title().endswith("n = 200, 1 seed\n(Table 1: 78.5, n = 400)")
    assert "Table 1" not in panels["RTE"].get_title()
    (legend,) = figure.legends
    (key,) = legend.get_texts()
    assert key.get_text() == "not significant: p ≥ 0.05, corrected for 2 heads"


def test_few_heads_have_points_and_no_mean() -> None:
    """Of a kind with two heads and one with five, of which one is of both."""
    kinds = ["position", "syntactic, position", *["syntactic"] * 4]
    heads = pd.DataFrame({"kinds": kinds, "effect_rte": np.arange(6) / 100})
    row = {"task": "rte", "effect": 0.03, "ci_low": 0.02, "ci_high": 0.04}
    strata = pd.DataFrame([row | {"stratum": kind} for kind in ("syntactic", "position")])
    figure = ablation_figures.draw_behaviours(heads, strata)
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["syntactic (5)", "position (2)"]
    (interval,) = axes.containers
    (bar,) = interval.lines[2]
    np.testing.assert_allclose(bar.get_segments(), [[[0, 2], [0, 4]]])
    assert len(figure.legends) == 1
