"""A split with one label only, from which nothing can be distinguished."""

from pathlib import Path

import pytest

from tests.tasks.test_glue_files import GOOD, run
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError


@pytest.mark.parametrize(
    ("name", "train", "dev", "words"),
    [
        (
            "cola",
            "10",
            "11",
            r"dev\.tsv: all 2 examples of CoLA's dev have the label 1; .* more of its examples",
        ),
        (
            "cola",
            "00",
            "01",
            r"train\.tsv: all 2 examples of CoLA's train .* label 0; .*tasks\.cola",
        ),
        ("mnli", "22", "01", r"train\.tsv: all 2 examples of MNLI's train .* label contradiction"),
        ("stsb", "10", "33", r"dev\.tsv: all 2 examples of STS-B's dev have the label 3\.0"),
    ],
)
def test_a_split_with_one_label_is_an_error(
    tmp_path: Path, name: str, train: str, dev: str, words: str
) -> None:
    form = {
        "cola": lambda k, label: f"gj04\t{label}\t\tA .",
        "mnli": lambda k, label: f"{k}\t-\tx\tA\tB\t-\t{TASKS['mnli'].labels[int(label)]}",
        "stsb": lambda k, label: f"{k}\tg\tf\ty\to\ts\ts\tA\tB\t{label}",
    }[name]
    for file, labels in zip(TASKS[name].files.values(), (train, dev, dev), strict=False):
        rows = [form(k, label) for k, label in enumerate(labels)]
        lines = [*filter(None, [GOOD[name][0]]), *rows]
        (tmp_path / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        run(tmp_path, name, {"path": str(tmp_path)})


def test_a_sample_with_one_label_is_an_error(tmp_path: Path) -> None:
    for split in ("train", "dev"):
        rows = "".join(f"gj04\t{int(k > 0)}\t\tsentence {k}\n" for k in range(9))
        (tmp_path / f"{split}.tsv").write_text(rows, encoding="utf-8")
    run(tmp_path, "cola", {"path": str(tmp_path)})
    with pytest.raises(InputError, match=r"all 2 examples .* more of its examples \(tasks\.cola\)"):
        run(tmp_path, "cola", {"path": str(tmp_path)}, n_dev=2)
