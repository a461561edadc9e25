"""The linguistic heads of Figure 6, joined from the scores of syntax and coreference."""

from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.clusters import linguistic_heads
from workflow_scripts.core.data import tables

GOLD = {"syntax": "gold", "coreference": "generated"}


@pytest.fixture
def scores(tmp_path: Path) -> dict[str, Path]:
    """Two heads: 1-1 finds det and no better than the offset pobj, 2-3 finds antecedents."""
    rows = [
        ("det", 0, 0, 0.9, 0.8, 30), ("det", 1, 2, 0.5, 0.4, 30),
        ("pobj", 0, 0, 0.6, 0.5, 30), ("pobj", 1, 2, 0.1, 0.0, 30),
        ("rare", 0, 0, 1.0, 1.0, 2), ("punct", 0, 0, 1.0, 1.0, 99),
    ]  # fmt: skip
    names = ["relation", "layer", "head", "accuracy", "ci_low", "n"]
    syntax = pd.DataFrame(rows, columns=names).assign(direction="dependent_to_head", ci_high=1.0)
    offsets = [("det", 1, 0.3), ("det", -1, 0.7), ("pobj", 1, 0.55), ("rare", 1, 0.0)]
    found = [
        (candidates, kind, layer, head, accuracy)
        for candidates, kind, layer, head, accuracy in (
            ("words", "other_word", 0, 0, 0.2), ("words", "other_word", 1, 2, 0.6),
            ("mentions", "other_word", 0, 0, 0.9), ("words", "all", 0, 0, 0.95),
        )
    ]  # fmt: skip
    coreference = pd.DataFrame(found, columns=["candidates", "type", "layer", "head", "accuracy"])
    coreference = coreference.assign(ci_low=coreference["accuracy"] - 0.05, ci_high=1.0, n=40)
    rules = [
        ("nearest", "other_word", 0.58),
        ("head_match", "other_word", 0),
        ("nearest", "all", 1),
    ]
    frames = {
        "syntax/scores.parquet": syntax,
        "syntax/offsets.parquet": pd.DataFrame(offsets, columns=["relation", "offset", "accuracy"]),
        "coreference/scores.parquet": coreference,
        "coreference/rules.parquet": pd.DataFrame(rules, columns=["system", "type", "accuracy"]),
    }
    for name, frame in frames.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        tables.write(frame, tmp_path / name)
    return {name: tmp_path / name for name in frames}


def run(folder: Path, paths: dict[str, Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of heads, and the printed one."""
    settings = {"relations": ["rare", "pobj", "det"], "fewest": 20, "annotations": GOLD}
    outputs = {"heads": folder / "heads", "table": folder / "table"}
    linguistic_heads.main(**outputs, **settings, known=list(paths.values()))
    return tables.read(outputs["heads"]), pd.read_csv(outputs["table"])


def test_best_heads_are_marked_where_they_beat_the_baseline(
    tmp_path: Path, scores: dict[str, Path]
) -> None:
    heads, printed = run(tmp_path, scores)
    assert heads["behaviour"].tolist() == ["pobj", "det", "coreference"]
    assert heads["marked"].tolist() == [False, True, False]
    assert heads["baseline"].tolist() == [0.55, 0.7, 0.58]
    assert heads["annotation"].tolist() == ["gold", "gold", "generated"]
    assert printed["head"].tolist() == ["1-1", "1-1", "2-3"]
    assert printed["accuracy"].tolist() == pytest.approx([60, 90, 60])
    assert printed["n"].tolist() == [30, 30, 40]


@pytest.mark.parametrize(
    ("kept", "behaviours"),
    [
        (("syntax/scores.parquet", "syntax/offsets.parquet"), ["pobj", "det"]),
        (("coreference/scores.parquet", "coreference/rules.parquet"), ["coreference"]),
        ((), []),
    ],
)
def test_chapters_may_be_absent(
    tmp_path: Path, scores: dict[str, Path], kept: tuple, behaviours: list
) -> None:
    heads, printed = run(tmp_path, {name: scores[name] for name in kept})
    assert heads["behaviour"].tolist() == behaviours
    assert len(printed) == len(behaviours)
    assert {"layer", "head", "marked"} <= set(heads)
