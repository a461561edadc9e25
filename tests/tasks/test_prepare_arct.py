"""ARCT's official files, its adversarial set, and wrong input."""

from pathlib import Path

import pandas as pd
import pytest

from tests.tasks.arct_builders import run, with_published, write
from workflow_scripts.core.data.tasks import ARCT_COLUMNS, points_of, read_arct, splits_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import generate_arct, prepare_arct


def test_official_files(tmp_path: Path) -> None:
    frame, counts = run(tmp_path, write(tmp_path / "arct"))
    assert tuple(frame.columns) == ARCT_COLUMNS
    assert splits_of(frame) == ["train", "dev", "test"]
    train = points_of(frame, "train", ("original", "negated", "swapped"))
    assert train[["id", "claim", "warrant0", "label"]].to_numpy().tolist() == [
        ["a", "Go out", 'it "is" so', 0],
        ["a-adversarial", "Do not go out", 'it "is" so', 1],
        ["a_swapped", "Go out", "it isn't so", 1],
    ]
    dev = points_of(frame, "dev", ("original", "negated"))
    assert dev["claim"].tolist() == ["Stay in", "Go out", "Go", "Do not go out"]
    assert points_of(frame, "test", ("original",))["label"].tolist() == [1]
    assert not ((frame["version"] == "swapped") & (frame["split"] != "train")).any()
    read = counts[counts["what"] == "points read"].set_index("split")["n"].to_dict()
    assert read == {"train": 1, "dev": 2, "test": 1}


def test_published_files_give_what_the_claim_map_builds(tmp_path: Path) -> None:
    folder = with_published(tmp_path / "arct")
    built, _ = run(tmp_path, folder)
    published, counts = run(tmp_path, folder, "published")
    pd.testing.assert_frame_equal(published.drop(columns="source"), built.drop(columns="source"))
    unlike = counts[counts["what"].str.contains("unlike")]
    assert len(unlike) == 4 and (unlike["n"].astype(int) == 0).all()


def test_a_published_point_that_differs_is_counted(tmp_path: Path) -> None:
    folder = with_published(tmp_path / "arct")
    path = folder / "adversarial_dataset/dev-adv-negated.csv"
    path.write_text(path.read_text().replace("\tGo\t", "\tLeave\t"))
    frame, counts = run(tmp_path, folder, "published")
    assert "Leave" in set(frame["claim"])
    row = counts[
        (counts["split"] == "dev") & counts["what"].str.startswith("negated points unlike")
    ]
    assert row["n"].astype(int).tolist() == [1]


def test_other_names_and_no_adversarial_set(tmp_path: Path) -> None:
    folder = write(tmp_path / "arct")
    (folder / "test-only-data.txt").rename(tmp_path / "points.tsv")
    (folder / "test-truth.txt").rename(tmp_path / "labels")
    source = {"test": str(tmp_path / "points.tsv"), "truth": str(tmp_path / "labels")}
    frame, _ = run(tmp_path, folder, "none", **source)
    assert frame["version"].unique().tolist() == ["original"]
    assert frame[frame["split"] == "test"]["label"].tolist() == [1]


def test_without_a_test_set(tmp_path: Path) -> None:
    folder = write(tmp_path / "arct")
    (folder / "test-only-data.txt").unlink()
    assert splits_of(run(tmp_path, folder)[0]) == ["train", "dev"]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("train-full.txt", "\treason", "\tgrund", r"train-full.txt:1: 0 columns 'reason'"),
        ("train-full.txt", "\t0\t", "\t2\t", r"train-full.txt:2: label '2'; write 0 or 1"),
        ("train-full.txt", "\tRain.", "", r"train-full.txt:2: 7 columns, but 8 in the header"),
        ("train-full.txt", "Rain.", " ", r"train-full.txt:2: an empty reason"),
        ("dev-full.txt", "\nc\t", "\nb\t", r"dev-full.txt:3: id b is also in line 2"),
        ("test-truth.txt", "d   1", "e 1", r"test-truth.txt: no label for id d .*data.txt:2"),
        ("test-truth.txt", "d   1", "d 1\ne 0", r"test-truth.txt:4: id e is not in .*only-data"),
        ("test-truth.txt", "d   1", "d 1\nd 0", r"test-truth.txt:4: a second line for id d"),
        ("test-truth.txt", "d   1", "d one", r"test-truth.txt:3: label 'one'"),
        ("test-truth.txt", "d   1", "d", r"test-truth.txt:3: 1 fields"),
        (
            "adversarial_dataset/claim_map.csv",
            "Stay in",
            "Stay",
            r"dev-full.txt:2: the claim 'Stay",
        ),
        ("adversarial_dataset/claim_map.csv", "original,", "claim,", r"claim_map.csv:1: columns"),
        ("adversarial_dataset/claim_map.csv", ",Go", ",", r"claim_map.csv:3: write a claim"),
    ],
)
def test_wrong_files(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    folder = write(tmp_path / "arct")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        run(tmp_path, folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "dev-adv-negated.csv",
            "b-adv",
            "x-adv",
            r"no b-adversarial, which .*dev-full.txt:2 requires",
        ),
        ("dev-adv-negated.csv", "\tTrue\nb", "\tyes\nb", r"dev-adv-negated.csv:2: adversarial is"),
        (
            "train-adv-negated.csv",
            "\tadversarial\n",
            "\n",
            r"negated.csv:1: 0 columns 'adversarial'",
        ),
        ("test-adv-negated.csv", "\t0\tTrue", "\t-\tTrue", r"test-adv-negated.csv:2: label '-'"),
    ],
)
def test_wrong_published_files(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    folder = with_published(tmp_path / "arct")
    path = folder / "adversarial_dataset" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        run(tmp_path, folder, "published")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("train-full.txt", "no train-full.txt; put it there"),
        ("test-truth.txt", "no labels, and no test-truth.txt"),
        ("adversarial_dataset/claim_map.csv", "no claim_map.csv"),
    ],
)
def test_missing_files(tmp_path: Path, file: str, message: str) -> None:
    folder = write(tmp_path / "arct")
    (folder / file).unlink()
    with pytest.raises(InputError, match=message):
        run(tmp_path, folder)


def test_labels_and_truth_file_must_agree(tmp_path: Path) -> None:
    folder = write(tmp_path / "arct")
    truth = folder / "dev-truth.txt"
    truth.write_text("b 1\nc 0\n")
    run(tmp_path, folder)
    truth.write_text("b 1\nc 1\n")
    with pytest.raises(
        InputError, match=r"dev-truth.txt:2: label 1 of c, but .*dev-full.txt:3 has"
    ):
        run(tmp_path, folder)


def test_a_sample_keeps_its_counterparts(tmp_path: Path) -> None:
    generated = tmp_path / "made"
    numbers = {"train": 40, "dev": 10, "test": 10, "productivity": 0.8, "coverage": 0.5}
    call(generate_arct.main, {"generated": generated, "numbers": numbers})
    out = {"table": tmp_path / "out.parquet", "counts": tmp_path / "out.csv"}
    settings = {"source": {}, "adversarial": "built", "n_train": 12}
    call(prepare_arct.main, out | settings | {"directory": generated})
    frame = read_arct(out["table"])
    train = frame[frame["split"] == "train"]
    assert train.groupby("version").size().to_dict() == {
        "negated": 12,
        "original": 12,
        "swapped": 12,
    }
    original = train[train["version"] == "original"]["id"]
    negated = train[train["version"] == "negated"]["id"]
    assert (original + "-adversarial").tolist() == negated.tolist()


@pytest.mark.parametrize("adversarial", ["published", "built"])
def test_real_arct(real_data: Path, tmp_path: Path, adversarial: str) -> None:
    frame, counts = run(tmp_path, real_data / "arct", adversarial)
    sizes = frame.groupby(["split", "version"]).size().to_dict()
    assert sizes["train", "original"] == sizes["train", "negated"] == 1210
    assert sizes["dev", "original"] == sizes["dev", "negated"] == 316
    own = counts[counts["what"] == "claims that are their own negation"]
    assert own.set_index("split")["n"].astype(int).to_dict()["train"] == 12
    unlike = counts[counts["what"].str.contains("unlike")]["n"].astype(int)
    assert (unlike == 0).all() and len(unlike) == (3 if adversarial == "published" else 0)
