"""Points that a family gets right in every run, and whether they hold the cue (section 8).

The authors' own runs are read, too. Of each experiment, predictions and accuracies are in one
folder, as `bov/preds.csv` and `bov/accs.csv` (results_from_paper/ of the authors' repository), or
side by side, as `bov.dev-predictions.csv` and `bov.accs.csv`.
"""

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.arguments.argument_scores import RUN, picked, right
from workflow_scripts.arguments.wording import FAMILIES, Cue, cue_in, side_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tasks import held_out
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import job

# Names of experiments: the model's, and what follows it for a set-up.
MODELS = {
    "bert_large": ("bert", "BERT (Large)"),
    "bert_base": ("bert", "BERT (Base)"),
    "bov": ("bov", "BoV"),
    "bilstm": ("bilstm", "BiLSTM"),
}
SUFFIXES = {"full": "", "W": "_w", "RW": "_rw", "CW": "_cw"}
PREDICTIONS = ("preds", "dev-predictions")
ACCURACIES = "accs"
PUBLISHED = {"run_no": int, "dataset": str, "id": str, "pred": int, "correct": bool}
NAMES = {"run_no": "run", "dataset": "split", "pred": "picked", "correct": "right"}  # ours
PUBLISHED_KEYS = ["split", "id"]


def read_published(
    folder: Path, points: pd.DataFrame, degenerate_below: Mapping[str, float]
) -> pd.DataFrame:
    """Every prediction on the held-out points, a row each: family, model, setup, run, degenerate,
    split, id, picked (0 or 1), right. Raises InputError for files that do not fit the points.
    """
    labels = points.set_index(PUBLISHED_KEYS)["label"]
    frames = []
    for (name, (family, model)), (setup, suffix) in product(MODELS.items(), SUFFIXES.items()):
        path = _find(folder, name + suffix, PREDICTIONS)
        if path is None:
            continue
        accuracies = _find(folder, name + suffix, (ACCURACIES,))
        if accuracies is None:
            raise InputError(f"{path}: no {ACCURACIES}.csv of these runs next to it; add it")
        trained, frame = _trained(accuracies), _predictions(path, labels)
        if unknown := {*frame["run"]} - {*trained.index}:
            raise InputError(f"{accuracies}: no run {min(unknown)}, as in {path}; add it")
        failed = frame["run"].map(trained) < degenerate_below[family]
        frames.append(frame.assign(family=family, model=model, setup=setup, degenerate=failed))
    if not frames:
        raise InputError(f"{folder}: no bert_large/preds.csv or other; give the authors' runs")
    return pd.concat(frames, ignore_index=True)


def _find(folder: Path, experiment: str, names: tuple[str, ...]) -> Path | None:
    paths = [folder / experiment / f"{name}.csv" for name in names]
    paths += [folder / f"{experiment}.{name}.csv" for name in names]
    return next((path for path in paths if path.is_file()), None)


def _read(path: Path, types: Mapping[str, type]) -> pd.DataFrame:
    """These columns, and `line`, in which a row ends."""
    try:
        frame = pd.read_csv(path, dtype=types, skip_blank_lines=False)[[*types]]
    except (KeyError, ValueError) as error:
        raise InputError(f"{path}: {error}; give the authors' file as it is") from error
    return frame.assign(line=frame.index + 2)


def _refuse(path: Path, frame: pd.DataFrame, wrong: pd.Series, what: str) -> None:
    """Raise InputError for the first row that is `wrong`; `what` names its columns in braces."""
    for row in frame[wrong].to_dict("records"):
        raise InputError(f"{path}:{row['line']}: {what.format(**row)}")


def _trained(path: Path) -> pd.Series:
    """The training accuracy of each run."""
    frame = _read(path, {"run_no": int, "train": float})
    wrong = ~frame["train"].between(0, 1)
    _refuse(path, frame, wrong, "train is {train}; it must be from 0 to 1")
    _refuse(path, frame, frame["run_no"].duplicated(), "a second row of run {run_no}; remove one")
    return frame.set_index("run_no")["train"]


def _predictions(path: Path, labels: pd.Series) -> pd.DataFrame:
    """The predictions on the held-out splits that the study has, checked against its labels."""
    frame = _read(path, PUBLISHED).rename(columns=NAMES)
    splits = set(labels.index.get_level_values("split")) - {"train"}
    frame = frame[frame["split"].isin(splits)]
    frame["label"] = labels.reindex(pd.MultiIndex.from_frame(frame[PUBLISHED_KEYS])).to_numpy()
    what = "{id} is no point of the study's {split} set; use the data of these runs (tasks.arct)"
    _refuse(path, frame, frame["label"].isna(), what)
    wrong = ~frame["picked"].isin((0, 1))
    _refuse(path, frame, wrong, "pred is {picked}; it must be 0 or 1")
    what = "correct is {right}, but the study's label of {id} is {label:.0f}; use the same data"
    _refuse(path, frame, (frame["picked"] == frame["label"]) != frame["right"], what)
    repeated = frame.duplicated([*PUBLISHED_KEYS, "run"])
    _refuse(path, frame, repeated, "a second prediction of {id}; remove one")
    return frame[["run", "picked", *PUBLISHED_KEYS, "right"]]


STUDY, AUTHORS = "this study", "Niven and Kao"
KEYS = ["source", "model", "family", "setup", "split", "runs"]


def cues_of(points: pd.DataFrame, cue: Cue, same: Mapping[str, str]) -> pd.DataFrame:
    """By id which warrants hold the cue, bool, and `side`, the one that alone holds it, or -1."""
    has = cue_in(points, cue, same)
    at, label = np.arange(len(points)), points["label"].to_numpy()
    held = {"cue_in_right": has[at, label], "cue_in_wrong": has[at, 1 - label]}
    return pd.DataFrame({"id": points["id"].to_numpy()} | held | {"side": side_of(has)})


def study_predictions(predictions: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The study's predictions on original held-out points, of models trained on original ones."""
    chosen = predictions["trained_on"].eq("original") & predictions["version"].eq("original")
    frame = predictions[chosen & predictions["split"].ne("train")]
    runs = scores[scores["points"] == "training"].set_index(RUN)["degenerate"]
    frame = frame.join(runs, on=RUN).rename(columns={"seed": "run"})
    frame = frame.assign(picked=picked(frame), right=right(frame))
    return frame.assign(source=STUDY, model=frame["family"].map(FAMILIES))


def count(frame: pd.DataFrame, cues: pd.DataFrame) -> pd.DataFrame:
    """One row per model, set-up, split, choice of runs and point; counts over runs.

    `n_follow` are runs that pick the warrant which alone holds the cue. `runs` is `all` and, where
    a run of the source is degenerate, `not degenerate`.
    """
    has_failed = frame["degenerate"].groupby(frame["source"]).transform("any")
    trained = frame[has_failed & ~frame["degenerate"]].assign(runs="not degenerate")
    rows = pd.concat([frame.assign(runs="all"), trained])
    rows = rows.merge(cues, on="id", validate="many_to_one")
    rows["follows"] = rows["picked"] == rows["side"]
    counts = {"n_runs": ("run", "size"), "n_right": ("right", "sum")}
    counts["n_follow"] = ("follows", "sum")
    counted = rows.groupby([*KEYS, "id"], sort=False).agg(**counts)
    return counted.reset_index().merge(cues, on="id")


def main(
    table: Path,
    predictions: list[Path],
    scores: Path,
    easy: job.Out,
    cue: str,
    same: dict[str, str],
    degenerate_below: dict[str, float],
    published: str = "",
) -> None:
    """Write the counts of every held-out original point; `published` is the authors' folder."""
    points = pd.concat(held_out(tables.read(table)), ignore_index=True)
    runs = tables.read(scores)
    frames = [study_predictions(tables.read_all(predictions), runs)]
    if published:
        authors = read_published(Path(published), points, degenerate_below)
        frames.append(authors.assign(source=AUTHORS))
    cues = cues_of(points, tuple(cue.lower().split()), same)
    tables.write(count(pd.concat(frames, ignore_index=True), cues), easy)


if __name__ == "__main__":
    job.run(main, globals())
