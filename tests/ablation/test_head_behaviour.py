"""The table that joins what heads do with what they matter, on made-up heads of known kinds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.ablation.test_ablation_scores import made_up_scores
from workflow_scripts.ablation import head_behaviour, kovaleva2019_heads
from workflow_scripts.core.data import tables
from workflow_scripts.core.run.job import call

CELLS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def per_head(**columns: list) -> pd.DataFrame:
    return pd.DataFrame(CELLS, columns=["layer", "head"]).assign(**columns)


@pytest.fixture
def chapters(tmp_path: Path) -> dict[str, Path]:
    """Head 1-1 is syntactic, 1-2 looks at the previous token, 2-1 at [CLS], 2-2 at nothing."""
    position = [
        per_head(target="self", attention=[0.1, 0.1, 0.1, 0.1]),
        per_head(target="previous", attention=[0.9, 0.8, 0.1, 0.1]),
        per_head(target="next", attention=[0.0, 0.1, 0.1, 0.1]),
    ]
    special = [
        per_head(target="cls", attention=[0.1, 0.1, 0.4, 0.1]),
        per_head(target="sep", attention=[0.1, 0.1, 0.3, 0.1]),
    ]
    relations = [
        per_head(relation="det", accuracy=[0.8, 0.7, 0.1, 0.1], ci_low=[0.7, 0.6, 0.0, 0.0], n=50),
        per_head(relation="rare", accuracy=[0.1, 0.1, 0.1, 1.0], ci_low=[0, 0, 0, 0.9], n=3),
        per_head(relation="punct", accuracy=[0.1, 0.9, 0.1, 0.1], ci_low=[0, 0.8, 0, 0], n=50),
    ]
    written = {
        "position": pd.concat(position),
        "special": pd.concat(special),
        "entropy": per_head(query="all", entropy=[1.0, 2.0, 3.0, 4.0]),
        "syntax_scores": pd.concat(relations),
        "offsets": pd.DataFrame({"relation": ["det", "rare", "det"], "accuracy": [0.3, 0.2, 0.5]}),
        # Head 2-1 attends more along links, but no more than chance; 1-1 is syntactic first.
        "frames": pd.concat(
            [
                per_head(
                    direction="either",
                    attention=[0.1, 0.1, 0.3, 0.2],
                    difference=[0.1, -0.1, 0.1, 0.05],
                    p_corrected=[0.01, 0.01, 0.06, 0.01],
                ),
                per_head(
                    direction="to predicate",
                    attention=[0.1, 0.1, 0.3, 0.2],
                    difference=[0.1, 0.1, 0.1, 0.1],
                    p_corrected=[0.01, 0.01, 0.01, 0.01],
                ),
            ],
            ignore_index=True,
        ),
        "scores": made_up_scores().assign(mode="uniform"),
    }
    for name, frame in written.items():
        tables.write(frame, tmp_path / name)
    return {name: tmp_path / name for name in written}


def run(
    folder: Path, arguments: dict[str, Path], **more: object
) -> tuple[pd.DataFrame, pd.DataFrame]:
    arguments = arguments | {"scores": [arguments["scores"]], "mode": "uniform", "threshold": 0.5}
    arguments |= {"fewest": 20, "bootstrap": 200, "seed": 1} | more
    call(head_behaviour.main, arguments | {"heads": folder / "heads", "strata": folder / "strata"})
    return pd.read_csv(folder / "heads"), pd.read_csv(folder / "strata")


def test_kinds_of_heads(tmp_path: Path, chapters: dict[str, Path]) -> None:
    heads, strata = run(tmp_path, chapters)
    assert heads["stratum"].tolist() == ["syntactic", "position", "special tokens", "frames"]
    assert heads["name"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert heads["effect_rte"].tolist() == pytest.approx([-0.2, -0.1, 0, 0.1])
    assert heads["entropy"].tolist() == [1, 2, 3, 4]
    assert heads["frames"].tolist() == [0.1, 0.1, 0.3, 0.2]
    assert heads["frames_above"].tolist() == [0.1, -0.1, 0.1, 0.05]
    assert heads["frames_head"].tolist() == [True, False, False, True]
    assert heads["relation"].tolist() == ["det"] * 4
    assert heads["above"].iloc[0] == pytest.approx(0.3)  # over the best offset, 0.5
    assert strata["effect"].tolist() == pytest.approx([-0.2, 0.1, -0.1, 0.0])
    assert strata["others"].iloc[0] == pytest.approx(0.0)
    # One head of four has -0.2; no other lies as far from the mean of -0.05 as it and 2-2 do.
    assert strata["p"].iloc[0] == pytest.approx(0.5, abs=0.1)


def test_a_study_without_the_other_chapters(tmp_path: Path, chapters: dict[str, Path]) -> None:
    heads, _ = run(tmp_path, {"scores": chapters["scores"]})
    assert heads["stratum"].tolist() == ["other"] * 4
    outputs = {kind: tmp_path / f"figure.{kind}" for kind in ("svg", "pdf", "png")}
    tables_ = {"heads": tmp_path / "heads", "strata": tmp_path / "strata"}
    call(kovaleva2019_heads.main, tables_ | outputs)
    assert outputs["png"].stat().st_size > 5000


def test_random_sets_tell_a_harmful_kind() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"effect_rte": rng.normal(0, 0.01, 72), "stratum": "other"})
    frame.loc[:9, "stratum"] = "syntactic"
    frame.loc[10:19, "stratum"] = "position"
    frame.loc[:9, "effect_rte"] -= 0.05
    actual = head_behaviour.compare(frame, ["rte"], 500, 1).set_index("stratum")
    assert actual.loc["syntactic", "p"] < 0.01
    assert actual.loc["position", "p"] > 0.01
    assert actual.loc["syntactic", "ci_high"] < -0.03
