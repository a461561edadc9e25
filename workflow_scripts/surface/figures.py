"""The figures of Clark et al. 2019, section 3."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import attention_lines, colours, figures, heatmaps
from workflow_scripts.core.run import job

POWER = 0.5  # a line's opacity is the root of its weight: 1/128 is seen, and 1 is no darker
LEAST = 0.5  # smaller weights, relative to uniform attention, are not drawn
DARKEST = 0.5  # the weight from which on a matrix is the darkest


def not_drawn(table: pd.DataFrame) -> str:
    """A line that names the patterns that no head shows, each with its strongest head."""
    parts = []
    for row in table[~table["shown"]].itertuples():
        strength = f"{row.strength:.1f} nats" if row.unit == "nats" else f"{row.strength:.0%}"
        parts.append(f"{row.pattern} (at most {strength}, head {row.head})")
    return f"Shown by no head: {', '.join(parts)}" if parts else ""


@figures.drawn
def clark2019_fig1(drawings: Path, table: Path, by_hand: bool = False) -> Figure:
    """A column per head, its lines and its matrix; below, the patterns that no head shows.

    Heads that are chosen `by_hand` stand for no pattern.
    """
    rows = tables.read(drawings)
    panels = [panel for _, panel in rows.groupby("drawing")]
    columns, tokens = max(1, len(panels)), 1 if rows.empty else rows["query"].max() + 1
    width = min(figures.TWO_COLUMNS, attention_lines.WIDTH * max(2, columns))
    heights = [0.4 + 0.115 * tokens, width / columns]
    figure = Figure(figsize=(width, sum(heights) + 0.3), layout="constrained")
    above, below = figure.subplots(2, columns, squeeze=False, height_ratios=heights)
    for axes in (*above[len(panels) :], *below[len(panels) :]):
        axes.axis("off")
    for lines, matrix, panel in zip(above, below, panels, strict=False):
        attention_lines.draw_panel(lines, panel, LEAST * panel["uniform"], POWER)
        weights = panel.pivot_table(index="query", columns="key", values="weight")
        image = matrix.imshow(weights, cmap=colours.MORE, vmin=0, vmax=DARKEST, rasterized=True)
        matrix.set(xticks=[], yticks=[], xlabel="To token")
        matrix.spines[:].set_visible(True)
    if panels:
        below[0].set_ylabel("From token")
        heatmaps.bar(image, list(below), "Weight", extend="max")
    figure.supxlabel("" if by_hand else not_drawn(tables.read_csv(table)), fontsize=7)
    return figure


SEP = colours.TOKENS["sep"]
SPECIAL_PANELS = [
    {name: colours.TOKENS[name] for name in ("cls", "sep", "punctuation")},
    {
        "sep_to_sep": replace(SEP, name="[SEP] → [SEP]"),
        "other_to_sep": replace(colours.TOKENS["self"], name="other → [SEP]", dash="--"),
    },
]
# Baselines: a target's share of the tokens. That of [SEP] is the same from whichever token.
BASELINES = SPECIAL_PANELS[0] | {"sep_to_sep": replace(SEP, colour=colours.BLACK)}
OF_DECODERS = [{name: colours.TOKENS[name] for name in ("first", "punctuation")}]
BASELINES |= OF_DECODERS[0]


@figures.drawn
def clark2019_fig2(special_tokens: Path) -> Figure:
    """A point per head, a line through each layer's mean, and uniform attention.

    There are two panels, of a decoder, which has no [SEP], one.

    Each target has its own baseline: the share of tokens that it makes up (Clark et al. state
    1/64 for [SEP], twice in 128 tokens).
    """
    frame = tables.read(special_tokens)
    shown = OF_DECODERS if "first" in set(frame["target"]) else SPECIAL_PANELS
    figure, panels = figures.new(figures.ONE_COLUMN * 1.15, 2.4 * len(shown), rows=len(shown))
    for panel, targets in zip(panels, shown, strict=True):
        figures.layers(panel, frame, "attention", targets)
        for target in (target for target in targets if target in BASELINES):
            uniform = frame.loc[frame["target"] == target, "uniform"].iloc[0]
            name = f"{BASELINES[target].name} if uniform: {uniform:.1%}"
            style = {"color": BASELINES[target].colour, "linestyle": ":", "linewidth": 1.0}
            panel.axhline(uniform, label=name, **style)
        panel.set_ylabel("Average attention")
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.set_ylim(bottom=-0.02)
        panel.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    return figure


GRADIENT_TARGETS = {
    "unmasked": colours.Look("all unmasked tokens", colours.NEUTRAL, "v", "--"),
    **{name: colours.TOKENS[name] for name in ("sep", "punctuation", "cls")},
}
FITTED_HEADS = {"own": "the checkpoint's own", "fitted": "fitted on the frozen body"}


@figures.drawn
def clark2019_fig3(gradients: Path) -> Figure:
    """A point per head and a line through each layer's mean, on a logarithmic axis."""
    frame = tables.read(gradients)
    figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.8)
    figures.layers(axes, frame, "gradient", GRADIENT_TARGETS)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    plain = partial(np.format_float_positional, precision=8, trim="-")  # without an exponent
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("Average $|\\partial L / \\partial \\alpha|$ (nats)", parse_math=True)
    kind = f"masked-LM head: {FITTED_HEADS[frame['masked_lm_head'].iloc[0]]}"
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2}
    axes.legend(title=kind, title_fontsize=7, **place)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    return figure


HEADS = colours.Look("heads and their mean", colours.NEUTRAL)
ENTROPY_PANELS = {"all": "from all tokens", "cls": "from [CLS]"}
RELATIVE = "from all tokens, share of the largest"


@figures.drawn
def clark2019_fig4(entropy: Path) -> Figure:
    """Both panels with the line of uniform attention.

    For a decoder, whose first token has no choice, the second panel shows shares of the largest
    entropy that each token can have.
    """
    frame = tables.read(entropy)
    uniform = frame["uniform"].iloc[0]
    shown = [
        (title, frame.loc[frame["query"] == query, "entropy"], uniform)
        for query, title in ENTROPY_PANELS.items()
    ]
    if "relative" in frame:
        shown[1] = (RELATIVE, frame["relative"], 1.0)
    figure, panels = figures.new(figures.TWO_COLUMNS, 2.4, columns=2)
    for panel, (title, values, null) in zip(panels, shown, strict=True):
        figures.per_layer(panel, frame.loc[values.index, "layer"], values, HEADS)
        panel.axhline(null, color=colours.BLACK, linestyle=":", label="uniform attention")
        figures.layer_axis(panel, frame["layer"].max() + 1)
        label = "Average entropy (nats)" if null == uniform else "Average share"
        panel.set(ylim=(0, 1.08 * null), ylabel=label, title=title)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    return figure


POSITIONS = {name: colours.TOKENS[name] for name in ("previous", "next", "self")}
BLACK_LINE = {"color": colours.BLACK, "linewidth": 0.8}


@figures.drawn
def clark2019_position(position: Path, threshold: float) -> Figure:
    """A point per head; heads above `threshold` carry their names.

    For a decoder, without the next token, and with what uniform attention gives to the others.
    """
    frame = tables.read(position)
    figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.8)
    figures.layers(axes, frame, "attention", POSITIONS, named_above=threshold)
    if "uniform" in frame:
        uniform = frame["uniform"].mean()  # 1/i, whichever of the tokens it is for
        axes.axhline(uniform, label=f"if uniform: {uniform:.1%}", linestyle="--", **BLACK_LINE)
    axes.axhline(threshold, label=f"threshold, {threshold:.0%}", linestyle=":", **BLACK_LINE)
    axes.set(ylim=(-0.02, 1.02), ylabel="Average attention")
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, columnspacing=0.8)
    figure.supxlabel(figures.sample(frame, "segments", "articles"), fontsize=7)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
