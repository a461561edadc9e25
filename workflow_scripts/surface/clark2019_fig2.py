"""Clark et al. 2019, Figure 2: attention to special tokens and punctuation."""

from dataclasses import replace
from pathlib import Path

from matplotlib.ticker import PercentFormatter

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

SEP = colours.TOKENS["sep"]
PANELS = [
    {name: colours.TOKENS[name] for name in ("cls", "sep", "punctuation")},
    {
        "sep_to_sep": replace(SEP, name="[SEP] → [SEP]"),
        "other_to_sep": replace(colours.TOKENS["self"], name="other → [SEP]", dash="--"),
    },
]
# Baselines: a target's share of the tokens. That of [SEP] is the same from whichever token.
BASELINES = PANELS[0] | {"sep_to_sep": replace(SEP, colour=colours.BLACK)}
OF_DECODERS = [{name: colours.TOKENS[name] for name in ("first", "punctuation")}]
BASELINES |= OF_DECODERS[0]


def main(special_tokens: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a point per head, a line through each layer's mean, and uniform attention.

    There are two panels, of a decoder, which has no [SEP], one.

    Each target has its own baseline: the share of tokens that it makes up (Clark et al. state
    1/64 for [SEP], twice in 128 tokens).
    """
    frame = tables.read(special_tokens, ("layer", "head", "target", "attention", "uniform"))
    shown = OF_DECODERS if "first" in set(frame["target"]) else PANELS
    with figures.style():
        figure, panels = figures.new(figures.ONE_COLUMN * 1.15, 2.4 * len(shown), rows=len(shown))
        for panel, targets in zip(panels, shown, strict=True):
            for number, (target, look) in enumerate(targets.items()):
                rows = frame[frame["target"] == target]
                shift = figures.shift_of(number, len(targets))
                figures.per_layer(panel, rows["layer"], rows["attention"], look, shift)
            for target in (target for target in targets if target in BASELINES):
                uniform = frame.loc[frame["target"] == target, "uniform"].iloc[0]
                name = f"{BASELINES[target].name} if uniform: {uniform:.1%}"
                style = {"color": BASELINES[target].colour, "linestyle": ":", "linewidth": 1.0}
                panel.axhline(uniform, label=name, **style)
            figures.layer_axis(panel, frame["layer"].max() + 1)
            panel.set_ylabel("Average attention")
            panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            panel.set_ylim(bottom=-0.02)
            panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
