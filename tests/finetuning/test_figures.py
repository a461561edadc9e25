"""What the figures of attention before and after fine-tuning show."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.finetuning.builders import TEXTS, annotated
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import write_examples
from workflow_scripts.core.plots import figures
from workflow_scripts.finetuning import figures as finetuning_figures


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved from now on."""
    found: list[Figure] = []
    monkeypatch.setattr(figures, "save", lambda figure, *_: found.append(figure))
    return found


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


def draw(figure: Callable[..., None], frame: pd.DataFrame, folder: Path) -> None:
    tables.write(frame, folder / "features")
    out = {kind: folder / kind for kind in ("svg", "pdf", "png")}
    figure([folder / "features"], **out)


def test_sep_and_cls_share_one_scale(saved: list[Figure], tmp_path: Path) -> None:
    draw(finetuning_figures.kovaleva2019_fig6, features("all", sep=0.15, cls=0.94), tmp_path)
    (figure,) = saved
    maps = [axes for axes in figure.axes if axes.images]
    assert [axes.images[0].get_clim() for axes in maps] == [(0, 0.94)] * 4
    labels = [axes.get_ylabel() for axes in maps if axes.get_ylabel()]
    assert labels == ["[SEP], max 0.15\nLayer", "[CLS], max 0.94\nLayer"]


def test_figure_7_states_examples_seeds_and_intervals(saved: list[Figure], tmp_path: Path) -> None:
    frame = features("cls", noun=0.4, cls=0.2)
    frame.loc[frame["kind"] == "noun", "n"] = 12
    frame.loc[frame["task"] == "rte", "ci_high"] += 0.1
    draw(finetuning_figures.kovaleva2019_fig7, frame, tmp_path)
    titles = [axes.get_title() for axes in saved[0].axes[:2]]
    assert titles == [
        "SST-2\n1 seed, 95% intervals up to ±0.02",
        "RTE\n1 seed, 95% intervals up to ±0.07",
    ]
    labels = [label.get_text() for label in saved[0].axes[0].get_xticklabels()]
    assert {"noun (12)", "[CLS] (30)", "verb (0)"} <= set(labels)


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
    assert finetuning_figures.unclear(frame).tolist() == [[False, True]]


def test_changes_state_examples_and_seeds() -> None:
    frame = features("all", noun=0.4)
    later = (frame["stage"] == "fine-tuned") & (frame["head"] == 0)
    frame.loc[later, ["attention", "ci_low", "ci_high"]] += 0.2
    figure = finetuning_figures.draw_changes(frame)
    maps = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title() for axes in maps[:2]] == ["SST-2\nn = 30", "RTE\nn = 30"]
    np.testing.assert_allclose(maps[0].images[0].get_alpha(), [[1, 0.5]])  # one head changes
    (legend,) = figure.legends
    words = "95% intervals before and after overlap, corrected for 2 heads (1 seed)"
    assert [text.get_text() for text in legend.get_texts()] == [words]


def test_maps_show_their_text_on_one_scale(saved: list[Figure], tmp_path: Path) -> None:
    examples, _ = annotated()
    write_examples(tmp_path / "examples", examples)
    axes = {"layer": range(2), "head": range(2), "query": range(3), "key": range(3)}
    maps = pd.concat(
        tables.tidy(axes, weight=np.full((2, 2, 3, 3), 1 / 3)).assign(stage=stage)
        for stage in ("pretrained", "fine-tuned")
    )
    tables.write(maps.assign(task="rte", example="e1"), tmp_path / "maps")
    out = {kind: tmp_path / kind for kind in ("svg", "pdf", "png")}
    finetuning_figures.kovaleva2019_maps(tmp_path / "maps", tmp_path / "examples", **out)
    (figure,) = saved
    assert figure.get_suptitle() == "RTE, example e1, 3 tokens:\n" + "\n".join(TEXTS[1])
    assert [each.images[0].get_clim() for each in figure.axes[:2]] == [(0, 0.25)] * 2
    assert figure.axes[2].get_ylabel() == "Attention weight"


def test_a_long_text_is_wrapped(tmp_path: Path) -> None:
    examples, _ = annotated()
    write_examples(tmp_path / "examples", examples)
    lines = finetuning_figures.sentences(tmp_path / "examples", "e0", width=1).split("\n")
    assert lines == ["the river flows", ".", "she saw the old", "city ."]
    write_examples(tmp_path / "examples", [replace(examples[0], texts=("the river " * 5000,))])
    lines = finetuning_figures.sentences(tmp_path / "examples", "e0", width=1).split("\n")
    assert len(lines) == finetuning_figures.LINES
    assert lines[-1].endswith(" …")
