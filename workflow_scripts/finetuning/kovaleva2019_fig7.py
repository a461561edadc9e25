"""Kovaleva et al. 2019, Figure 7: what [CLS] attends to in the last layer."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS, present
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.finetuning.token_kinds import KINDS

NAMES = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": ". or ,"}


def main(features: list[Path], svg: Out, pdf: Out, png: Out) -> None:
    """Draw a panel per task: heads of the last layer over kinds of tokens, the mean over seeds."""
    columns = ("layer", "head", "kind", "attention", "stage", "query", "task")
    frame = tables.read_all(features, columns)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == "cls")]
    frame = frame[frame["layer"] == frame["layer"].max()]
    names = present(frame)
    high = frame["attention"].max()
    n_heads = frame["head"].max() + 1
    with figures.style():
        width = 1.0 + 1.25 * len(names)
        figure, panels = figures.new(width, 0.9 + 0.13 * n_heads, columns=len(names))
        for axes, name in zip(panels, names, strict=True):
            rows = frame[frame["task"] == name]
            grid = rows.pivot_table(index="head", columns="kind", values="attention", dropna=False)
            grid = grid.reindex(columns=KINDS).to_numpy()
            image = axes.imshow(
                grid, cmap="Blues", vmin=0, vmax=high, aspect="auto", rasterized=True
            )
            axes.set_title(TASKS[name].title)
            axes.set_xticks(
                range(len(KINDS)), [NAMES.get(kind, kind) for kind in KINDS], rotation=90
            )
            axes.set_yticks(range(0, n_heads, 2), [str(head + 1) for head in range(0, n_heads, 2)])
        panels[0].set_ylabel("Head of the last layer")
        figure.colorbar(image, ax=panels, label="Attention from [CLS]", pad=0.01, aspect=15)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
