"""Points that a family gets right in every run, and whether they hold the cue (section 8)."""

import logging
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workflow_scripts.arguments.argument_scores import COLUMNS, RUN, picked, right
from workflow_scripts.arguments.published_runs import read_published
from workflow_scripts.arguments.setups import FAMILIES, WARRANTS
from workflow_scripts.arguments.wording import Cue, forms, grams
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import held_out, read_arct
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

log = logging.getLogger(__name__)
STUDY, AUTHORS = "this study", "Niven and Kao"
KEYS = ["source", "model", "family", "setup", "split", "runs"]


def cues_of(points: pd.DataFrame, cue: Cue, same: Mapping[str, str]) -> pd.DataFrame:
    """The points with which of their warrants hold the cue: id, cue_in_right, cue_in_wrong (bool)
    and side, the number of the warrant that alone holds it, or -1.
    """
    has = [
        [cue in grams(forms(row[name], same), [len(cue)]) for name in WARRANTS]
        for row in points.to_dict("records")
    ]
    pairs = list(zip(has, points["label"], strict=True))
    return pd.DataFrame(
        {
            "id": points["id"].to_numpy(),
            "cue_in_right": [pair[label] for pair, label in pairs],
            "cue_in_wrong": [pair[1 - label] for pair, label in pairs],
            "side": [pair.index(True) if sum(pair) == 1 else -1 for pair in has],
        }
    )


def of_study(predictions: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """The study's predictions on original held-out points, of models trained on original ones."""
    chosen = predictions["trained_on"].eq("original") & predictions["version"].eq("original")
    frame = predictions[chosen & predictions["split"].ne("train")]
    runs = scores[scores["points"] == "training"].set_index(RUN)["degenerate"]
    frame = frame.join(runs, on=RUN).rename(columns={"seed": "run"})
    frame = frame.assign(picked=picked(frame), right=right(frame))
    return frame.assign(source=STUDY, model=frame["family"].map(FAMILIES))


def count(frame: pd.DataFrame, cues: pd.DataFrame) -> pd.DataFrame:
    """One row per model, set-up, split, choice of runs and point; counts over runs.

    Columns: KEYS, id, n_runs, n_right, n_follow (runs that pick the warrant which alone holds the
    cue) and those of `cues_of`. `runs` is `all` and, where a run of the source is degenerate,
    `not degenerate`.
    """
    choices = [frame.assign(runs="all")]
    for _, of_source in frame.groupby("source", sort=False):
        if of_source["degenerate"].any():
            choices.append(of_source[~of_source["degenerate"]].assign(runs="not degenerate"))
    rows = pd.concat(choices).merge(cues, on="id", validate="many_to_one")
    rows["follows"] = rows["picked"] == rows["side"]
    grouped = rows.groupby([*KEYS, "id"], sort=False)
    numbers = {
        "n_runs": ("run", "size"),
        "n_right": ("right", "sum"),
        "n_follow": ("follows", "sum"),
    }
    return grouped.agg(**numbers).reset_index().merge(cues, on="id")


def main(
    table: Path,
    predictions: list[Path],
    scores: Path,
    easy: Out,
    cue: str,
    same: dict[str, str],
    degenerate_below: dict[str, float],
    published: str = "",
    files: list[Path] = (),
) -> None:
    """Write the counts of every held-out original point; `published` is the authors' folder."""
    points = pd.concat(held_out(read_arct(table)), ignore_index=True)
    runs = tables.read(scores, (*RUN, "points", "degenerate"))
    frames = [of_study(tables.read_all(predictions, COLUMNS), runs)]
    if published:
        authors = read_published(Path(published), points, degenerate_below)
        frames.append(authors.assign(source=AUTHORS))
    cues = cues_of(points, tuple(cue.lower().split()), same)
    counted = count(pd.concat(frames, ignore_index=True), cues)
    for keys, of_runs in counted.groupby(["source", "model", "setup", "split", "runs"], sort=False):
        always = of_runs["n_right"] == of_runs["n_runs"]
        log.info("%s: %d of %d points are always right", ", ".join(keys), always.sum(), len(always))
    tables.write(counted, easy)


if __name__ == "__main__":
    job.run(main, globals())
