"""GLUE and WikiText as they lie on the hub: a card with configurations, and Parquet files."""

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import yaml

from tests.workflow.tiny_study import WORDS
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.generated.grammar import TOWN
from workflow_scripts.tasks.generate_task import WRITERS

Row = tuple[str, str, str]
FILMS = {"1": "a good warm film", "0": "a dull cold film"}
N_ARTICLES, N_PARAGRAPHS = 12, 4


def sentiment(rng: random.Random, _: object) -> Row:
    """A sentence about a film, which the grammar of the other tasks does not write."""
    label = rng.choice("01")
    return f"{FILMS[label]} of the {rng.choice(WORDS[:-5])} {rng.choice(WORDS[:-5])}", "", label


def write_glue(folder: Path, n_train: int, n_dev: int) -> None:
    """Write every task with its splits; those for tests have no labels, as on the hub."""
    card = {}
    for name, task in TASKS.items():
        writer = WRITERS.get(name, sentiment)
        splits = [*task.hub_splits.values()]
        splits += [split.replace("validation", "test") for split in splits if split != "train"]
        for split in splits:
            n = n_train if split == "train" else n_dev
            rows = [_numbered(row, name) for row in _written(writer, f"{name}-{split}", n)]
            labels = [-1 if split.startswith("test") else row[2] for row in rows]
            columns = {
                text: [row[k] for row in rows] for k, text in enumerate(task.hub or task.texts)
            }
            kind = pa.int64() if task.labels else pa.float32()
            columns["label"] = pa.array(labels, kind)
            columns["idx"] = pa.array(range(n), pa.int32())
            write_table(folder / name / f"{split}-00000-of-00001.parquet", columns)
        card[name] = splits
    write_card(folder, card)


def _written(writer: Callable[..., Row], seed: str, n: int) -> list[Row]:
    rng = random.Random(seed)
    return [writer(rng, (TOWN,)) for _ in range(n)]


def _numbered(row: Row, name: str) -> tuple[str, str, float]:
    """The row with the hub's label: a number."""
    first, second, label = row
    labels = TASKS[name].labels
    return first, second, labels.index(label) if labels else float(label)


def write_wikitext(folder: Path, name: str) -> None:
    """Write articles of made-up paragraphs; the training split is in two files."""
    for split, n_files in (("train", 2), ("validation", 1), ("test", 1)):
        for number in range(n_files):
            lines = _lines(random.Random(f"{split}-{number}"))
            file = f"{split}-{number:05d}-of-{n_files:05d}.parquet"
            write_table(folder / name / file, {"text": lines})
    write_card(folder, {name: ["train", "validation", "test"]})


def _lines(rng: random.Random) -> list[str]:
    """The lines of a file of WikiText, each with its end, as the hub's rows have it."""
    lines = []
    for number in range(N_ARTICLES // 2):
        lines += ["", f" = {rng.choice(WORDS[:9])} {number} = \n", ""]
        for part in range(N_PARAGRAPHS):
            if part == N_PARAGRAPHS // 2:
                lines += ["", " = = Later = = \n", ""]
            text = " ".join(rng.choices(WORDS, k=rng.randint(30, 45)))
            lines.append(f" {text} @-@ built . \n")
    return lines


def write_table(path: Path, columns: dict[str, object]) -> None:
    """Write columns as a Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.table(columns), path)


def write_card(folder: Path, configurations: dict[str, list[str]]) -> None:
    """Write the README, whose head names the files of each split."""
    head = [
        {
            "config_name": name,
            "data_files": [{"split": split, "path": f"{name}/{split}-*"} for split in splits],
        }
        for name, splits in configurations.items()
    ]
    text = f"---\n{yaml.safe_dump({'configs': head})}---\n# A stand-in\n"
    (folder / "README.md").write_text(text, encoding="utf-8")
