"""The claims figure of all built-in claims is legible."""

import warnings
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.core.figure_checks import clipped, overlapping, too_small, width_of
from workflow_scripts.claims import claims_figure
from workflow_scripts.claims.verdicts import VERDICTS
from workflow_scripts.core.plots import figures

PUBLISHED = Path(__file__).parents[2] / "claims/published.csv"


def table(folder: Path) -> Path:
    """A claims table of every built-in claim, in turn under each verdict, twice under some."""
    claims = pd.read_csv(PUBLISHED).rename(columns={"value": "ours"})
    claims["verdict"] = [VERDICTS[n % len(VERDICTS)] for n in range(len(claims))]
    claims = claims.assign(paper_value=claims["ours"], ci_low=claims["ours"] - 2, ci_high=99.0)
    path = folder / "claims.csv"
    pd.concat([claims, claims[::3]]).to_csv(path, index=False)
    return path


def test_every_statement_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []

    def save(figure: Figure, svg: Path, pdf: Path, png: Path) -> None:
        drawn.append(figure)
        figure.savefig(svg, format="svg")

    monkeypatch.setattr(figures, "save", save)
    outputs = [tmp_path / f"f.{kind}" for kind in ("svg", "pdf", "png")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that axes have collapsed is a warning only
        claims_figure.main(table(tmp_path), *outputs)
    assert clipped(drawn[0]) == []
    assert overlapping(drawn[0]) == []
    assert too_small(outputs[0]) == []
    assert width_of(outputs[0]) <= figures.TWO_COLUMNS + 0.01


def test_rows_keep_to_their_statements() -> None:
    """The second paper's rows lie between those of the first in the table."""
    rows = [("B", "b", "Says b."), ("A", "a", "Says a."), ("B", "c", "Says c. " * 20)]
    frame = pd.DataFrame(rows, columns=["paper", "id", "statement"])
    frame["verdict"] = ["reproduced", "cannot tell", "not measured"]
    labels = claims_figure._labels(frame)
    assert [label.partition("\n")[0][:7] for label in labels] == [
        "B", "Says b.", "Says c.", "A", "Says a.",
    ]  # fmt: skip
    axes = Figure().subplots()
    claims_figure._statements(axes, frame, labels)
    heights = dict(zip(labels, axes.get_yticks(), strict=True))
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    places = {mark.get_ydata()[0]: int(mark.get_xdata()[0]) for mark in marks}
    found = {label[:7]: VERDICTS[places[at]] for label, at in heights.items() if at in places}
    wanted = {"Says b.": "reproduced", "Says c.": "not measured", "Says a.": "cannot tell"}
    assert found == wanted
