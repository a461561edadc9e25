"""Attention to the same, previous and next token in each layer (Clark et al. 2019, section 3.1)."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TARGETS = ("previous", "next", "self")


def main(position: Path, svg: Out, pdf: Out, png: Out, threshold: float) -> None:
    """Draw a point per head; heads above `threshold` carry their names.

    Of a decoder, without the next token, and with what uniform attention gives to the others.
    """
    frame = tables.read(position, ("layer", "head", "target", "attention"))
    with figures.style():
        figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.8)
        for number, target in enumerate(TARGETS):
            rows = frame[frame["target"] == target]
            if rows.empty:
                continue
            look, shift = colours.TOKENS[target], figures.shift_of(number, len(TARGETS))
            figures.per_layer(axes, rows["layer"], rows["attention"], look, shift)
            for row in rows[rows["attention"] > threshold].itertuples():
                x = row.layer + 1 + shift
                axes.annotate(
                    label(row.layer, row.head), (x, row.attention), (4, 0),
                    textcoords="offset points", va="center", size=7,
                )  # fmt: skip
        if "uniform" in frame:
            uniform = frame["uniform"].mean()  # 1/i, whichever of the tokens it is for
            style = {"color": colours.BLACK, "linestyle": "--", "linewidth": 0.8}
            axes.axhline(uniform, label=f"if uniform: {uniform:.1%}", **style)
        line = {"color": colours.BLACK, "linestyle": ":", "linewidth": 0.8}
        axes.axhline(threshold, label=f"threshold, {threshold:g}", **line)
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel("Average attention")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, columnspacing=0.8)
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
