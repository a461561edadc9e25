"""The claims figure: legible for all built-in claims, and its marks where the table has them."""

import math
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.claims.judged import CLAIMS
from tests.core.figure_checks import clipped, overlapping, texts_of, too_small, width_of
from workflow_scripts.claims import figures as claims
from workflow_scripts.core.plots import colours, figures


def row(**values: object) -> dict[str, object]:
    """A case of a claim: more than 50%, which the paper has at 60 and we at 40."""
    found = {"id": "a", "paper": "A et al.", "statement": "More than half.", "rule": "above 50 %"}
    found |= {"paper_value": 60.0, "rule_low": 50.0, "rule_high": math.nan, "case": "SST-2"}
    found |= {"ours": 40.0, "ci_low": 30.0, "ci_high": 45.0, "interval": math.nan, "n": 9.0}
    found |= {"untrained_low": math.nan, "untrained_high": math.nan}
    found |= {"reference": math.nan, "n_of": "words", "central": 1, "source": "summaries"}
    return found | {"verdict": "does not carry over"} | values


def drawn(rows: list[dict], folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Figure, Path]:
    """The figure of a table, and its SVG file."""
    kept: list[Figure] = []

    def save(figure: Figure, svg: Path, pdf: Path, png: Path) -> None:
        kept.append(figure)
        figure.savefig(svg, format="svg")

    monkeypatch.setattr(figures, "save", save)
    pd.DataFrame(rows).to_csv(folder / "claims.csv", index=False)
    outputs = {kind: folder / f"f.{kind}" for kind in ("svg", "pdf", "png")}
    claims.claims_figure(folder / "claims.csv", **outputs)
    return kept[0], outputs["svg"]


def test_every_claim_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All central claims at once, in turn under each verdict, every third with two cases."""
    rows = []
    for i, claim in enumerate(claim for claim in CLAIMS.values() if claim.central):
        low, high = (end if math.isfinite(end) else math.nan for end in claim.target)
        verdict = claims.JUDGED[i % len(claims.JUDGED)]
        about = {"id": claim.id, "paper": claim.paper, "statement": claim.statement}
        about |= {"rule": claim.in_words(), "rule_low": low, "rule_high": high}
        about |= {"reference": claim.reference}
        about |= {"paper_value": claim.printed, "verdict": verdict, "interval": "over documents"}
        rows += [
            row(**about, case=case) for case in ("MNLI", "SST-2 editorials")[: 1 + (i % 3 > 1)]
        ]
    figure, svg = drawn(rows, tmp_path, monkeypatch)
    assert clipped(figure) == []
    assert overlapping(figure) == []
    assert too_small(svg) == []
    assert width_of(svg) <= figures.TWO_COLUMNS + 0.01


def test_marks_lie_where_the_table_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The axis goes from 30 to 60, with 3 more at each end."""
    ends = {"ci_low": 51.0, "ci_high": 57.0, "untrained_low": 35.0, "untrained_high": 36.0}
    other = row(reference=48.0, case="MNLI", ours=55.0, **ends, verdict="carries over")
    left_out = [row(id=verdict, verdict=verdict) for verdict in ("not tested", "not run")]
    left_out.append(row(id="other", central=math.nan))
    figure, svg = drawn([row(), other, *left_out], tmp_path, monkeypatch)
    (axes,) = figure.axes

    def value(place: float) -> float:
        width = claims.STRIP_END - claims.STRIP
        return 27 + (place - claims.STRIP) / width * 36

    (rule,) = axes.patches
    assert value(rule.get_x()) == pytest.approx(50)
    assert rule.get_x() + rule.get_width() == pytest.approx(claims.STRIP_END)
    marks = {
        line.get_marker(): (value(line.get_xdata()[0]), line.get_color())
        for line in axes.lines
        if line.get_marker() != "None" and len(line.get_xdata())
    }
    assert marks.pop("x") == (pytest.approx(35), colours.GREY)
    looks = [colours.VERDICTS[name] for name in ("does not carry over", "carries over")]
    wanted = zip(looks, (40, 55), strict=True)
    assert marks == {look.marker: (pytest.approx(x), look.colour) for look, x in wanted}
    lines = [[value(x) for x in line.get_xdata()] for line in axes.lines]
    for ends in ([30, 45], [51, 57], [60, 60], [48, 48], [35, 36]):
        assert any(line == pytest.approx(ends) for line in lines if len(line) == 2)
    texts = [words for words, _ in texts_of(svg)]
    assert "SST-2: 40 (30 to 45), n = 9 words" in texts
    assert "Rule: above 50 %; the paper's number: 60 (as summarised)" in texts
    assert "1 of 3 central claims are tested in this study." in texts
