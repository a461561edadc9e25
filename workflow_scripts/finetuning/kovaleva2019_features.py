"""Kovaleva et al. 2019, section 4.4: linguistic features, fine-tuned minus pretrained."""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.token_kinds import LINGUISTIC

STAGES = ("pretrained", "fine-tuned")


def unclear(frame: pd.DataFrame) -> np.ndarray:
    """Where a change may be none: the intervals of before and after overlap, [layer, head].

    Each is the normal interval as wide as the 95% interval over examples (mean over seeds), widened
    so that all heads together hold with 95% (Bonferroni). Intervals of one head's two means that do
    not overlap differ whatever the correlation of the two.
    """
    means, errors = [], []
    for stage in STAGES:
        rows = frame[frame["stage"] == stage]
        low, middle, high = (
            heatmaps.grid_of(rows, name) for name in ("ci_low", "attention", "ci_high")
        )
        means.append(middle)
        errors.append((high - low) / 2)
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.025 / means[0].size) / normal.inv_cdf(0.975)
    return np.abs(means[1] - means[0]) <= wider * (errors[0] + errors[1])


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


def draw(frame: pd.DataFrame) -> Figure:
    """A row of maps for each kind of word, on one scale; a map for each task."""
    shape = (frame["layer"].max() + 1, frame["head"].max() + 1)
    names = present(frame)
    of_panel = dict(list(frame.dropna(subset=["attention"]).groupby(["kind", "task"])))
    grids = {panel: change(rows) for panel, rows in of_panel.items()}
    none = np.full(shape, np.nan)
    sizes = {(kind, name): np.abs(grid).max() for (kind, name), grid in grids.items()}
    largest = {
        kind: max((size for (of, _), size in sizes.items() if of == kind), default=0)
        for kind in LINGUISTIC
    }
    titles = [f"{kind}\nmax ±{largest[kind]:.2g}" for kind in LINGUISTIC]
    figure, panels = heatmaps.sheet(titles, [TASKS[name].title for name in names], shape)
    for cells, kind in zip(panels, LINGUISTIC, strict=True):
        for axes, name in zip(cells, names, strict=True):
            image = heatmaps.around_zero(axes, grids.get((kind, name), none), largest[kind])
            if (kind, name) not in grids:
                heatmaps.note(axes, f"no {kind}")
                continue
            rows = of_panel[kind, name]
            heatmaps.mute(axes, image, unclear(rows))
            words = f"{axes.get_title()}\nn = {rows['n'].max():.0f}".strip()
            axes.set_title(words, fontsize=7, pad=2)
        heatmaps.bar(image, cells, "Change")
    seeds = figures.counted(frame["seed"].nunique(), "seed")
    heads = f"corrected for {none.size} heads"
    key = f"95% intervals before and after overlap, {heads} ({seeds})"
    figure.legend(handles=[heatmaps.muted_key(key)], loc="outside lower center")
    return figure


def main(features: list[Path], svg: Out, pdf: Out, png: Out, table: Out) -> None:
    """Draw a heat map per task and kind of word, the mean over seeds; red means more attention.

    The table has the special tokens too.
    """
    columns = ("layer", "head", "kind", "attention", "ci_low", "ci_high", "share", "tokens")
    columns += ("stage", "query", "task", "n", "n_without", "seed")
    frame = tables.read_all(features, columns)
    frame = frame[frame["query"] == "all"]
    tables.write_csv(summary(frame), table)
    with figures.style():
        figures.save(draw(frame[frame["kind"].isin(LINGUISTIC)]), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
