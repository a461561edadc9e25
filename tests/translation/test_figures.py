"""What the figures of translators show, and that they fit a page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.core.figure_checks import clipped, overlapping, too_small, width_of
from tests.translation import made_up_scores
from tests.translation.made_up_curves import HEADS, rows, write_curves, write_epochs
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import ATTENTION_TYPES
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run.job import call
from workflow_scripts.translation import figures as translation_figures
from workflow_scripts.translation import michel2019_translation_tables

STUDIES = {
    "one small run": (["1"], (3, 4), ("validation", "test")),
    "four runs": (["1", "2", "3", "4"], (4, 4), ("validation", "test")),
    "a large model with a domain": (["pretrained"], (6, 16), ("validation", "test", "speech")),
}


def scored(runs: list[str], shape: tuple[int, int], splits: tuple[str, ...]) -> pd.DataFrame:
    frames = [made_up_scores.scores(run, shape, splits, at) for at, run in enumerate(runs)]
    return pd.concat(frames, ignore_index=True)


def masked(frame: pd.DataFrame, tmp_path: Path) -> pd.DataFrame:
    tables.write(frame, tmp_path / "scores")
    return translation_figures.read_masked([tmp_path / "scores"])


def points_and_pairs(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    points = michel2019_translation_tables.split_pairs(frame)
    gains = made_up_scores.gains(frame)
    return points, michel2019_translation_tables.agreement(points, gains, 100, 1)


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_figure_fits_a_page(study: tuple, tmp_path: Path) -> None:
    frame = scored(*study)
    with figures.style():
        drawn = {
            "grids": translation_figures.draw_grids(masked(frame, tmp_path)),
            "fig1": translation_figures.draw_histograms(masked(frame, tmp_path)),
            "fig2": translation_figures.draw_splits(*points_and_pairs(frame)),
        }
        for name, figure in drawn.items():
            assert clipped(figure) == [], name
            assert overlapping(figure) == [], name
            svg = tmp_path / f"{name}.svg"
            figure.savefig(svg)
            assert width_of(svg) <= figures.TWO_COLUMNS + 1e-6
            assert figure.get_figheight() <= 9.5
            assert too_small(svg) == []


def test_grids_have_a_map_per_run_and_type_on_one_scale(tmp_path: Path) -> None:
    frame = masked(scored(["1", "2"], (2, 3), ("validation", "test")), tmp_path)
    assert len(frame) == 2 * 18  # the test set, BLEU, one head, gates of 0
    figure = translation_figures.draw_grids(frame)
    panels = [axes for axes in figure.axes if axes.images]
    assert len(panels) == 6
    for panel, (run, kind) in zip(
        panels, [(r, t) for r in "12" for t in ATTENTION_TYPES], strict=True
    ):
        rows = frame[(frame["run"] == run) & (frame["type"] == kind)]
        image = panel.images[0]
        expected = rows.pivot_table(index="layer", columns="head", values="effect")
        np.testing.assert_allclose(np.asarray(image.get_array()), expected)
        assert image.get_clim() == (-frame["effect"].abs().max(), frame["effect"].abs().max())
        p = rows.pivot_table(index="layer", columns="head", values="p_corrected").to_numpy()
        np.testing.assert_array_equal(panel.images[0].get_alpha() == 1, p < 0.05)
    assert "corrected for the 18 heads" in figure.legends[0].get_texts()[0].get_text()
    assert "Seed 1\nunchanged 35.5 BLEU\nn = 101" in panels[0].get_ylabel()


def test_the_histogram_has_every_head_in_the_colour_of_its_type(tmp_path: Path) -> None:
    frame = masked(scored(["1"], (3, 4), ("validation", "test")), tmp_path)
    figure = translation_figures.draw_histograms(frame)
    (axes,) = figure.axes
    counted: dict[str, float] = {}
    below = np.zeros(20)
    for bars in axes.containers:
        colour = to_hex(bars[0].get_facecolor()).upper()
        counted[colour] = sum(bar.get_height() for bar in bars)
        np.testing.assert_allclose([bar.get_y() for bar in bars], below)  # stacked
        below += [bar.get_height() for bar in bars]
    assert counted == {look.colour: 12 for look in colours.ATTENTION.values()}
    (line,) = axes.lines
    assert set(line.get_xdata()) == {35.5}
    left = min(bar.get_x() for bar in axes.containers[0])
    assert left == pytest.approx(frame["score"].min())


def test_figure_2_shows_validation_and_test_and_test_and_domain() -> None:
    frame = scored(["1"], (2, 3), ("validation", "test", "speech"))
    points, pairs = points_and_pairs(frame)
    shown = translation_figures.plotted_points(points)
    assert shown[["one", "other"]].drop_duplicates().values.tolist() == [
        ["validation", "test"],
        ["test", "speech"],
    ]
    figure = translation_figures.draw_splits(points, pairs)
    first, second = figure.axes
    row = pairs[(pairs["metric"] == "bleu") & (pairs["type"] == "all") & (pairs["one"] == "test")]
    row = row[row["kind"] == "splits"].iloc[0]
    assert f"r {row['pearson']:.2f} (" in second.get_title()
    assert "between halves of speech: 0.70" in second.get_title()
    assert first.get_xlabel() == "validation, n = 100" and first.get_ylabel() == "test, n = 101"
    marks = {
        line.get_label(): line
        for line in first.lines
        if line.get_label() in ATTENTION_TYPES.values()
    }
    group = shown[(shown["other"] == "test") & (shown["type"] == "decoder")]
    np.testing.assert_allclose(marks["Dec-Dec"].get_xdata(), group["x"])
    np.testing.assert_allclose(marks["Dec-Dec"].get_ydata(), group["y"])
    worst = shown[shown["other"] == "test"].assign(loss=lambda rows: rows["x"] + rows["y"])
    worst = worst.loc[worst["loss"].idxmin()]
    assert [text.get_text() for text in first.texts] == [
        f"{ATTENTION_TYPES[worst['type']]} {worst['layer'] + 1}-{worst['head'] + 1}"
    ]


def test_a_table_whose_runs_are_numbers_is_read(tmp_path: Path) -> None:
    """CSV turns seeds into numbers; the points have them as strings."""
    points, pairs = points_and_pairs(scored(["1", "2"], (1, 2), ("validation", "test")))
    tables.write(points, tmp_path / "points")
    tables.write_csv(pairs, tmp_path / "pairs")
    kinds = {kind: tmp_path / f"a.{kind}" for kind in ("svg", "pdf", "png")}
    inputs = {"points": tmp_path / "points", "pairs": tmp_path / "pairs"}
    call(translation_figures.michel2019_translation_fig2, inputs | kinds)
    assert kinds["png"].stat().st_size > 1000


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


def test_figure_4_is_of_each_type_over_its_own_heads(tmp_path: Path, drawn: list[Figure]) -> None:
    curves = [write_curves(tmp_path / "pretrained", "pretrained", BOTH)]
    call(translation_figures.michel2019_translation_fig4, {"curves": curves} | outputs(tmp_path))
    assert len(drawn[0].axes) == len(BOTH)
    assert drawn[0].axes[0].get_title() == "Pruned by importance\n200 test sentences, 1 run"
    types = [name for name in HEADS if name != "all"]
    for axes, strategy in zip(drawn[0].axes, BOTH, strict=True):
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
