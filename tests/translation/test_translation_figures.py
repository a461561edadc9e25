"""What the figures of a translator's masked heads show."""

from pathlib import Path

import pandas as pd

from tests.core.figure_checks import clipped, overlapping
from tests.translation.made_up_scores import scores
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.plots import colours
from workflow_scripts.core.plots.figures import style
from workflow_scripts.translation import figures


def test_heads_are_ranked_by_bleu_and_coloured_by_type(tmp_path: Path) -> None:
    frame = pd.concat([scores("1"), scores("2", seed=2)])
    tables.write(frame, tmp_path / "scores")
    with style():
        figure = figures.michel2019_translation_fig1.__wrapped__([tmp_path / "scores"])
        assert overlapping(figure) == clipped(figure) == []
    for axes, run in zip(figure.axes, ("1", "2"), strict=True):
        rows = tables.where(frame, run=run, unit="head", metric="bleu", split="test")
        rows = rows.sort_values("score").assign(rank=range(1, len(rows) + 1))
        for kind, look in colours.ATTENTION.items():
            expected = rows.loc[rows["type"] == kind, ["rank", "score"]].to_numpy().tolist()
            lines = [line for line in axes.lines if line.get_color() == look.colour]
            assert [line.get_xydata().tolist() for line in lines] == [expected]
        significant = rows[rows["p_corrected"] < figures.LEVEL]
        worst = significant.iloc[0]
        names = ", ".join(text.get_text() for text in axes.texts).split(", ")
        assert len(names) == min(4, len(significant))
        assert head_label(worst["layer"], worst["head"]) in names


def test_a_fall_of_bleu_is_red_in_the_grids(tmp_path: Path) -> None:
    tables.write(scores(), tmp_path / "scores")
    with style():
        figure = figures.michel2019_translation_grids.__wrapped__([tmp_path / "scores"])
    image = figure.axes[0].get_images()[0]
    low, high = image.get_clim()
    assert low == -high
    red, _, blue, _ = image.to_rgba(low)
    assert red > 2 * blue
