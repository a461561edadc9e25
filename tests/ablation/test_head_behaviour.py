"""The table that joins what heads do with what they matter, on made-up heads of known kinds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.ablation.test_ablation_scores import made_up_scores
from workflow_scripts.ablation import ablation_modes, head_behaviour
from workflow_scripts.attention import head_kinds
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.heads import KINDS
from workflow_scripts.core.plots import colours
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
        per_head(relation="det", accuracy=[0.8, 0.7, 0.1, 0.1], n=50),
        per_head(relation="rare", accuracy=[0.1, 0.1, 0.1, 1.0], n=3),
        per_head(relation="punct", accuracy=[0.1, 0.9, 0.1, 0.1], n=50),
        # Head 2-2 is best at nsubj; its interval alone, but not corrected, lies above the offset.
        per_head(relation="nsubj", accuracy=[0.1, 0.1, 0.1, 0.6], n=50),
    ]
    relations = [
        frame.assign(ci_low=frame["accuracy"] - 0.1, ci_high=frame["accuracy"] + 0.1)
        for frame in relations
    ]
    written = {
        "surface/position.parquet": pd.concat(position),
        "surface/special_tokens.parquet": pd.concat(special),
        "surface/entropy.parquet": per_head(query="all", entropy=[1.0, 2.0, 3.0, 4.0]),
        "syntax/scores.parquet": pd.concat(relations).assign(direction="dependent_to_head"),
        "syntax/offsets.parquet": pd.DataFrame(
            {"relation": ["det", "rare", "det", "nsubj"], "accuracy": [0.3, 0.2, 0.5, 0.45]}
        ).assign(offset=[1, 1, -1, 1]),
        "covariances": covariances(),
        # Head 2-1 attends more along links, but no more than chance; 1-1 is syntactic first.
        "frames/scores.parquet": pd.concat(
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
        (tmp_path / name).parent.mkdir(exist_ok=True)
        tables.write(frame, tmp_path / name)
    return {name: tmp_path / name for name in written}


def covariances() -> pd.DataFrame:
    """Of independent effects with a standard error of 2 points, for two seeds: 1 and 3 points."""
    places = [(*one, *other) for one in CELLS for other in CELLS]
    columns = ["layer", "head", "other_layer", "other_head"]
    frame = pd.DataFrame(places, columns=columns).assign(task="rte", mode="uniform")
    same = np.eye(4).ravel()
    other = frame.assign(task="mnli", covariance=1.0)
    return pd.concat([*(frame.assign(covariance=v * same) for v in (0.0001, 0.0007)), other])


def run(
    folder: Path, arguments: dict[str, Path], **more: object
) -> tuple[pd.DataFrame, pd.DataFrame]:
    known = [path for name, path in arguments.items() if "/" in name]
    arguments = {key: [arguments[key]] for key in ("scores", "covariances")} | {"known": known}
    write_card({"n_layers": 2, "n_heads": 2}, folder / "card.json")
    of_kinds = {"model": folder / "card.json", "known": known, "kinds": folder / "kinds"}
    call(head_kinds.main, of_kinds | {"threshold": 0.5, "fewest": 20})
    arguments |= {"equivalence": 8, "kinds": folder / "kinds"}
    arguments |= {"fewest": 20, "bootstrap": 200, "seed": 1} | more
    call(head_behaviour.main, arguments | {"heads": folder / "heads", "strata": folder / "strata"})
    return pd.read_csv(folder / "heads"), pd.read_csv(folder / "strata")


def test_kinds_of_heads(tmp_path: Path, chapters: dict[str, Path]) -> None:
    heads, strata = run(tmp_path, chapters)
    assert heads["stratum"].tolist() == ["syntactic", "position", "special tokens", "frames"]
    kinds = ["syntactic, frames, position", "position", "special tokens", "frames"]
    assert heads["kinds"].tolist() == kinds
    assert tuple(colours.HEADS) == KINDS
    assert heads["name"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert heads["effect_rte"].tolist() == pytest.approx([-0.2, -0.1, 0, 0.1])
    assert heads["entropy"].tolist() == [1, 2, 3, 4]
    assert heads["frames"].tolist() == [0.1, 0.1, 0.3, 0.2]
    assert heads["frames_above"].tolist() == [0.1, -0.1, 0.1, 0.05]
    assert heads["frame_head"].tolist() == [True, False, False, True]
    assert heads["relation"].tolist() == ["det", "det", "nsubj", "nsubj"]
    assert heads["syntactic"].tolist() == [True, False, False, False]
    assert heads["above"].iloc[0] == pytest.approx(0.3)  # over the best offset, 0.5
    assert strata["effect"].tolist() == pytest.approx([-0.2, -0.05, -0.15, 0.0, -0.05])
    assert strata["others"].iloc[0] == pytest.approx(0.0)
    # One head of four has -0.2; no other lies as far from the mean of -0.05 as it and 2-2 do.
    assert strata["p"].iloc[0] == pytest.approx(0.5, abs=0.1)


def test_verdicts_by_hand(tmp_path: Path, chapters: dict[str, Path]) -> None:
    """Of 50 examples; the variance is 0.0004, the mean over seeds, and 2 / 52^2 for two more."""
    heads, strata = run(tmp_path, chapters)
    error = 1.6449 * np.sqrt(0.0004 + 2 / 52**2)
    assert heads["low_rte"].tolist() == pytest.approx(heads["effect"] - error, rel=1e-4)
    assert heads["high_rte"].tolist() == pytest.approx(heads["effect"] + error, rel=1e-4)
    assert heads["p_corrected_rte"].tolist() == [0.004, 0.08, 1.0, 0.2]
    verdicts = ["loss", "cannot tell", "equivalent", "cannot tell"]  # the bound is 8 points
    assert heads["verdict_rte"].tolist() == verdicts
    named = strata.set_index("stratum")
    # Four independent effects: half the standard error of one.
    assert named.loc["all", "low"] == pytest.approx(-0.05 - error / 2, rel=1e-4)
    assert named.loc["syntactic", "low"] == pytest.approx(-0.2 - error, rel=1e-4)
    assert named["bound"].unique().tolist() == [0.08]
    assert named["verdict"].to_dict() == {
        "syntactic": "loss", "position": "loss", "special tokens": "equivalent", "frames": "loss",
        "all": "equivalent",
    }  # fmt: skip


def test_the_interval_of_a_mean_has_the_covariances_of_its_heads() -> None:
    """Against plain samples of examples."""
    rng = np.random.default_rng(2)
    common = rng.normal(size=(400, 1))
    changes = 0.1 * (common + rng.normal(size=(400, 3)))
    covariance = np.cov(changes, rowvar=False) / 400
    chosen = np.array([True, False, True])
    low, high = ablation_modes.interval_of_mean(changes.mean(axis=0), covariance, chosen)
    sampled = [changes[rng.integers(0, 400, 400)][:, chosen].mean() for _ in range(4000)]
    assert [low, high] == pytest.approx(np.percentile(sampled, [5, 95]), abs=5e-4)
