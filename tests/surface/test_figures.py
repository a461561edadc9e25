"""What Figure 1 states of the patterns that heads show, and of those that none shows."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.surface import figures


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


def draw_lines(folder: Path, rows: pd.DataFrame, **options: bool) -> str:
    """Figure 1 of the rows, as SVG."""
    tables.write(rows, folder / "table.parquet")
    table = strongest_table(folder / "strongest.csv")
    outputs = {kind: folder / f"figure.{kind}" for kind in ("svg", "pdf", "png")}
    figures.clark2019_fig1(folder / "table.parquet", table, **outputs, **options)
    return outputs["svg"].read_text(encoding="utf-8")


def test_a_head_of_each_pattern_is_drawn_and_the_others_are_named(tmp_path: Path) -> None:
    svg = draw_lines(tmp_path, drawing_table())
    for text in ("Head 1-1", "$5", "Shown by no head: [SEP] (at most 8%, head 1-1)"):
        assert text in svg


def test_a_figure_without_any_pattern_states_it(tmp_path: Path) -> None:
    svg = draw_lines(tmp_path, drawing_table()[:0])
    assert "Shown by no head: [SEP]" in svg
    assert "Head" not in svg


def test_heads_chosen_by_hand_stand_for_no_pattern(tmp_path: Path) -> None:
    svg = draw_lines(tmp_path, drawing_table(), by_hand=True)
    assert "Head 2-3" in svg
    assert "Shown by no head" not in svg
