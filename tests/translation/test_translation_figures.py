"""What the figure of a translator's masked heads shows."""

from pathlib import Path

import pandas as pd

from tests.core.figure_checks import clipped, overlapping
from tests.translation.made_up_scores import scores
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.plots import colours
from workflow_scripts.core.plots.figures import style
from workflow_scripts.translation.figures import LEVEL, michel2019_translation_fig1


def test_heads_are_ranked_by_bleu_and_coloured_by_type(tmp_path: Path) -> None:
    frame = pd.concat([scores("1"), scores("2", seed=2)])
    tables.write(frame, tmp_path / "scores")
    with style():
        figure = michel2019_translation_fig1.__wrapped__([tmp_path / "scores"])
        assert overlapping(figure) == clipped(figure) == []
    for axes, run in zip(figure.axes, ("1", "2"), strict=True):
        rows = tables.where(frame, run=run, unit="head", metric="bleu", split="test")
        rows = rows.sort_values("score").assign(rank=range(1, len(rows) + 1))
        for kind, look in colours.ATTENTION.items():
            expected = rows.loc[rows["type"] == kind, ["rank", "score"]].to_numpy().tolist()
            lines = [line for line in axes.lines if line.get_color() == look.colour]
            assert [line.get_xydata().tolist() for line in lines] == [expected]
        significant = rows[rows["p_corrected"] < LEVEL]
        worst = significant.iloc[0]
        names = ", ".join(text.get_text() for text in axes.texts).split(", ")
        assert len(names) == min(4, len(significant))
        assert head_label(worst["layer"], worst["head"]) in names
