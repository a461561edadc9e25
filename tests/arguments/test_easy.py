"""Points that are right in every run, of our runs and of the authors', and the cue in them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from workflow_scripts.arguments import argument_easy, figures
from workflow_scripts.arguments.argument_easy import (
    STUDY,
    count,
    cues_of,
    read_published,
    study_predictions,
)
from workflow_scripts.arguments.argument_scores import measure
from workflow_scripts.arguments.figures import measure_easy
from workflow_scripts.core.data import tables
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks.arct_files import read_split

SAME = {"n't": "not"}
BOUNDS = {"bert": 0.8, "bov": 0, "bilstm": 0}
# Of five points the right warrant's number, and which warrants hold "not".
POINTS = [
    (0, "not", "so"),
    (1, "so", "can't"),
    (0, "so", "not"),
    (1, "not", "cannot"),
    (0, "a", "b"),
]
# Which of the five points a run gets right.
HITS = {
    ("bert", 1): [1, 1, 1, 0, 0],
    ("bert", 2): [1, 1, 1, 1, 0],
    ("bert", 3): [0, 0, 0, 0, 1],  # degenerate
    ("bov", 1): [1, 1, 0, 1, 0],
    ("bov", 2): [1, 1, 1, 1, 1],
}


def points(split: str = "dev") -> pd.DataFrame:
    rows = [
        {"split": split, "version": "original", "id": f"p{number}", "source": "f:1", "claim": "c"}
        | {"reason": "r", "warrant0": first, "warrant1": second, "label": label}
        for number, (label, first, second) in enumerate(POINTS)
    ]
    return pd.DataFrame(rows)


def predictions() -> pd.DataFrame:
    rows = []
    for (family, seed), hits in HITS.items():
        for split in ("train", "dev"):
            shown = [seed != 3] * 5 if split == "train" else hits
            for row, hit in zip(points(split).to_dict("records"), shown, strict=True):
                picked = row["label"] if hit else 1 - row["label"]
                about = {"family": family, "trained_on": "original", "setup": "full", "seed": seed}
                logits = {f"logit_{picked}": 1.0, f"logit_{1 - picked}": 0.0}
                rows.append({key: row[key] for key in ("split", "version", "id", "label")} | about
                            | logits)  # fmt: skip
    return pd.DataFrame(rows)


def authors(folder: Path) -> Path:
    """The same runs in the authors' files."""
    for family, name in (("bert", "bert_large"), ("bov", "bov")):
        rows, trained = [], []
        for (of, run), hits in HITS.items():
            if of != family:
                continue
            trained.append({"run_no": run, "seed": 7, "train": float(run != 3)})
            for row, hit in zip(points().to_dict("records"), hits, strict=True):
                picked = row["label"] if hit else 1 - row["label"]
                rows.append({"run_no": run, "dataset": "dev", "id": row["id"], "prob0": 0.5}
                            | {"prob1": 0.5, "pred": picked, "correct": bool(hit)})  # fmt: skip
        rows.append(rows[0] | {"dataset": "train", "id": "of the training set"})
        (folder / name).mkdir(parents=True)
        for frame, file in zip((rows, trained), ("preds.csv", "accs.csv"), strict=True):
            pd.DataFrame(frame).to_csv(folder / name / file, index=False)
    return folder


def test_shares_by_hand() -> None:
    """BERT is always right on points 0, 1, 2 without its degenerate run; BoV on 0, 1 and 3."""
    runs = predictions()
    frame = study_predictions(runs, measure(runs, BOUNDS))
    counted = count(frame, cues_of(points(), ("not",), SAME))
    measured = measure_easy(counted, 500, 1)
    share = measured.set_index(["runs", "model", "measure"])["share"].to_dict()
    trained, everyone = "not degenerate", "all"
    assert share[everyone, "BERT", "always right"] == 0
    assert np.isnan(share[everyone, "BERT", "cue among always right"])
    assert share[trained, "BERT", "always right"] == 3 / 5
    assert share[trained, "BERT", "always right, with the cue"] == 2 / 5
    assert share[trained, "BERT", "cue among always right"] == pytest.approx(2 / 3)
    assert share[trained, "BERT", "cue in either warrant among always right"] == 1
    for runs_chosen in (trained, everyone):  # no run of BoV is degenerate
        assert share[runs_chosen, "BoV", "always right"] == 3 / 5
        assert share[runs_chosen, "BoV", "cue among always right"] == 1
    # Points 0, 1, 2 alone have the cue on one side: right, right, wrong means following it.
    assert share[trained, "BERT", "follows the cue"] == pytest.approx(4 / 6)
    assert share[trained, "BoV", "follows the cue"] == pytest.approx(5 / 6)
    rows = measured.set_index(["runs", "model", "measure"]).loc[trained]
    among = rows.loc[("BERT", "cue among always right")]
    exact = stats.binomtest(2, 3).proportion_ci(method="exact")
    assert among[["ci_low", "ci_high"]].tolist() == pytest.approx([exact.low, exact.high])
    assert (among["n"], among["n_points"], among["n_runs"], among["among_all"]) == (3, 5, 2, 0.6)
    assert rows.loc[("BoV", "cue among always right"), "bert_minus"] == pytest.approx(-1 / 3)
    assert rows.loc[("BoV", "always right"), "bert_minus"] == 0
    assert rows.loc[("BERT", "follows the cue"), "n"] == 6


def test_differences_are_paired_over_points() -> None:
    """Equal models differ by 0 in every sample; the interval equals a slow version."""
    rng = np.random.default_rng(5)
    n, draws, seed = 40, 300, 3
    cues = pd.DataFrame({"id": [f"p{k:02}" for k in range(n)]})
    cues["cue_in_right"], cues["cue_in_wrong"] = rng.random(n) < 0.5, False
    cues["side"] = -1
    right = {"BERT": rng.random((2, n)) < 0.8, "BoV": rng.random((2, n)) < 0.7}
    right["BiLSTM"] = right["BERT"]
    rows = [
        {"source": STUDY, "model": model, "family": model.lower(), "setup": "W", "split": "dev"}
        | {"run": run, "id": cues["id"][k], "picked": 0, "right": hits[run, k], "degenerate": False}
        for model, hits in right.items()
        for run in range(2)
        for k in range(n)
    ]
    measured = measure_easy(count(pd.DataFrame(rows), cues), draws, seed).set_index(
        ["measure", "model"]
    )
    same = measured.loc[("cue among always right", "BiLSTM")]
    assert same[["bert_minus", "bert_minus_low", "bert_minus_high"]].tolist() == [0, 0, 0]
    sampled = []
    for weights in np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws):
        chosen = np.repeat(np.arange(n), weights)
        held = [
            cues["cue_in_right"].to_numpy()[chosen][right[model].all(axis=0)[chosen]].mean()
            for model in ("BERT", "BoV")
        ]
        sampled.append(held[0] - held[1])
    expected = np.percentile(sampled, (2.5, 97.5))
    other = measured.loc[("cue among always right", "BoV")]
    assert other[["bert_minus_low", "bert_minus_high"]].tolist() == pytest.approx(list(expected))


def test_the_authors_runs_are_measured_as_ours(tmp_path: Path) -> None:
    """The same runs from the study and from the authors' files have the same shares."""
    points_file, easy = tmp_path / "points.parquet", tmp_path / "easy.parquet"
    tables.write(pd.concat([points("train"), points()]), points_file)
    runs = predictions()
    tables.write(runs, tmp_path / "runs.parquet")
    tables.write(measure(runs, BOUNDS), tmp_path / "scores.parquet")
    folder = authors(tmp_path / "published")
    values = {"table": points_file, "predictions": [tmp_path / "runs.parquet"], "easy": easy}
    values |= {"scores": tmp_path / "scores.parquet", "cue": "not", "same": SAME}
    values |= {"degenerate_below": BOUNDS, "published": str(folder)}
    call(argument_easy.main, values)
    figure = {kind: tmp_path / f"easy.{kind}" for kind in ("svg", "pdf", "png")}
    out = {"table": tmp_path / "easy.csv", "bootstrap": 100, "seed": 1} | figure
    call(figures.niven2019_easy, {"easy": easy} | out)
    table = pd.read_csv(out["table"])
    ours, theirs = (table[table["source"] == name] for name in (STUDY, "Niven and Kao"))
    assert set(theirs["model"]) == {"BERT (Large)", "BoV"}
    columns = ["family", "setup", "split", "runs", "measure", "share", "ci_low", "n", "bert_minus"]
    pd.testing.assert_frame_equal(
        ours[columns].reset_index(drop=True), theirs[columns].reset_index(drop=True)
    )


def test_a_prediction_for_another_point_is_refused_by_line(tmp_path: Path) -> None:
    path = authors(tmp_path) / "bov/preds.csv"
    frame = pd.read_csv(path)
    frame.loc[1, "id"] = "p9"
    frame.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"preds.csv:3: p9 is no point of the study's dev set"):
        read_published(tmp_path, points(), BOUNDS)


def test_the_authors_own_validation_predictions(real_data: Path) -> None:
    """Counted anew without pandas' groups: points right in all runs, and those with "not"."""
    folder = real_data.parent / "papers/niven2019-runs"
    rows = read_split(real_data / "arct", "dev")
    frame = pd.DataFrame(rows).assign(split="dev")
    runs = read_published(folder, frame, BOUNDS).assign(source="authors")
    counted = count(runs, cues_of(frame, ("not",), SAME))
    measured = measure_easy(counted, 200, 1).set_index(["runs", "model", "measure"]).sort_index()
    found = {}
    for name, title in (("bert_large", "BERT (Large)"), ("bov", "BoV"), ("bilstm", "BiLSTM")):
        lines = (folder / f"{name}.dev-predictions.csv").read_text().splitlines()[1:]
        wrong = {line.split(",")[2] for line in lines if line.endswith(",False")}
        always = [row for row in rows if row["id"] not in wrong]
        texts = [row[f"warrant{row['label']}"].lower().replace(".", " ") for row in always]
        has = [" not " in f" {t} " or "n't" in t or "cannot" in t for t in texts]
        found[name] = len(always), sum(has)
        row = measured.loc[("all", title)]
        assert row.loc["always right", "share"] == pytest.approx(len(always) / len(rows))
        assert row.loc["cue among always right", "share"] == pytest.approx(sum(has) / len(always))
    assert found == {"bert_large": (60, 60), "bov": (46, 38), "bilstm": (41, 39)}
