"""Learning curves of the probes of Table 3 of Clark et al. 2019."""

from pathlib import Path

from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job


@figures.drawn
def clark2019_probe_curve(curve: Path) -> Figure:
    """The scores on held-out documents, and on the sentences that a probe was trained on."""
    frame = tables.read(curve)
    figure, (held_out, seen) = figures.new(figures.TWO_COLUMNS, 2.8, columns=2)
    for probe, look in colours.PARSERS.items():
        rows = frame[frame["probe"] == probe].sort_values("train_sentences")
        style = {"color": look.colour, "marker": look.marker, "linestyle": look.dash}
        sizes = rows["train_sentences"]
        held_out.plot(sizes, 100 * rows["score"], label=look.name, **style)
        low, high = (100 * rows[end] for end in ("ci_low", "ci_high"))
        held_out.fill_between(sizes, low, high, color=look.colour, alpha=0.15, linewidth=0)
        seen.plot(sizes, 100 * rows["train_score"], **style)
    held_out.set_title(f"held-out documents ({frame['n_documents'].max():.0f})")
    seen.set_title("the training sentences themselves")
    ticks = sorted(set(frame["train_sentences"]))
    for axes in (held_out, seen):
        axes.set(xlabel="Training sentences", xscale="log", ylim=(0, 100))
        axes.set_xticks(ticks, [str(size) for size in ticks])
        axes.minorticks_off()
    held_out.set_ylabel("UAS (structural: UUAS), %")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
