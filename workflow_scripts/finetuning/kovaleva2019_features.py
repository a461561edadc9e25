"""Kovaleva et al. 2019, section 4.4: linguistic features, fine-tuned minus pretrained."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.token_kinds import LINGUISTIC

STAGES = ("pretrained", "fine-tuned")


def change(frame: pd.DataFrame) -> np.ndarray:
    """Mean attention after fine-tuning minus before, [layer, head]; NaN where there is none."""
    after, before = (
        heatmaps.grid_of(frame[frame["stage"] == stage], "attention") for stage in STAGES[::-1]
    )
    return after - before


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per task and kind: mean attention before and after, and the head that gains most.

    `<stage>_share` is the attention to all tokens of the kind together, `tokens` their share of
    the tokens. `n` examples have the kind, `n_without` do not. Mean over seeds.
    """
    means = frame.groupby(["task", "kind", "layer", "head", "stage"], sort=False)[
        "attention"
    ].mean()
    shares = frame.groupby(["task", "kind", "stage"], sort=False)["share"].mean()
    both = means.unstack("stage").dropna()
    both["gain"] = both["fine-tuned"] - both["pretrained"]
    rows = []
    for (task, kind), heads in both.groupby(["task", "kind"], sort=False):
        _, _, layer, head = heads["gain"].idxmax()
        counted = frame[(frame["task"] == task) & (frame["kind"] == kind)].iloc[0]
        row = {"task": TASKS[task].title, "kind": kind}
        row |= heads[["pretrained", "fine-tuned"]].mean().to_dict()
        row |= {"head": label(layer, head), "gain": heads["gain"].max()}
        row |= {f"{stage}_share": shares[task, kind, stage] for stage in STAGES}
        rows.append(row | counted[["tokens", "n", "n_without"]].to_dict())
    return pd.DataFrame(rows)


def main(features: list[Path], svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw a heat map per task and kind of word, the mean over seeds; red means more attention.

    The table has the special tokens too.
    """
    columns = ("layer", "head", "kind", "attention", "share", "tokens", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    frame = frame[frame["query"] == "all"]
    tables.write_csv(summary(frame), table)
    frame = frame[frame["kind"].isin(LINGUISTIC)]
    shape = (frame["layer"].max() + 1, frame["head"].max() + 1)
    names = present(frame)
    grids = {}
    for kind in LINGUISTIC:
        for name in names:
            rows = frame[(frame["kind"] == kind) & (frame["task"] == name)].dropna()
            grids[kind, name] = change(rows) if len(rows) else np.full(shape, np.nan)
    with figures.style():
        figure, panels = heatmaps.sheet(LINGUISTIC, [TASKS[name].title for name in names], shape)
        for cells, kind in zip(panels, LINGUISTIC, strict=True):
            together = np.abs(np.stack([grids[kind, name] for name in names]))
            largest = together[np.isfinite(together)].max(initial=0)
            for axes, name in zip(cells, names, strict=True):
                grid = grids[kind, name]
                image = heatmaps.around_zero(axes, grid, largest)
                if not np.isfinite(grid).any():
                    heatmaps.note(axes, f"no {kind}")
            heatmaps.bar(image, cells, "Change")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
