"""What is trained on is the same whatever is evaluated on."""

from pathlib import Path

import pandas as pd
import pytest

from tests.bad_input.refused import refused
from tests.tasks.test_glue_files import run as prepare
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import TASKS, own_task, split_of
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import generate_task, prepare_training


def trained_on(folder: Path, name: str, source: dict, **options: object) -> Path:
    path = folder / "training.parquet"
    call(prepare_training.main, {"training": path, "source": source, "name": name} | options)
    return path


@pytest.mark.parametrize("n_train", [0, 9])
def test_of_one_file_with_domains(tmp_path: Path, n_train: int) -> None:
    lines = [f"__label__{'pos' if k % 3 else 'neg'} sentence {k}" for k in range(40)]
    for name, chosen in (("all", lines), ("other", lines[:20])):
        (tmp_path / name).write_text("\n".join(chosen) + "\n", encoding="utf-8")
    source = {"path": str(tmp_path / "all"), "format": "labels"}
    domains = {"domains": {"other": {"path": str(tmp_path / "other")}}}
    (tmp_path / "other").write_text("__label__pos new\n__label__neg old\n", encoding="utf-8")
    table, _ = prepare(tmp_path, "sst2", source | domains, n_train=n_train, n_dev=4, seed=5)
    training = trained_on(tmp_path, "sst2", source, n_train=n_train, seed=5)
    pd.testing.assert_frame_equal(tables.read(training), split_of(table, "train"))


def test_of_generated_files(tmp_path: Path) -> None:
    for n_dev, folder in ((8, tmp_path / "all"), (0, tmp_path / "training")):
        options = {"name": "mnli", "n_train": 20, "n_dev": n_dev, "generated": folder}
        call(generate_task.main, options)
    assert [file.name for file in sorted((tmp_path / "training").glob("*.tsv"))] == ["train.tsv"]
    table, _ = prepare(tmp_path, "mnli", {}, generated=tmp_path / "all")
    training = tables.read(trained_on(tmp_path, "mnli", {}, generated=tmp_path / "training"))
    expected = split_of(table, "train")
    for frame in (training, expected):
        frame["source"] = frame["source"].str.rpartition("/")[2]
    pd.testing.assert_frame_equal(training, expected)


def test_a_task_of_a_development_set_trains_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"label": "label", "labels": ["a", "b"], "format": "table", "encoding": "utf-8"}
    monkeypatch.setitem(TASKS, "mine", own_task("mine", entry))
    (tmp_path / "dev.tsv").write_text("text\tlabel\none\ta\ntwo\tb\n", encoding="utf-8")
    source = entry | {"path": str(tmp_path)}
    refused(lambda: trained_on(tmp_path, "mine", source), "mine: no training file; put one next")
    (tmp_path / "dev.tsv").write_bytes(b"\xff never read")
    (tmp_path / "train.tsv").write_text("text\tlabel\none\ta\ntwo\tb\n", encoding="utf-8")
    assert len(tables.read(trained_on(tmp_path, "mine", source))) == 2
