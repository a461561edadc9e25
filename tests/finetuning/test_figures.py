"""What the figures of attention before and after fine-tuning show."""

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours
from workflow_scripts.finetuning import figures


def features(query: str, **attention: float) -> pd.DataFrame:
    """Two heads' attention to kinds of tokens, on two tasks; the second head's is halved."""
    rows = [
        {"task": task, "kind": kind, "head": head, "attention": value / (1 + head), "stage": stage}
        for task in ("rte", "sst2")
        for kind, value in attention.items()
        for head in (0, 1)
        for stage in ("pretrained", "fine-tuned")
    ]
    frame = pd.DataFrame(rows).assign(layer=0, query=query, seed=1, n=30)
    return frame.assign(ci_low=frame["attention"] - 0.02, ci_high=frame["attention"] + 0.02)


def scales(figure: Figure) -> list[tuple[float, float]]:
    """The ends of the colour scale of every map."""
    images = (image for axes in figure.axes for image in axes.get_images())
    return [image.get_clim() for image in images]


def test_figure_5_shows_change_from_0(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    similarity = frames["similarity"]
    tables.write(similarity, tmp_path / "similarity")
    figure = figures.kovaleva2019_fig5.__wrapped__([tmp_path / "similarity"])
    least = similarity.groupby(["task", "layer", "head"])["similarity"].mean().min()
    shown = figure.axes[0].get_images()[0].get_array()
    assert shown.max() == pytest.approx(1 - least)
    assert scales(figure) == [(0, pytest.approx(1 - least))]


def test_sep_and_cls_have_a_scale_each(tmp_path: Path) -> None:
    tables.write(features("all", sep=0.15, cls=0.94), tmp_path / "features")
    figure = figures.kovaleva2019_fig6.__wrapped__([tmp_path / "features"])
    assert scales(figure) == [(0, pytest.approx(end)) for end in (15, 15, 94, 94)]


def test_a_change_is_unclear_where_widened_intervals_overlap() -> None:
    """Of two heads the normal distribution's 98.75th percentile counts: 2.2414, not 1.96."""
    wider = 2.241403 / 1.959964
    rows = [
        {"layer": 0, "head": head, "stage": stage, "attention": value}
        for head, after in ((0, 0.3 + 0.04 * wider + 1e-4), (1, 0.3 + 0.04 * wider - 1e-4))
        for stage, value in (("pretrained", 0.3), ("fine-tuned", after))
    ]
    frame = pd.DataFrame(rows)
    frame = frame.assign(ci_low=frame["attention"] - 0.02, ci_high=frame["attention"] + 0.02)
    assert figures.unclear(frame).tolist() == [[False, True]]


def test_the_features_table_and_figure(frames: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    features_frame = frames["features"]
    tables.write(features_frame, tmp_path / "f.parquet")
    out = {name: tmp_path / name for name in ("svg", "pdf", "png", "table")}
    figures.kovaleva2019_features([tmp_path / "f.parquet"], **out)
    table = pd.read_csv(out["table"]).set_index("kind")
    frame = features_frame[(features_frame["query"] == "all") & (features_frame["kind"] == "verb")]
    means = frame.set_index(["stage", "layer", "head"])["attention"]
    gains = means["fine-tuned"] - means["pretrained"]
    layer, head = gains.idxmax()
    assert table.loc["verb", "head"] == f"{layer + 1}-{head + 1}"
    assert table.loc["verb", "gain"] == pytest.approx(gains.max(), rel=1e-4)
    assert table.loc["verb", "pretrained"] == pytest.approx(means["pretrained"].mean(), rel=1e-4)
    assert table.loc["negation", ["n", "n_without"]].tolist() == [1, 2]
    shares = frame.groupby("stage")["share"].mean()
    actual = table.loc["verb", ["pretrained_share", "fine-tuned_share"]].astype(float).tolist()
    assert actual == pytest.approx(shares[["pretrained", "fine-tuned"]].tolist(), rel=1e-4)


def test_features_show_changes_in_points_and_which_are_clear(tmp_path: Path) -> None:
    frame = features("all", verb=0.3).assign(share=0.3, tokens=0.2, n_without=0)
    gained = (frame["stage"] == "fine-tuned") & (frame["head"] == 0)
    frame.loc[gained, ["attention", "ci_low", "ci_high"]] += 0.1
    tables.write(frame, tmp_path / "features")
    figure = figures.kovaleva2019_features.__wrapped__([tmp_path / "features"], tmp_path / "table")
    for axes in figure.axes:
        shown = {line.get_color(): line.get_ydata() for line in axes.lines}
        assert shown[colours.NEUTRAL] == pytest.approx([10])
        assert shown[colours.PALE] == pytest.approx([0])
        assert shown[colours.BLACK] == pytest.approx([5])


def test_the_strongest_heads_and_the_figure(
    frames: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    tables.write(frames["shared"], tmp_path / "s.parquet")
    out = {name: tmp_path / name for name in ("svg", "pdf", "png", "table")}
    figures.kovaleva2019_shared([tmp_path / "s.parquet"], **out)
    printed = pd.read_csv(out["table"])
    rows = frames["shared"][
        (frames["shared"]["stage"] == "fine-tuned") & (frames["shared"]["measure"] == "shared")
    ]
    best = rows.loc[rows["excess"].idxmax()]
    shown = printed[(printed["stage"] == "fine-tuned") & (printed["measure"] == "shared")]
    assert shown["head"].iloc[0] == f"{best['layer'] + 1}-{best['head'] + 1}"
    assert shown["excess"].tolist() == pytest.approx(
        sorted(rows["excess"], reverse=True)[:3], rel=1e-4
    )
