"""Figure 3, the tables and the kinds of heads mean the same frame heads; Figure 3 shows links."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from workflow_scripts.core.data.frame_links import frame_heads
from workflow_scripts.core.measures.tables import TableSet
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.frames import figures as frames_figures
from workflow_scripts.frames import head_columns, kovaleva2019_frames

FROM, TO, EITHER = "from predicate", "to predicate", "either"


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    """Two layers of three heads; in each direction others are above their controls."""
    above = {EITHER: (1, 4), FROM: (0, 1), TO: (2, 4, 5)}
    rows = [
        {"layer": number // 3, "head": number % 3, "direction": direction, "attention": 0.1}
        | {"difference": 0.05 + number / 100, "p_corrected": 0.01 if number in chosen else 0.5}
        for direction, chosen in above.items()
        for number in range(6)
    ]
    numbers = dict.fromkeys(("ci_low", "ci_high", "linked", "control", "p"), 0.1)
    numbers |= dict.fromkeys(("difference_low", "difference_high"), 0.1)
    counts = ("n", "n_documents", "n_compared", "n_documents_compared", "links_compared")
    return pd.DataFrame(rows).assign(**numbers, **dict.fromkeys(counts, 9))


@pytest.fixture
def figure(scores: pd.DataFrame) -> Figure:
    lines = pd.DataFrame({"query": [0, 0, 1, 1], "key": [0, 1, 0, 1], "title": "Buying: Agent"})
    lines = lines.assign(query_token=["he", "he", "buys", "buys"], drawing=0, layer=0, head=1)
    lines["key_token"] = ["he", "buys"] * 2
    lines["weight"], lines["highlighted"] = [0.9, 0.2, 0.1, 0.9], [False, True, True, False]
    with figures.style():
        return frames_figures.draw(scores, lines, 99, "generated sentences")


def test_one_list(scores: pd.DataFrame, figure: Figure, tmp_path: Path) -> None:
    listed = frame_heads(scores)
    assert listed[["layer", "head"]].to_numpy().tolist() == [[1, 1], [0, 1]]
    difference = next(axes for axes in figure.axes if "minus" in axes.get_title())
    (dots,) = difference.lines
    assert dots.get_xydata().tolist() == [[1, 1], [1, 0]]  # head, layer
    scores.to_parquet(tmp_path / "scores")
    out = {"table": tmp_path / "table.csv", "controls": tmp_path / "controls.csv"}
    kovaleva2019_frames.main(tmp_path / "scores", **out, percentile=50, generated=True)
    controls = pd.read_csv(out["controls"])
    for _, rows in controls.groupby("direction"):
        assert sorted(rows.loc[rows["frame_head"], "head"]) == ["1-2", "2-2"]
    (tmp_path / "frames").mkdir()
    scores.to_parquet(tmp_path / "frames/scores.parquet")
    columns = head_columns.columns(TableSet([tmp_path / "frames/scores.parquet"]), {})
    assert columns is not None
    in_kinds = columns[columns["frame_head"]]
    assert in_kinds[["layer", "head"]].to_numpy().tolist() == [[0, 1], [1, 1]]


def test_links_are_the_strongest_lines_of_figure_3(figure: Figure) -> None:
    (axes,) = [axes for axes in figure.axes if axes.get_title().startswith("Head")]
    (lines,) = axes.collections
    widths, opacity = np.array(lines.get_linewidths()), lines.get_colors()[:, 3]
    np.testing.assert_allclose(opacity, [0.4 * 0.9, 0.4 * 0.9, 1, 1])  # links lie on top
    assert widths[2] > widths[3] > widths[0] == widths[1]  # wider for more attention
    words = {text.get_text(): text.get_color() for text in axes.texts}
    assert words == {"he": colours.HIGHLIGHT, "buys": colours.HIGHLIGHT}
    assert axes.get_title().endswith("strongest link 0.20")


def test_the_marks_of_figure_3_have_a_legend(figure: Figure) -> None:
    (legend,) = [legend for part in figure.subfigs for legend in part.legends]
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["above the 99th percentile of the map", "frame head"]
