"""Clark et al. 2019, Figure 2: attention to special tokens and punctuation."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

PANELS = [
    {"cls": "[CLS]", "sep": "[SEP]", "punctuation": ". or ,"},
    {"sep_to_sep": "[SEP] → [SEP]", "other_to_sep": "other → [SEP]"},
]


def main(special_tokens: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both panels: a point per head, a line through each layer's mean."""
    frame = tables.read(special_tokens, ("layer", "head", "target", "attention"))
    with figures.style():
        figure, panels = figures.new(figures.ONE_COLUMN, 4.4, rows=2)
        for panel, targets in zip(panels, PANELS, strict=True):
            for number, (target, name) in enumerate(targets.items()):
                rows = frame[frame["target"] == target]
                figures.per_layer(
                    panel, rows["layer"], rows["attention"], name, number, len(targets)
                )
            figures.layer_axis(panel, frame["layer"].max() + 1)
            panel.set_ylabel("Average attention")
            panel.set_ylim(-0.02, 1.02)
            panel.legend(loc="upper left", ncols=3)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
