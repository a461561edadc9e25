"""The figures of pruning a translator, of tables made by hand: what is drawn and what is stated."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.core.figure_checks import clipped, overlapping, too_small, width_of
from tests.translation.made_up_curves import HEADS, rows, write_curves, write_epochs
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run.job import call
from workflow_scripts.translation import figures as translation_figures

BOTH = ["importance", "score", "random"]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved."""
    saved: list[Figure] = []
    save = figures.save

    def keep(figure: Figure, svg: Path, pdf: Path, png: Path) -> None:
        saved.append(figure)
        save(figure, svg, pdf, png)
        figure.set_layout_engine("constrained")

    monkeypatch.setattr(figures, "save", keep)
    return saved


def outputs(folder: Path) -> dict[str, Path]:
    return {kind: folder / f"figure.{kind}" for kind in ("svg", "pdf", "png")}


def lines_of(axes: Axes) -> dict[str, np.ndarray]:
    return {line.get_label(): np.array(line.get_xydata()) for line in axes.get_lines()}


def fits(figure: Figure, svg: Path) -> None:
    assert clipped(figure) == []
    assert overlapping(figure) == []
    assert too_small(svg) == []
    assert width_of(svg) <= figures.TWO_COLUMNS + 0.01


def test_figure_3_is_of_all_heads(tmp_path: Path, drawn: list[Figure]) -> None:
    curves = [write_curves(tmp_path / run, run, BOTH) for run in ("1", "2")]
    call(translation_figures.michel2019_translation_fig3, {"curves": curves} | outputs(tmp_path))
    bleu, loss = drawn[0].axes
    assert bleu.get_title() == "BLEU\n200 test sentences, 2 runs"
    assert loss.get_title().startswith("Teacher-forced loss")
    lines = lines_of(bleu)
    assert list(lines) == ["importance", "score with one head masked", "random"]
    made = rows("1", "importance", "all")
    np.testing.assert_allclose(
        lines["importance"], np.stack([100 * made["share"], made["score"]], 1)
    )
    random = np.mean([rows("1", "random", "all", draw)["score"] for draw in range(3)], axis=0)
    np.testing.assert_allclose(lines["random"][:, 1], random)
    assert (np.diff(lines_of(loss)["importance"][:, 1]) > 0).all()
    fits(drawn[0], tmp_path / "figure.svg")


@pytest.mark.parametrize("strategies", [BOTH, ["importance"]], ids=["all orders", "one order"])
def test_figure_4_is_of_each_type_over_its_own_heads(
    tmp_path: Path, drawn: list[Figure], strategies: list[str]
) -> None:
    curves = [write_curves(tmp_path / "pretrained", "pretrained", strategies)]
    call(translation_figures.michel2019_translation_fig4, {"curves": curves} | outputs(tmp_path))
    assert len(drawn[0].axes) == len(strategies)
    assert drawn[0].axes[0].get_title() == "Pruned by importance\n200 test sentences, 1 run"
    types = [name for name in HEADS if name != "all"]
    for axes, strategy in zip(drawn[0].axes, strategies, strict=True):
        lines = lines_of(axes)
        assert list(lines) == ["Enc-Enc", "Enc-Dec", "Dec-Dec"]
        for line, scope in zip(lines.values(), types, strict=True):
            draws = range(3 if strategy == "random" else 1)
            made = np.mean([rows("1", strategy, scope, draw)["score"] for draw in draws], axis=0)
            np.testing.assert_allclose(line[:, 1], made)
            assert line[-1, 0] == 100
    fits(drawn[0], tmp_path / "figure.svg")


def test_figure_5_is_a_share_of_each_epochs_bleu(tmp_path: Path, drawn: list[Figure]) -> None:
    epochs = [1, 2, 4, 8, 16, 24]
    tables = [write_epochs(tmp_path, run, epochs) for run in ("1", "2")]
    inputs = {"training": [one for one, _ in tables], "importance": [two for _, two in tables]}
    call(translation_figures.michel2019_translation_fig5, inputs | outputs(tmp_path))
    [axes] = drawn[0].axes
    lines = lines_of(axes)
    assert list(lines)[:2] == ["epoch 1: BLEU 0.0, ρ = 0.00", "epoch 2: BLEU 18.0, ρ = 0.20"]
    assert list(lines)[-1] == "epoch 24: BLEU 90.0 (last)"
    assert np.isnan(next(iter(lines.values()))[:, 1]).all()
    made = rows("1", "importance", "all")
    np.testing.assert_allclose(list(lines.values())[-1][:, 1], 100 * made["kept"])
    assert axes.get_title().endswith("200 test sentences, 2 runs")
    band = axes.collections[-1].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(90 * made["kept"].min())
    assert band.max() == pytest.approx(110 * made["kept"].max())
    assert "over 36 heads" in axes.get_legend().get_title().get_text()
    fits(drawn[0], tmp_path / "figure.svg")
