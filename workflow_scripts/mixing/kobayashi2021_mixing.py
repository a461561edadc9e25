"""Mixing ratios by layer (Kobayashi et al. 2021)."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ALL = "all"


def main(ratios: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a line per method with a band for its interval; a dotted line where parts are equal."""
    frame = tables.read_csv(ratios, dtype={"layer": str})
    of_layers = frame[frame["layer"] != ALL]
    with figures.style():
        figure, (axes,) = figures.new(figures.ONE_COLUMN * 1.15, 2.6)
        for method, rows in of_layers.groupby("method", sort=False):
            look = colours.PRESERVING[method]
            ends = rows["ci_low"], rows["ci_high"]
            figures.line(axes, rows["layer"].astype(int), rows["ratio"], look, look.name, ends)
        axes.axhline(50, color=colours.GUIDE, linestyle=":", linewidth=1.0)
        figures.layer_axis(axes, of_layers["layer"].astype(int).max())
        axes.set_ylabel("Mixing ratio (%)")
        axes.set_ylim(0, 100)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
        figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
