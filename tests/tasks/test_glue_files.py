"""GLUE's official files, and every way in which one can be wrong."""

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import (
    TASK_COLUMNS,
    TASKS,
    split_of,
    texts_of,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import glue_files, prepare_task

MRPC = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
STSB = "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore"
SST2 = "sentence\tlabel"
QQP = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
RTE = "index\tsentence1\tsentence2\tlabel"
QNLI = "index\tquestion\tsentence\tlabel"
MNLI = "index\tpromptID\tgenre\tsentence1\tsentence2\tlabel1\tgold_label"
COLA = "gj04\t1\t\tThe more, the merrier."  # no header: its first line is an example
MNLI_DEV = "index\tpromptID\tgenre\tsentence1\tsentence2\tlabel1\tlabel2\tgold_label"
GOOD = {
    "mrpc": (MRPC, ['1\t11\t12\tHe said "no .\tShe " agreed', "0\t13\t14\tOne .\tTwo ."]),
    "stsb": (STSB, ["0\tg\tf\ty\to\ts\ts\tA plane .\tA jet .\t5.000"]),
    "sst2": (SST2, ["it 's good \t1", "unflinching \t0"]),
    "qqp": (QQP, ["0\t1\t2\tWho?\tWhat?\t0"]),
    "rte": (RTE, ["0\tA b .\tC .\tentailment"]),
    "qnli": (QNLI, ["0\tWho?\tHe .\tnot_entailment"]),
    "mnli": (MNLI, ["0\t-\tx\tA .\tB .\tneutral\tcontradiction"]),
    "cola": ("", [COLA, 'cj99\t0\t*\tHe said "no the.']),
}


def write(folder: Path, name: str, *rows: str, header: str | None = None) -> Path:
    path = folder / "train.tsv"
    lines = [*filter(None, [header or GOOD[name][0]]), *(rows or GOOD[name][1])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", TASKS)
def test_official_files(tmp_path: Path, name: str) -> None:
    part = glue_files.read_tsv(write(tmp_path, name), TASKS[name])
    assert len(part.rows) == len(GOOD[name][1])
    assert part.malformed == []
    if name == "mrpc":
        assert part.rows[0]["texts"] == ['He said "no .', 'She " agreed']
        assert [row["label"] for row in part.rows] == [1.0, 0.0]
        assert part.rows[1]["source"].endswith("train.tsv:3")


def test_a_packed_file(tmp_path: Path) -> None:
    raw = write(tmp_path, "cola").read_bytes()
    (tmp_path / "train.tsv.gz").write_bytes(gzip.compress(raw))
    rows = glue_files.read_tsv(tmp_path / "train.tsv.gz", TASKS["cola"]).rows
    assert [row["texts"] for row in rows] == [["The more, the merrier."], ['He said "no the.']]


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("stsb", ["0\tg\tf\ty\to\ts\ts\tA\tB\t5.1"], ["train.tsv:2", "'5.1'", "0 to 5"]),
        ("cola", ["source\tlabel\tmark\tsentence", COLA], ["train.tsv:1", "'label'", "0, 1"]),
    ],
)
def test_a_wrong_row_names_file_and_line(
    tmp_path: Path, name: str, rows: list[str], words: list[str]
) -> None:
    with pytest.raises(InputError) as error:
        glue_files.read_tsv(write(tmp_path, name, *rows), TASKS[name])
    for word in words:
        assert word in str(error.value)


def test_a_file_without_rows_and_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text(MRPC + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="no rows"):
        glue_files.read_tsv(path, TASKS["mrpc"])
    path.unlink()
    with pytest.raises(InputError, match=r"no train.tsv or train.tsv.gz"):
        glue_files.read_directory(tmp_path, TASKS["mrpc"])
    with pytest.raises(InputError, match="no such file or directory"):
        glue_files.read_directory(tmp_path / "none", TASKS["mrpc"])


def test_malformed_rows_of_qqp_are_counted_and_named(tmp_path: Path) -> None:
    rows = ["0\t1\t2\tWho?\tWhat?\t1", "1\t3\t4\tbroken", "here\t0", "2\t5\t6\tA?\t\t0"]
    rows.append("3\t7\t8\tA?\tB?\t0")
    folder = tmp_path / "QQP"
    folder.mkdir()
    write(folder, "qqp", *rows)
    (folder / "dev.tsv").write_text(f"{QQP}\n{rows[0]}\n{rows[4]}\n", encoding="utf-8")
    table, counts = run(tmp_path, "qqp", {"path": str(folder)})
    assert len(split_of(table, "train")) == 2
    row = counts[(counts["split"] == "train") & (counts["what"] == "malformed rows")].iloc[0]
    assert row["n"] == 3
    assert row["lines"] == "3 4 5"


def run(
    folder: Path, name: str, source: dict, **options: object
) -> tuple[pd.DataFrame, pd.DataFrame]:
    paths = {"table": folder / "t.parquet", "counts": folder / "c.csv"}
    call(prepare_task.main, paths | {"source": source, "name": name} | options)
    return tables.read(paths["table"]), pd.read_csv(paths["counts"])


def test_texts_as_pandas_quotes_them_are_counted() -> None:
    rows = ['"She said ""no"" and left"', 'He said "no"', '"Never."', '"""Never""  again"']
    part = glue_files.SplitRows([{"texts": (row,), "label": 1.0} for row in rows])
    counts = prepare_task.count(part, pd.DataFrame({"label": [1.0] * 4}), TASKS["sst2"], "train")
    assert ("train", "rows with a text quoted as CSV, read as it is", 2, "") in counts


def test_sampling_keeps_the_order_and_is_counted(tmp_path: Path) -> None:
    rows = [f"sentence {number}\t{number % 2}" for number in range(30)]
    write(tmp_path, "sst2", *rows)
    (tmp_path / "dev.tsv").write_text("\n".join([SST2, *rows[:9]]) + "\n", encoding="utf-8")
    table, counts = run(tmp_path, "sst2", {"path": str(tmp_path)}, n_train=10, seed=3)
    assert tuple(table.columns) == TASK_COLUMNS
    train, dev = split_of(table, "train"), split_of(table, "dev")
    numbers = [int(text.split()[1]) for text in train["text1"]]
    assert len(numbers) == 10
    assert numbers == sorted(numbers)
    assert len(dev) == 9
    assert texts_of(dev)[0] == ("sentence 0",)
    left = counts[(counts["split"] == "train") & (counts["what"] == "rows not sampled")]
    assert left["n"].item() == 20
    again, _ = run(tmp_path, "sst2", {"path": str(tmp_path)}, n_train=10, seed=3)
    assert again.equals(table)
    reseeded, _ = run(tmp_path, "sst2", {"path": str(tmp_path)}, n_train=10, seed=4)
    assert not reseeded.equals(table)


def test_a_sample_with_one_label_is_an_error(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        rows = "".join(f"gj04\t{int(k > 0)}\t\tsentence {k}\n" for k in range(9))
        (tmp_path / f"{split}.tsv").write_text(rows, encoding="utf-8")
    run(tmp_path, "cola", {"path": str(tmp_path)})
    with pytest.raises(InputError, match=r"all 2 examples .* more of its examples \(tasks\.cola\)"):
        run(tmp_path, "cola", {"path": str(tmp_path)}, n_dev=2)


def test_mismatched_mnli_is_a_split_of_its_own(tmp_path: Path) -> None:
    rows = [f"{k}\t-\tx\tA .\tB .\tneutral\t{TASKS['mnli'].labels[k]}" for k in (2, 1)]
    write(tmp_path, "mnli", *rows)
    for name in ("dev_matched.tsv", "dev_mismatched.tsv"):
        dev = [row.replace("neutral", "neutral\tneutral", 1) for row in rows]
        (tmp_path / name).write_text("\n".join([MNLI_DEV, *dev]) + "\n", encoding="utf-8")
    table, _ = run(tmp_path, "mnli", {"path": str(tmp_path)})
    assert table["split"].tolist() == np.repeat(["train", "dev", "dev_mismatched"], 2).tolist()
    assert table["label"].tolist() == [2.0, 1.0] * 3


def hub(folder: Path, name: str, rows: list[dict]) -> dict:
    """A local directory in the hub's format, with the splits of a task."""
    directory = folder / f"glue-{folder.name}"
    directory.mkdir()
    for split in TASKS[name].hub_splits.values():
        lines = "\n".join(json.dumps(row) for row in rows)
        (directory / f"{split}.jsonl").write_text(lines + "\n", encoding="utf-8")
    files = [
        {"split": split, "path": f"{split}.jsonl"} for split in TASKS[name].hub_splits.values()
    ]
    text = json.dumps({"configs": [{"config_name": name, "data_files": files}]})
    (directory / "README.md").write_text(f"---\n{text}\n---\n", encoding="utf-8")
    return {"hub": str(directory)}


def test_hub_format(tmp_path: Path) -> None:
    rows = [
        {"premise": "A", "hypothesis": "B", "label": 2, "idx": 0},
        {"premise": "C", "hypothesis": "D", "label": 0, "idx": 1},
    ]
    table, _ = run(tmp_path, "mnli", hub(tmp_path, "mnli", rows))
    assert table["split"].value_counts().to_dict() == {"train": 2, "dev": 2, "dev_mismatched": 2}
    assert split_of(table, "dev")["label"].tolist() == [2.0, 0.0]
    assert "validation_matched:2" in split_of(table, "dev")["source"][1]


@pytest.mark.parametrize(
    ("name", "folder", "n_train", "n_dev"),
    [
        ("mrpc", "MRPC", 3668, 408),
        ("stsb", "STS-B", 5749, 1500),
        ("qqp", "QQP", 3000, 1000),
        ("mnli", "MNLI", 3000, 1500),
        ("cola", "CoLA", 8551, 1043),
    ],
)
def test_real_files(
    real_data: Path, tmp_path: Path, name: str, folder: str, n_train: int, n_dev: int
) -> None:
    directory = real_data / "glue" / folder
    table, _ = run(tmp_path, name, {"path": str(directory)})
    assert len(split_of(table, "train")) == n_train
    assert len(split_of(table, "dev")) == n_dev
    if name == "mrpc":
        assert split_of(table, "dev")["label"].sum() == 279
    if name == "cola":
        # The shares of Warstadt et al. (2019): 70.5% of the in-domain sentences are acceptable.
        assert table["text1"].iloc[0].startswith("Our friends won't buy this analysis")
        assert table["label"].mean() == pytest.approx(0.705, abs=0.005)
    full = directory / "full_columns.tsv"
    if full.exists():
        assert glue_files.read_tsv(full, TASKS[name]).rows
