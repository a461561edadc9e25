"""Kovaleva et al. 2019, Figure 7: what [CLS] attends to in the last layer."""

from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.token_kinds import KINDS


def title(rows: pd.DataFrame) -> str:
    """A panel's title: its task, the number of seeds and the widest interval of a cell."""
    name = TASKS[rows["task"].iloc[0]].title
    widest = ((rows["ci_high"] - rows["ci_low"]) / 2).max()
    seeds = figures.counted(rows["seed"].nunique(), "seed")
    return f"{name}\n{seeds}, 95% intervals up to ±{widest:.2f}"


def kind_names(rows: pd.DataFrame) -> list[str]:
    """The kinds of tokens, each with the number of examples that have it."""
    counts = rows.groupby("kind")["n"].max()
    names = [colours.TOKENS[kind].name if kind in colours.TOKENS else kind for kind in KINDS]
    return [f"{name} ({counts.get(kind, 0):.0f})" for kind, name in zip(KINDS, names, strict=True)]


def main(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task: heads of the last layer over kinds of tokens, the mean over seeds."""
    columns = ("layer", "head", "kind", "attention", "ci_low", "ci_high", "n")
    columns += ("stage", "query", "task", "seed")
    frame = tables.read_all(features, columns)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "cls")]
    frame = frame[frame["layer"] == frame["layer"].max()]
    names = present(frame)
    high = frame["attention"].max()
    n_heads = frame["head"].max() + 1
    with figures.style():
        titles = [title(frame[frame["task"] == name]) for name in names]
        height = max(1.7, 1.05 + 0.13 * n_heads)
        figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height, columns=3)
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            grid = rows.pivot_table(index="head", columns="kind", values="attention", dropna=False)
            grid = grid.reindex(columns=KINDS).to_numpy()
            image = axes.imshow(
                grid,
                cmap=colours.MORE,
                vmin=0,
                vmax=high,
                aspect="auto",
                origin="lower",
                rasterized=True,
            )
            axes.set_xticks(range(len(KINDS)), kind_names(rows), rotation=90)
            axes.patch.set(hatch="////", edgecolor=colours.PALE)  # seen where there is no such word
            axes.set_yticks(*heatmaps.ticks(n_heads))
        panels[0].set_ylabel("Head of the last layer")
        heatmaps.bar(image, panels, "Attention from [CLS]")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
