"""The tables and the kinds of heads mean the same frame heads."""

from pathlib import Path

import pandas as pd
import pytest

from workflow_scripts.core.data.annotations import frame_heads
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.frames import head_columns, kovaleva2019_frames

FROM, TO, EITHER = "from predicate", "to predicate", "either"


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    """Two layers of three heads; in each direction others are above their controls."""
    above = {EITHER: (1, 4), FROM: (0, 1), TO: (2, 4, 5)}
    rows = [
        {"layer": number // 3, "head": number % 3, "direction": direction, "attention": 0.1}
        | {"difference": 0.05 + number / 100, "p_corrected": 0.01 if number in chosen else 0.5}
        for direction, chosen in above.items()
        for number in range(6)
    ]
    numbers = dict.fromkeys(("ci_low", "ci_high", "linked", "control", "p"), 0.1)
    numbers |= dict.fromkeys(("difference_low", "difference_high"), 0.1)
    counts = ("n", "n_documents", "n_compared", "n_documents_compared", "links_compared")
    return pd.DataFrame(rows).assign(**numbers, **dict.fromkeys(counts, 9))


def test_one_list(scores: pd.DataFrame, tmp_path: Path) -> None:
    listed = frame_heads(scores)
    assert listed[["layer", "head"]].to_numpy().tolist() == [[1, 1], [0, 1]]
    scores.to_parquet(tmp_path / "scores")
    out = {"table": tmp_path / "table.csv", "controls": tmp_path / "controls.csv"}
    kovaleva2019_frames.main(tmp_path / "scores", **out, percentile=50, generated=True)
    controls = pd.read_csv(out["controls"])
    for _, rows in controls.groupby("direction"):
        assert sorted(rows.loc[rows["frame_head"], "head"]) == ["1-2", "2-2"]
    (tmp_path / "frames").mkdir()
    scores.to_parquet(tmp_path / "frames/scores.parquet")
    columns = head_columns.columns(TableSet([tmp_path / "frames/scores.parquet"]), {})
    assert columns is not None
    in_kinds = columns[columns["frame_head"]]
    assert in_kinds[["layer", "head"]].to_numpy().tolist() == [[0, 1], [1, 1]]
