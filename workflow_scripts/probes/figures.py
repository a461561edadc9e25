"""Learning curves of the probes of Table 3 of Clark et al. 2019."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def clark2019_probe_curve(curve: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the scores on held-out documents, and on the sentences that a probe was trained on."""
    columns = ("probe", "train_sentences", "score", "ci_low", "ci_high", "train_score")
    frame = tables.read(curve, columns)
    with figures.style():
        figure, (held_out, seen) = figures.new(figures.TWO_COLUMNS, 2.8, columns=2)
        for probe, look in colours.PARSERS.items():
            rows = frame[frame["probe"] == probe].sort_values("train_sentences")
            style = {"color": look.colour, "marker": look.marker, "linestyle": look.dash}
            sizes = rows["train_sentences"]
            held_out.plot(sizes, 100 * rows["score"], label=look.name, **style)
            low, high = (100 * rows[end] for end in ("ci_low", "ci_high"))
            held_out.fill_between(sizes, low, high, color=look.colour, alpha=0.15, linewidth=0)
            seen.plot(sizes, 100 * rows["train_score"], **style)
        documents = frame["n_documents"]
        _finish(held_out, f"held-out documents ({documents.max():.0f})", frame)
        _finish(seen, "the training sentences themselves", frame)
        held_out.set_ylabel("UAS (structural: UUAS), %")
        figure.legend(loc="outside lower center", ncols=3)
        figures.save(figure, svg, pdf, png)


def _finish(axes: Axes, title: str, frame: pd.DataFrame) -> None:
    """A logarithmic axis whose ticks are the numbers of sentences."""
    axes.set_title(title)
    axes.set_xlabel("Training sentences")
    axes.set_xscale("log")
    sizes = sorted(set(frame["train_sentences"]))
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.set_ylim(0, 100)


if __name__ == "__main__":
    job.run_figure(globals())
