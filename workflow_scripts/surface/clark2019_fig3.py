"""Clark et al. 2019, Figure 3: gradient-based importance of attention."""

from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TARGETS = {
    "unmasked": colours.Look("all unmasked tokens", colours.NEUTRAL, "v", "--"),
    **{name: colours.TOKENS[name] for name in ("sep", "punctuation", "cls")},
}
HEADS = {"own": "the checkpoint's own", "fitted": "fitted on the frozen body"}


def plain(value: float, position: int | None = None) -> str:
    """A number without an exponent, as a tick's label."""
    return np.format_float_positional(value, precision=8, trim="-")


def main(gradients: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a point per head and a line through each layer's mean, on a logarithmic axis."""
    frame = tables.read(gradients, ("layer", "head", "target", "gradient", "masked_lm_head"))
    with figures.style():
        figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.8)
        for number, (target, look) in enumerate(TARGETS.items()):
            rows = frame[frame["target"] == target]
            shift = figures.shift_of(number, len(TARGETS))
            figures.per_layer(axes, rows["layer"], rows["gradient"], look, shift)
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel("Average $|\\partial L / \\partial \\alpha|$ (nats)", parse_math=True)
        kind = HEADS[frame["masked_lm_head"].iloc[0]]
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2,
            title=f"masked-LM head: {kind}", title_fontsize=7,
        )  # fmt: skip
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
