"""Tasks under names of a study's own, and every way in which their files can be wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bad_input.refused import refused
from tests.tasks.test_glue_files import run
from workflow_scripts.core.data.tasks import TASKS, VARIABLE, own_task, split_of, texts_of
from workflow_scripts.core.stats.metrics import score
from workflow_scripts.tasks.glue_files import SplitRows, without_repeats

CSV = 'Index,claim,"reply",stance\n0,"Tea, hot",Yes.,for\n1,"He said\n""no""",No.,against\n'


@pytest.fixture
def entry() -> dict[str, Any]:
    """The entry of a task `mine`, which `define` enters as a job does."""
    return {"labels": ["good", "bad"], "label": "label", "format": "table", "encoding": "utf-8"}


def define(monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any]) -> None:
    monkeypatch.setitem(TASKS, "mine", own_task("mine", entry))


def test_two_classes_in_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict
) -> None:
    define(monkeypatch, entry)
    path = tmp_path / "mine.tsv"
    rows = [f'a "text {k}\t{"bad" if k % 2 else "good"}' for k in range(10)] + ['A  "text 1\tbad']
    path.write_text("\n".join(["sentence\tlabel", *rows]) + "\n\n", encoding="utf-8")
    table, counts = run(tmp_path, "mine", entry | {"path": str(path)})
    assert split_of(table, "dev")["text1"].tolist() == [f'a "text {k}' for k in (1, 3, 6, 8)]
    assert split_of(table, "dev")["label"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert split_of(table, "dev")["source"].iloc[0] == f"{path}:3"
    assert set(counts["task"]) == {"mine"}
    numbers = counts.set_index(["split", "what"])["n"]
    assert numbers["train", "label good"] == 3
    assert numbers["train", "rows with a text of an earlier row"] == 1


def test_three_classes_of_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict
) -> None:
    entry |= {"label": "stance", "labels": ["against", "neither", "for"]}
    define(monkeypatch, entry)
    (tmp_path / "train.csv").write_text(CSV, encoding="utf-8")
    lines = [{"claim": "A", "reply": "B", "id": 1, "stance": name} for name in entry["labels"]]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "dev.jsonl").write_text(text, encoding="utf-8")
    table, counts = run(tmp_path, "mine", entry | {"path": str(tmp_path)})
    assert not counts["official"].any()
    train = split_of(table, "train")
    assert texts_of(train) == [("Tea, hot", "Yes."), ('He said\n"no"', "No.")]
    assert train["label"].tolist() == [2.0, 0.0]
    assert split_of(table, "dev")["label"].tolist() == [0.0, 1.0, 2.0]
    entry |= {"text": ["reply"]}
    define(monkeypatch, entry)
    table, _ = run(tmp_path, "mine", entry | {"path": str(tmp_path)})
    assert texts_of(split_of(table, "train")) == [("Yes.",), ("No.",)]


def test_columns_without_names_are_those_of_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict
) -> None:
    define(monkeypatch, entry)
    (tmp_path / "dev.CSV").write_text(",claim,reply,label\n0,a,b,good\n1,c,d,bad\n", "utf-8")
    (tmp_path / "train.tsv").write_text("reply\tclaim\tlabel\nf\te\tgood\nh\tg\tbad\n", "utf-8")
    table, _ = run(tmp_path, "mine", entry | {"path": str(tmp_path)})
    assert texts_of(table) == [("f", "e"), ("h", "g"), ("b", "a"), ("d", "c")]
    (tmp_path / "train.tsv").write_text("claim\tlabel\ne\tgood\n", "utf-8")
    words = "dev.CSV:2: the texts are claim and reply here, claim in other rows; name the columns"
    refused(lambda: run(tmp_path, "mine", entry | {"path": str(tmp_path)}), tmp_path, words)


def test_a_pair_is_no_other_with_its_border_elsewhere() -> None:
    pairs = [["a b", "c"], ["a", "b c"], ["a b", "d"], ["A  B", "c"]]
    rows = [{"texts": pair} for pair in pairs]
    assert without_repeats({"all": SplitRows(rows)})["all"].rows == rows[:3]


def test_scores_are_any_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict
) -> None:
    """A development set alone is a task, too."""
    entry |= {"labels": "score"}
    define(monkeypatch, entry)
    scores = [-30, 0.5, 1e3, 7]
    lines = [json.dumps({"text": f"t{k}", "label": score}) for k, score in enumerate(scores)]
    (tmp_path / "dev.jsonl").write_text("\n".join(lines), encoding="utf-8")
    table, _ = run(tmp_path, "mine", entry | {"path": str(tmp_path)})
    assert set(table["split"]) == {"dev"}
    assert table["label"].tolist() == scores
    found = score(TASKS["mine"], table["label"].to_numpy(), np.array([[-2], [-1], [1], [0.0]]))
    assert found["spearman"] == 1
    assert found["pearson"] == pytest.approx(np.corrcoef(scores, [-2, -1, 1, 0])[0, 1])


def test_ratings_take_names_of_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict
) -> None:
    define(monkeypatch, entry)
    path = tmp_path / "ratings.txt"
    path.write_text("".join(f"{k}\t{(-1) ** k}\tfilm {k}\n" for k in range(10)), encoding="utf-8")
    source = entry | {"format": "ratings", "min_rating": 0.5, "path": str(path)}
    _, counts = run(tmp_path, "mine", source)
    assert {"label good", "label bad"} < set(counts["what"])
    define(monkeypatch, entry | {"labels": "score"})
    refused(lambda: run(tmp_path, "mine", source), path, "correct labels")


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("dev.tsv", "text\tlabel\na\n", "dev.tsv:2: 1 columns where the header has 2"),
        ("dev.tsv", "text\tlabel\n \tbad\n", "dev.tsv:2: an empty text"),
        ("dev.tsv", "text\ttext\tlabel\n", "dev.tsv:1: two columns have one name"),
        ("dev.tsv", "text\tlabel\n", "dev.tsv: no rows"),
        ("dev.tsv", "a\tb\tc\tlabel\n1\t2\t3\tbad\n", "name one or two: tasks.mine.text"),
        ("dev.csv", 'text,label\n"a,bad\n', "dev.csv:2: not a row of CSV"),
        ("dev.csv", "text,class\na,bad\n", "dev.csv:2: no column 'label' among text, class"),
        ("dev.jsonl", '{"text": "a", "label": "bad"}\n{\n', "dev.jsonl:2: not JSON"),
        ("dev.jsonl", "[1]\n", "dev.jsonl:1: no JSON object"),
        ("dev.jsonl", '\n{"text": ["a"], "label": "bad"}\n', "dev.jsonl:2: an empty text or none"),
        ("train.tsv", "text\tlabel\na\tgood\n", "0 files of tasks.mine's dev; put one of dev.tsv,"),
    ],
)
def test_a_wrong_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict, file: str, text: str, words: str
) -> None:
    define(monkeypatch, entry)
    (tmp_path / file).write_text(text, encoding="utf-8")
    refused(lambda: run(tmp_path, "mine", entry | {"path": str(tmp_path)}), tmp_path, words)


def test_a_wrong_score_or_ending_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict
) -> None:
    define(monkeypatch, entry | {"labels": "score"})
    path = tmp_path / "mine.tsv"
    path.write_text("text\tlabel\na\tnan\n", encoding="utf-8")
    source = entry | {"path": str(path)}
    refused(lambda: run(tmp_path, "mine", source), "mine.tsv:2: score 'nan'; mine has numbers")
    other = path.rename(tmp_path / "mine.txt")
    refused(lambda: run(tmp_path, "mine", source | {"path": str(other)}), "mine.txt: not one of ")


def test_a_job_finds_the_tasks_of_its_study(entry: dict) -> None:
    """Tables that other modules make of TASKS at import have them, too."""
    code = "from workflow_scripts.ablation.figures import FIRST_SETS; print(FIRST_SETS['mine'])"
    environment = os.environ | {VARIABLE: json.dumps({"mine": entry})}
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "mine dev\n"
