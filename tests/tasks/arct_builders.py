"""ARCT in its official format, made up, and its preparation."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import prepare_arct

HEADER = "#id\twarrant0\twarrant1\tcorrectLabelW0orW1\treason\tclaim\tdebateTitle\tdebateInfo"
NO_LABEL = HEADER.replace("correctLabelW0orW1\t", "")
ROWS = {
    "train-full.txt": [HEADER, 'a\tit "is" so\tit isn\'t so\t0\tRain.\tGo out\tT\tI'],
    "dev-full.txt": [
        HEADER,
        "b\tyes\tno\t1\tSun.\tStay  in\tT\tI",
        "c\tp\tq\t0\tSun.\tGo out\tT\tI",
    ],
    "test-only-data.txt": [NO_LABEL, "d\tone\ttwo\tFog.\tGo out\tT\tI"],
    "test-truth.txt": ["# test/truth.txt", "#id\tcorrectLabelW0orW1", "d   1"],
    "adversarial_dataset/claim_map.csv": ["original,negated", "Go out,Do not go out", "Stay in,Go"],
}
PUBLISHED = {
    "train-adv-negated.csv": [
        HEADER + "\tadversarial",
        'a\t"it ""is"" so"\tit isn\'t so\t0\tRain.\tGo out\tT\tI\tFalse',
        'a-adversarial\t"it ""is"" so"\tit isn\'t so\t1\tRain.\tDo not go out\tT\tI\tTrue',
    ],
    "train-swapped.csv": [
        HEADER + "\tswapped",
        'a_swapped\tit isn\'t so\t"it ""is"" so"\t1\tRain.\tGo out\tT\tI\tTrue',
    ],
    "dev-adv-negated.csv": [
        HEADER + "\tadversarial",
        "c-adversarial\tp\tq\t1\tSun.\tDo not go out\tT\tI\tTrue",
        "b-adversarial\tyes\tno\t0\tSun.\tGo\tT\tI\tTrue",
    ],
    # The published test file has its columns in another order.
    "test-adv-negated.csv": [
        "#id\twarrant0\twarrant1\treason\tclaim\tdebateTitle\tdebateInfo\tcorrectLabelW0orW1"
        "\tadversarial",
        "d-adversarial\tone\ttwo\tFog.\tDo not go out\tT\tI\t0\tTrue",
    ],
}


def write(folder: Path, files: dict[str, list[str]] = ROWS) -> Path:
    """A directory with these files, each a list of lines."""
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def with_published(folder: Path) -> Path:
    return write(write(folder) / "adversarial_dataset", PUBLISHED).parent


def run(
    tmp_path: Path, folder: Path, adversarial: str = "built", **source: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table and the counts of a study with this directory."""
    out = {"table": tmp_path / "out.parquet", "counts": tmp_path / "out.csv"}
    call(
        prepare_arct.main,
        out | {"source": {"path": str(folder)} | source, "adversarial": adversarial},
    )
    return tables.read(out["table"]), pd.read_csv(out["counts"])
