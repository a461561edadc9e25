"""The tables by weight and by norm, by hand."""

from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.core.data import tables
from workflow_scripts.mixing import figures, kobayashi2020_table1

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
    assert all(path.stat().st_size for path in figure.values())


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


def test_another_head_whose_interval_overlaps_is_not_surely_another() -> None:
    weights = scores({("det", 0): 0.9, ("det", 1): 0.8})
    norms = scores({("det", 0): 0.8, ("det", 1): 0.85})
    (row,) = kobayashi2020_table1.both_ways(weights, norms, 20).to_dict("records")
    assert (row["same"], row["surely_another"]) == (False, False)


def test_rare_relations_and_punctuation_are_left_out() -> None:
    weights = scores({("punct", 0): 0.9, ("det", 0): 0.9}, n=19)
    assert kobayashi2020_table1.both_ways(weights, weights, 20).empty
    common = pd.concat([scores({("punct", 0): 0.9, ("det", 0): 0.9})])
    found = kobayashi2020_table1.both_ways(common, common, 20)
    assert found["relation"].tolist() == ["det"]


def test_directions_of_a_decoder_have_rows_of_their_own() -> None:
    weights = scores({("det", 0): 0.9}, coverage=0.25)
    other = weights.assign(direction="head_to_dependent", accuracy=0.4)
    both = pd.concat([weights, other])
    found = kobayashi2020_table1.both_ways(both, both, 20)
    assert found["direction_by_norm"].tolist() == ["dependent_to_head", "head_to_dependent"]
    assert found["coverage"].tolist() == [25, 25]
