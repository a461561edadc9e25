"""A decoder's loss on running text as more and more heads, or key-value groups, are pruned."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

VALUES = ["nats", "nats_low", "nats_high", "change", "change_low", "change_high"]


def lines(curves: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws of a strategy, of losses and of their intervals over documents.

    `random_low` and `random_high` are the smallest and the largest loss of a draw.
    """
    keys = ["unit", "strategy", "pruned", "units", "share", "n", "n_documents"]
    groups = curves.groupby(keys, sort=False)
    frame = groups[VALUES].mean()
    frame = frame.assign(random_low=groups["nats"].min(), random_high=groups["nats"].max())
    return frame.assign(draws=groups["draw"].nunique()).reset_index()


def draw(frame: pd.DataFrame) -> Figure:
    """A panel for each unit."""
    units = list(frame["unit"].unique())
    of = figures.sample(frame, "segments", "documents")
    titles = [f"{unit}s\n{of}" for unit in units]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 2.4, columns=2)
    for axes, unit in zip(panels, units, strict=True):
        for strategy, look in colours.STRATEGIES.items():
            rows = frame[(frame["unit"] == unit) & (frame["strategy"] == strategy)]
            if len(rows):
                name = f"{look.name} ({figures.counted(rows['draws'].iloc[0], 'order')})"
                ends = rows["nats_low"], rows["nats_high"]
                figures.line(axes, 100 * rows["share"], rows["nats"], look, name, ends)
        total = frame.loc[frame["unit"] == unit, "units"].iloc[0]
        axes.set_xlabel(f"Pruned, % of {total} {unit}s")
    panels[0].set_ylabel("Nats per token")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def main(curves: Path, table: Out, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the curves, and write their points."""
    frame = lines(tables.read(curves, ("unit", "strategy", "draw", "pruned", "share", *VALUES)))
    tables.write_csv(frame, table)
    with figures.style():
        figures.save(draw(frame), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
