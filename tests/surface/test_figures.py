"""Every figure of the chapter is drawn in three formats and states what it should."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.core.data import tables
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, per_head
from workflow_scripts.surface import figures

LAYERS, HEADS = 3, 4
# Shares of the tokens: [CLS] once and [SEP] twice in 128.
UNIFORM = {"cls": 1 / 128, "punctuation": 0.08}
UNIFORM |= dict.fromkeys(("sep", "sep_to_sep", "other_to_sep"), 2 / 128)


def table(kind: str, measure: str, names: list[str]) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = {name: rng.random((5, LAYERS, HEADS)) for name in names}
    return per_head(values, kind, measure, 100, 1, INDEPENDENT).assign(n_documents=2)


def strongest_table(path: Path) -> Path:
    rows = [("next token", "2-3", 0.6, "share", True), ("[SEP]", "1-1", 0.08, "share", False)]
    columns = ["pattern", "head", "strength", "unit", "shown"]
    tables.write_csv(pd.DataFrame(rows, columns=columns), path)
    return path


def drawing_table() -> pd.DataFrame:
    query, key = np.indices((4, 4))
    weights = {"query": query.ravel(), "key": key.ravel(), "weight": np.full(16, 0.25)}
    names = np.array(["[CLS]", "cost", "$5", "[SEP]"])
    weights |= {"query_token": names[query.ravel()], "key_token": names[key.ravel()]}
    rows = [
        pd.DataFrame(weights).assign(drawing=k, layer=k, head=2 * k, title="next token, 60%")
        for k in range(2)
    ]
    return pd.concat(rows).assign(uniform=1 / 128)


CASES = {
    "clark2019_fig1": (
        "drawings",
        drawing_table,
        ["Head 1-1", "$5", "Shown by no head: [SEP] (at most 8%, head 1-1)"],
    ),
    "clark2019_fig2": (
        "special_tokens",
        lambda: table(
            "target", "attention", ["cls", "sep", "punctuation", "sep_to_sep", "other_to_sep"]
        ).assign(uniform=lambda rows: rows["target"].map(UNIFORM)),
        [
            "other → [SEP]",
            "Layer",
            "[CLS] if uniform: 0.8%",
            "[SEP] if uniform: 1.6%",
            ". or , if uniform: 8.0%",
        ],
    ),
    "clark2019_fig3": (
        "gradients",
        lambda: table("target", "gradient", ["unmasked", "sep", "punctuation", "cls"]).assign(
            masked_lm_head="own"
        ),
        ["all unmasked tokens", "[SEP]", "masked-LM head: the checkpoint's own"],
    ),
    "clark2019_fig4": (
        "entropy",
        lambda: table("query", "entropy", ["all", "cls"]).assign(uniform=1.5),
        ["uniform attention", "from [CLS]"],
    ),
    "clark2019_position": (
        "position",
        lambda: table("target", "attention", ["self", "previous", "next"]),
        ["previous token", "next token", "Average attention"],
    ),
}


def arguments(name: str, folder: Path) -> dict[str, Any]:
    """What a figure needs in addition to its own table."""
    if name == "clark2019_fig1":
        return {"table": strongest_table(folder / "strongest.csv")}
    return {"threshold": 0.5} if name == "clark2019_position" else {}


@pytest.mark.parametrize("name", CASES)
def test_a_figure_shows_what_it_should_and_the_same_twice(name: str, tmp_path: Path) -> None:
    source, make, texts = CASES[name]
    tables.write(make(), tmp_path / "table.parquet")
    main = getattr(figures, name)
    outputs = {kind: tmp_path / f"figure.{kind}.part" for kind in ("svg", "pdf", "png")}
    extra = arguments(name, tmp_path)
    main(**{source: tmp_path / "table.parquet"}, **outputs, **extra)
    svg = outputs["svg"].read_text(encoding="utf-8")
    for text in texts:
        assert text.replace(">", "&gt;") in svg
    first = {kind: path.read_bytes() for kind, path in outputs.items()}
    main(**{source: tmp_path / "table.parquet"}, **outputs, **extra)
    assert first == {kind: path.read_bytes() for kind, path in outputs.items()}


def draw_lines(folder: Path, rows: pd.DataFrame, **options: bool) -> str:
    """Figure 1 of the rows, as SVG."""
    tables.write(rows, folder / "table.parquet")
    table = strongest_table(folder / "strongest.csv")
    outputs = {kind: folder / f"figure.{kind}" for kind in ("svg", "pdf", "png")}
    figures.clark2019_fig1(folder / "table.parquet", table, **outputs, **options)
    return outputs["svg"].read_text(encoding="utf-8")


def test_a_figure_without_any_pattern_states_it(tmp_path: Path) -> None:
    svg = draw_lines(tmp_path, drawing_table()[:0])
    assert "Shown by no head: [SEP]" in svg
    assert "Head" not in svg


def test_heads_chosen_by_hand_stand_for_no_pattern(tmp_path: Path) -> None:
    svg = draw_lines(tmp_path, drawing_table(), by_hand=True)
    assert "Head 2-3" in svg
    assert "Shown by no head" not in svg
