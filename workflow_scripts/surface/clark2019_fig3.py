"""Clark et al. 2019, Figure 3: gradient-based importance of attention."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TARGETS = {
    "unmasked": "all unmasked tokens",
    "sep": "[SEP]",
    "punctuation": ". or ,",
    "cls": "[CLS]",
}


def main(gradients: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a point per head and a line through each layer's mean, on a logarithmic axis."""
    frame = tables.read(gradients, ("layer", "head", "target", "gradient"))
    with figures.style():
        figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.6)
        for number, (target, name) in enumerate(TARGETS.items()):
            rows = frame[frame["target"] == target]
            figures.per_layer(axes, rows["layer"], rows["gradient"], name, number, len(TARGETS))
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set_yscale("log")
        axes.set_ylabel("Average $|\\partial L / \\partial \\alpha|$ (nats)")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
