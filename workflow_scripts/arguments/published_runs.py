"""Strict reader of the predictions that Niven and Kao published for every run of their models.

Of each experiment, predictions and accuracies are in one folder, as `bov/preds.csv` and
`bov/accs.csv` (results_from_paper/ of the authors' repository), or side by side, as
`bov.dev-predictions.csv` and `bov.accs.csv`.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data.text_files import read_rows, whole_number
from workflow_scripts.core.errors import InputError

# Names of experiments: the model's, and what follows it for a set-up.
MODELS = {
    "bert_large": ("bert", "BERT (Large)"),
    "bert_base": ("bert", "BERT (Base)"),
    "bov": ("bov", "BoV"),
    "bilstm": ("bilstm", "BiLSTM"),
}
SETUP_SUFFIXES = {"full": "", "W": "_w", "RW": "_rw", "CW": "_cw"}
PREDICTIONS = ("preds", "dev-predictions")
ACCURACIES = "accs"
COLUMNS = ("run_no", "dataset", "id", "pred", "correct")
KEYS = ["split", "id"]


def read_published(
    folder: Path, points: pd.DataFrame, degenerate_below: Mapping[str, float]
) -> pd.DataFrame:
    """Every prediction on the held-out points, a row each: family, model, setup, run, degenerate,
    split, id, picked (0 or 1), right.

    `points` are the original points of the study; a run is degenerate whose training accuracy is
    below its family's bound. Raises InputError, with file and line, for predictions that do not fit
    the points, and where a folder has none.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such directory; give one with the authors' runs")
    labels = points.set_index(KEYS)["label"]
    frames = []
    for name, (family, model) in MODELS.items():
        for setup, suffix in SETUP_SUFFIXES.items():
            experiment = name + suffix
            path = _find(folder, experiment, PREDICTIONS)
            if path is None:
                continue
            accuracies = _find(folder, experiment, (ACCURACIES,))
            if accuracies is None:
                raise InputError(f"{path}: no {ACCURACIES}.csv of these runs next to it; add it")
            trained = _trained(accuracies)
            frame = _predictions(path, labels)
            unknown = frame[~frame["run"].isin(trained)]
            if len(unknown):
                run = unknown["run"].iloc[0]
                raise InputError(f"{accuracies}: no run {run}, as in {path}; add it")
            failed = frame["run"].map(trained) < degenerate_below[family]
            frames.append(frame.assign(family=family, model=model, setup=setup, degenerate=failed))
    if not frames:
        raise InputError(
            f"{folder}: no predictions as bert_large/preds.csv; give the authors' runs"
        )
    return pd.concat(frames, ignore_index=True)


def _find(folder: Path, experiment: str, names: tuple[str, ...]) -> Path | None:
    paths = [folder / experiment / f"{name}.csv" for name in names]
    paths += [folder / f"{experiment}.{name}.csv" for name in names]
    return next((path for path in paths if path.is_file()), None)


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """The columns as text, and `line`, in which a row ends."""
    rows = read_rows(path)
    names = next(rows, (0, []))[1]
    for column in columns:
        if names.count(column) != 1:
            found = f"{names.count(column)} columns" if column in names else "no column"
            raise InputError(f"{path}:1: {found} {column}; needed are {', '.join(columns)}")
    records = []
    for number, fields in rows:
        if len(fields) != len(names):
            raise InputError(
                f"{path}:{number}: {len(fields)} columns, {len(names)} in the header; fix the row"
            )
        records.append((number, *(fields[names.index(column)] for column in columns)))
    return pd.DataFrame(records, columns=["line", *columns])


def _refuse(path: Path, frame: pd.DataFrame, wrong: pd.Series, column: str, accepted: str) -> None:
    """Raise InputError for the first row that is `wrong`."""
    if wrong.any():
        row = frame[wrong].iloc[0]
        raise InputError(
            f"{path}:{row['line']}: {column} is {row[column]!r}; it must be {accepted}"
        )


def _whole(path: Path, frame: pd.DataFrame, column: str) -> pd.Series:
    numbers = frame[column].map(whole_number)
    _refuse(path, frame, numbers.isna(), column, "a whole number")
    return numbers.astype(int)


def _trained(path: Path) -> dict[int, float]:
    """The training accuracy of each run."""
    frame = _read(path, ("run_no", "train"))
    runs, shares = _whole(path, frame, "run_no"), pd.to_numeric(frame["train"], errors="coerce")
    _refuse(path, frame, ~shares.between(0, 1), "train", "an accuracy from 0 to 1")
    _refuse(path, frame, runs.duplicated(), "run_no", "another in each row")
    return dict(zip(runs, shares, strict=True))


def _predictions(path: Path, labels: pd.Series) -> pd.DataFrame:
    """The predictions on the held-out splits that the study has, checked against its labels."""
    frame = _read(path, COLUMNS)
    _refuse(path, frame, ~frame["pred"].isin(["0", "1"]), "pred", "0 or 1")
    _refuse(path, frame, ~frame["correct"].isin(["True", "False"]), "correct", "True or False")
    frame["run_no"], frame["pred"] = _whole(path, frame, "run_no"), frame["pred"].astype(int)
    frame["correct"] = frame["correct"] == "True"
    splits = set(labels.index.get_level_values("split")) - {"train"}
    frame = frame[frame["dataset"].isin(splits)].rename(columns={"dataset": "split"})
    label = labels.reindex(pd.MultiIndex.from_frame(frame[KEYS])).to_numpy()
    wrong = pd.isna(label)
    if wrong.any():
        row = frame[wrong].iloc[0]
        raise InputError(
            f"{path}:{row['line']}: {row['id']} is no point of the study's {row['split']} set; "
            "use the data that these runs are of (tasks.arct)"
        )
    right = frame["pred"].to_numpy() == label
    wrong = right != frame["correct"].to_numpy()
    if wrong.any():
        row = frame[wrong].iloc[0]
        raise InputError(
            f"{path}:{row['line']}: correct is {row['correct']}, but the study's label of "
            f"{row['id']} is {labels[row['split'], row['id']]}; use the same data"
        )
    repeated = frame.duplicated([*KEYS, "run_no"])
    if repeated.any():
        row = frame[repeated].iloc[0]
        raise InputError(f"{path}:{row['line']}: a second prediction of {row['id']}; remove one")
    renamed = frame.rename(columns={"run_no": "run", "pred": "picked"})
    return renamed[["run", "picked", *KEYS]].assign(right=right)
