"""What the figures of ablation show."""

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.ablation import kovaleva2019_fig8, michel2019_fig2
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
    sets = [michel2019_fig2.named(row) for _, row in frame.iterrows()]
    return frame.assign(a=[one for one, _ in sets], b=[other for _, other in sets])


def test_a_pair_is_named_by_its_development_sets() -> None:
    frame = correlations()
    assert list(zip(frame["a"], frame["b"], strict=True)) == [
        ("SST-2 dev", "SST-2 tweets"),
        ("SST-2 products", "SST-2 tweets"),
        ("STS-B dev", "MNLI matched"),
        ("SST-2 dev", "SST-2 dev"),
    ]
    names = ["STS-B dev", "SST-2 dev", "SST-2 tweets", "SST-2 products", "MNLI matched"]
    assert michel2019_fig2.data_sets(frame) == names


def test_the_matrix_has_both_correlations_and_the_halves() -> None:
    _, (axes,) = figures.new(6, 4)
    michel2019_fig2.draw_matrix(axes, correlations(), 0.7)
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
    assert michel2019_fig2.shown(correlations())["b"].tolist() == ["SST-2 tweets"]
    points = pd.DataFrame({"layer": [0, 0, 1], "head": [0, 1, 0], "x": [0, 0, -0.02]})
    _, (axes,) = figures.new(2, 2)
    michel2019_fig2.draw_points(axes, points.assign(y=[0, 0, -0.01]), correlations().iloc[0])
    (marks,) = axes.collections
    np.testing.assert_allclose(marks.get_offsets(), [[-2, -1], [0, 0]])
    assert marks.get_sizes()[1] == 2 * marks.get_sizes()[0]
    assert [text.get_text() for text in axes.texts] == ["2-1"]


@pytest.mark.parametrize(
    ("number", "written"), [(-0.001, "0.00"), (-0.25, "−0.25"), (0.999, "1.00")]
)
def test_numbers_have_a_minus_sign_but_not_before_zero(number: float, written: str) -> None:
    assert michel2019_fig2._number(number) == written


def test_a_head_is_marked_where_every_seed_shows_it() -> None:
    rows = pd.DataFrame(
        {
            "layer": [0, 0, 1, 1],
            "head": [0, 0, 2, 2],
            "seed": [1, 2, 1, 2],
            "p_corrected": [0.01, 0.2, 0.01, 0.04],
        }
    )
    marked = kovaleva2019_fig8.beyond_chance(rows)
    assert marked[["layer", "head"]].to_numpy().tolist() == [[1, 2]]


def test_a_panel_states_what_its_scores_are_over() -> None:
    rows = pd.DataFrame({"baseline": [0.7, 0.8], "n": [200, 200], "seed": [1, 2]})
    assert figures.setting(rows) == "unchanged 75.0, n = 200, 2 seeds"
    assert figures.setting(rows[:1]) == "unchanged 70.0, n = 200, 1 seed"
