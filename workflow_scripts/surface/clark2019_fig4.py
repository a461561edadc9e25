"""Clark et al. 2019, Figure 4: entropy of attention, over all tokens and from [CLS]."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

HEADS = colours.Look("heads and their mean", colours.NEUTRAL)
PANELS = {"all": "from all tokens", "cls": "from [CLS]"}


def main(entropy: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both panels with the line of uniform attention."""
    frame = tables.read(entropy, ("layer", "head", "query", "entropy", "uniform"))
    uniform = frame["uniform"].iloc[0]
    with figures.style():
        figure, panels = figures.new(figures.TWO_COLUMNS, 2.4, columns=2)
        for panel, (query, title) in zip(panels, PANELS.items(), strict=True):
            rows = frame[frame["query"] == query]
            figures.per_layer(panel, rows["layer"], rows["entropy"], HEADS)
            panel.axhline(uniform, color=colours.BLACK, linestyle=":", label="uniform attention")
            figures.layer_axis(panel, frame["layer"].max() + 1)
            panel.set_ylim(0, 1.08 * uniform)
            panel.set_ylabel("Average entropy (nats)")
            panel.set_title(title)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
