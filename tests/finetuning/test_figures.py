"""What the figures of attention before and after fine-tuning show."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.finetuning.builders import TEXTS, annotated
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.examples import write_examples
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


SHOWN = {
    "kovaleva2019_fig6": ("all", ["[SEP], max 0.15", "[CLS], max 0.94"]),
    "kovaleva2019_fig7": ("cls", ["1 seed, 95% intervals up to ±0.02", "[CLS] (30)", "verb (0)"]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_figure_states_its_scale_and_examples(name: str, tmp_path: Path) -> None:
    query, words = SHOWN[name]
    tables.write(features(query, sep=0.15, cls=0.94), tmp_path / "features")
    out = {kind: tmp_path / f"figure.{kind}" for kind in ("svg", "pdf", "png")}
    getattr(figures, name)([tmp_path / "features"], **out)
    drawn = out["svg"].read_text(encoding="utf-8")
    assert [word for word in words if word not in drawn] == []


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


def test_maps_show_their_text(tmp_path: Path) -> None:
    examples, _ = annotated()
    write_examples(tmp_path / "examples", examples)
    axes = {"layer": range(2), "head": range(2), "query": range(3), "key": range(3)}
    maps = pd.concat(
        tables.tidy(axes, weight=np.full((2, 2, 3, 3), 1 / 3)).assign(stage=stage)
        for stage in ("pretrained", "fine-tuned")
    )
    tables.write(maps.assign(task="rte", example="e1"), tmp_path / "maps")
    out = {kind: tmp_path / kind for kind in ("svg", "pdf", "png")}
    figures.kovaleva2019_maps(tmp_path / "maps", tmp_path / "examples", **out)
    drawn = out["svg"].read_text(encoding="utf-8")
    for line in ("RTE, example e1, 3 tokens:", *TEXTS[1], "Attention weight"):
        assert line in drawn


def test_a_long_text_is_wrapped(tmp_path: Path) -> None:
    examples, _ = annotated()
    write_examples(tmp_path / "examples", examples)
    lines = figures.sentences(tmp_path / "examples", "e0", width=1).split("\n")
    assert lines == ["the river flows", ".", "she saw the old", "city ."]
    write_examples(tmp_path / "examples", [replace(examples[0], texts=("the river " * 5000,))])
    lines = figures.sentences(tmp_path / "examples", "e0", width=1).split("\n")
    assert len(lines) == figures.LINES
    assert lines[-1].endswith(" …")
