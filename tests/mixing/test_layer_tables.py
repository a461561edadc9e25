"""The tables by norm and by layer, by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.claims import norms
from workflow_scripts.claims.products import Products
from workflow_scripts.core.data import tables
from workflow_scripts.mixing import figures, kobayashi2020_table1
from workflow_scripts.mixing.block_parts import by_layer

SHARE = {"ci_low": 0.1, "ci_high": 0.9, "n": 7, "n_documents": 3}


def shares(values: dict[tuple[int, str], float], **columns: float) -> pd.DataFrame:
    """A table of special tokens of heads of one layer."""
    rows = [
        {"layer": 0, "head": head, "target": target, "attention": value, **SHARE, **columns}
        for (head, target), value in values.items()
    ]
    return pd.DataFrame(rows)


def test_a_row_has_both_ways(tmp_path: Path) -> None:
    weights = shares({(0, "cls"): 0.6, (0, "sep"): 0.2, (1, "cls"): 0.5}, uniform=0.05)
    norms = shares({(1, "cls"): 0.25, (0, "sep"): 0.3, (0, "cls"): 0.125}, uniform=0.05)
    paths = {"weights": tmp_path / "w.parquet", "norms": tmp_path / "n.parquet"}
    tables.write(weights, paths["weights"])
    tables.write(norms, paths["norms"])
    figure = {kind: tmp_path / f"f.{kind}" for kind in ("svg", "pdf", "png")}
    figures.kobayashi2020_norms(**paths, **figure, table=tmp_path / "t.csv")
    found = tables.read_csv(tmp_path / "t.csv").set_index(["target", "head"])
    assert found.loc[("cls", "1-1"), ["weight", "norm"]].tolist() == [60, 12.5]
    assert found.loc[("sep", "1-1"), ["weight", "norm"]].tolist() == [20, 30]
    row = found.loc[("cls", "1-2")]
    assert row[["weight_low", "norm_high", "uniform", "n"]].tolist() == [10, 90, 5, 7]


def scores(accuracies: dict[tuple[str, int], float], n: int = 50, **columns) -> pd.DataFrame:
    """A table of dependencies: accuracy by relation and head, its interval .05 to each side."""
    rows = [
        {"direction": "dependent_to_head", "relation": relation, "layer": 0, "head": head}
        | {"accuracy": value, "ci_low": value - 0.05, "ci_high": value + 0.05}
        | {"n": n, "n_documents": 3, **columns}
        for (relation, head), value in accuracies.items()
    ]
    return pd.DataFrame(rows)


def test_the_best_heads_of_both_ways() -> None:
    weights = scores({("det", 0): 0.9, ("det", 1): 0.8, ("obj", 0): 0.7, ("obj", 1): 0.1})
    norms = scores({("det", 0): 0.5, ("det", 1): 0.85, ("obj", 0): 0.6, ("obj", 1): 0.2})
    found = kobayashi2020_table1.both_ways(weights, norms, 20).set_index("relation")
    det, obj = found.loc["det"], found.loc["obj"]
    assert (det["best_by_weight"], det["best_by_norm"]) == ("1-1", "1-2")
    assert (det["same"], det["surely_another"]) == (False, True)
    assert det["best_by_weight_weight"] == pytest.approx(90)
    assert det["best_by_weight_norm"] == pytest.approx(50)
    assert det["best_by_norm_weight_low"] == pytest.approx(75)
    assert (obj["best_by_norm"], obj["same"], obj["surely_another"]) == ("1-1", True, False)


def test_layers_and_their_mean_by_hand() -> None:
    """One document has two of the three texts; a text without a number has no part in it."""
    texts = [[{"x": layer} for layer in text] for text in ([1.0, 5.0], [3.0, np.nan], [8.0, 6.0])]
    found = by_layer(texts, "measure", "value", 200, 1, ["a", "a", "b"])
    assert found["layer"].tolist() == ["1", "2", "all"]
    assert found["value"].tolist() == pytest.approx([4, 5.5, 13 / 3])
    assert found[["n", "n_documents"]].to_numpy().tolist() == [[3, 2]] * 3
    assert found.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx([2, 8])


def test_agreement_with_value_zeroing_is_shown_by_layer(tmp_path: Path) -> None:
    texts = [[{"top_weights": layer, "top_norms": 1.0, "self": 0.3} for layer in (0.96, 0.02)]] * 2
    path = tmp_path / "tables" / "mohebbi2023-zeroing.csv"
    path.parent.mkdir()
    tables.write_csv(by_layer(texts, "measure", "value", 100, 1, ["a", "b"]), path)
    figure = figures.mohebbi2023_zeroing.__wrapped__(path)
    lines = {line.get_label(): line.get_xydata().tolist() for line in figure.axes[0].lines}
    assert lines == {"by weight": [[1, 96], [2, 2]], "by norm": [[1, 100], [2, 100]]}
    found = norms.zeroing_agreement(Products([path]), "top_weights")
    assert (found.value, found.about) == (pytest.approx(49), "layers 1 to 2: 96, 2%")
