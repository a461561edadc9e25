"""Clark et al. 2019, Figure 4: entropy of attention, over all tokens and from [CLS]."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

HEADS = colours.Look("heads and their mean", colours.NEUTRAL)
PANELS = {"all": "from all tokens", "cls": "from [CLS]"}
RELATIVE = {"entropy": "from all tokens", "relative": "from all tokens, share of the largest"}


def main(entropy: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both panels with the line of uniform attention.

    Of a decoder, whose first token has no choice, the second panel shows shares of the largest
    entropy that each token can have.
    """
    frame = tables.read(entropy, ("layer", "head", "query", "entropy", "uniform"))
    uniform = frame["uniform"].iloc[0]
    if "relative" in frame:
        shown = [
            (title, frame[column], null)
            for (column, title), null in zip(RELATIVE.items(), (uniform, 1.0), strict=True)
        ]
    else:
        shown = [
            (title, frame.loc[frame["query"] == query, "entropy"], uniform)
            for query, title in PANELS.items()
        ]
    with figures.style():
        figure, panels = figures.new(figures.TWO_COLUMNS, 2.4, columns=2)
        for panel, (title, values, null) in zip(panels, shown, strict=True):
            figures.per_layer(panel, frame.loc[values.index, "layer"], values, HEADS)
            panel.axhline(null, color=colours.BLACK, linestyle=":", label="uniform attention")
            figures.layer_axis(panel, frame["layer"].max() + 1)
            panel.set_ylim(0, 1.08 * null)
            panel.set_ylabel("Average entropy (nats)" if null == uniform else "Average share")
            panel.set_title(title)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
