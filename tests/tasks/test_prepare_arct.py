"""ARCT's official files, its adversarial set, and wrong input."""

from pathlib import Path

import pandas as pd
import pytest

from tests.tasks.arct_builders import run, with_published, write
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import ARCT_COLUMNS, points_of, splits_of
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


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("train-full.txt", "\treason", "\tgrund", r"train-full.txt:1: 0 columns 'reason'"),
        ("train-full.txt", "\t0\t", "\t2\t", r"train-full.txt:2: label '2'; write 0 or 1"),
        ("train-full.txt", "Rain.", " ", r"train-full.txt:2: an empty reason"),
        ("test-truth.txt", "d   1", "e 1", r"test-truth.txt: no label for id d .*data.txt:2"),
        ("test-truth.txt", "d   1", "d one", r"test-truth.txt:3: label 'one'"),
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


def test_missing_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "arct")
    (folder / "test-truth.txt").unlink()
    with pytest.raises(InputError, match=r"no labels, and no test-truth\.txt"):
        run(tmp_path, folder)


def test_a_sample_keeps_its_counterparts(tmp_path: Path) -> None:
    generated = tmp_path / "made"
    numbers = {"train": 40, "dev": 10, "test": 10, "productivity": 0.8, "coverage": 0.5}
    call(generate_arct.main, {"generated": generated, "numbers": numbers})
    out = {"table": tmp_path / "out.parquet", "counts": tmp_path / "out.csv"}
    settings = {"source": {}, "adversarial": "built", "n_train": 12}
    call(prepare_arct.main, out | settings | {"directory": generated})
    frame = tables.read(out["table"])
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
