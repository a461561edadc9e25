"""The figures of Clark et al. 2019, section 3."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.plots import attention_lines, colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

POWER = 0.5  # a line's opacity is the root of its weight: 1/128 is seen, and 1 is no darker
LEAST = 0.5  # smaller weights, relative to uniform attention, are not drawn


def not_drawn(table: pd.DataFrame) -> str:
    """A line that names the patterns that no head shows, each with its strongest head."""
    parts = []
    for row in table[~table["shown"]].itertuples():
        strength = f"{row.strength:.1f} nats" if row.unit == "nats" else f"{row.strength:.0%}"
        parts.append(f"{row.pattern} (at most {strength}, head {row.head})")
    return f"Shown by no head: {', '.join(parts)}" if parts else ""


def clark2019_fig1(
    drawings: Path, table: Path, svg: Out, pdf: Out, png: Out, by_hand: bool = False
) -> None:
    """Draw one panel per head; below, the patterns that no head shows.

    Heads that are chosen `by_hand` stand for no pattern.
    """
    rows = tables.read(drawings, (*attention_lines.COLUMNS, "uniform"))
    note = "" if by_hand else not_drawn(tables.read_csv(table))
    panels = [panel for _, panel in rows.groupby("drawing")]
    with figures.style():
        longest = 0 if rows.empty else rows["query"].max() + 1
        height = 0.7 + 0.115 * longest
        columns = max(1, len(panels))
        figure, axes = figures.new(
            min(figures.TWO_COLUMNS, attention_lines.WIDTH * max(2, columns)),
            height,
            columns=columns,
        )
        for panel_axes in axes[len(panels) :]:
            panel_axes.axis("off")
        for panel_axes, panel in zip(axes, panels, strict=False):
            least = LEAST * panel["uniform"]
            attention_lines.draw_panel(panel_axes, panel, least, POWER)
        figure.supxlabel(note, fontsize=7)
        figures.save(figure, svg, pdf, png)


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


def clark2019_fig2(special_tokens: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a point per head, a line through each layer's mean, and uniform attention.

    There are two panels, of a decoder, which has no [SEP], one.

    Each target has its own baseline: the share of tokens that it makes up (Clark et al. state
    1/64 for [SEP], twice in 128 tokens).
    """
    frame = tables.read(special_tokens, ("layer", "head", "target", "attention", "uniform"))
    shown = OF_DECODERS if "first" in set(frame["target"]) else SPECIAL_PANELS
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


GRADIENT_TARGETS = {
    "unmasked": colours.Look("all unmasked tokens", colours.NEUTRAL, "v", "--"),
    **{name: colours.TOKENS[name] for name in ("sep", "punctuation", "cls")},
}
FITTED_HEADS = {"own": "the checkpoint's own", "fitted": "fitted on the frozen body"}


def plain(value: float, position: int | None = None) -> str:
    """A number without an exponent, as a tick's label."""
    return np.format_float_positional(value, precision=8, trim="-")


def clark2019_fig3(gradients: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw a point per head and a line through each layer's mean, on a logarithmic axis."""
    frame = tables.read(gradients, ("layer", "head", "target", "gradient", "masked_lm_head"))
    with figures.style():
        figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.8)
        for number, (target, look) in enumerate(GRADIENT_TARGETS.items()):
            rows = frame[frame["target"] == target]
            shift = figures.shift_of(number, len(GRADIENT_TARGETS))
            figures.per_layer(axes, rows["layer"], rows["gradient"], look, shift)
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel("Average $|\\partial L / \\partial \\alpha|$ (nats)", parse_math=True)
        kind = FITTED_HEADS[frame["masked_lm_head"].iloc[0]]
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2,
            title=f"masked-LM head: {kind}", title_fontsize=7,
        )  # fmt: skip
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


HEADS = colours.Look("heads and their mean", colours.NEUTRAL)
ENTROPY_PANELS = {"all": "from all tokens", "cls": "from [CLS]"}
RELATIVE = {"entropy": "from all tokens", "relative": "from all tokens, share of the largest"}


def clark2019_fig4(entropy: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw both panels with the line of uniform attention.

    For a decoder, whose first token has no choice, the second panel shows shares of the largest
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
            for query, title in ENTROPY_PANELS.items()
        ]
    with figures.style():
        figure, panels = figures.new(figures.TWO_COLUMNS, 2.4, columns=2)
        for panel, (title, values, null) in zip(panels, shown, strict=True):
            figures.per_layer(panel, frame.loc[values.index, "layer"], values, HEADS)
            panel.axhline(null, color=colours.BLACK, linestyle=":", label="uniform attention")
            figures.layer_axis(panel, frame["layer"].max() + 1)
            label = "Average entropy (nats)" if null == uniform else "Average share"
            panel.set(ylim=(0, 1.08 * null), ylabel=label, title=title)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2)
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


POSITION_TARGETS = ("previous", "next", "self")


def clark2019_position(position: Path, svg: Out, pdf: Out, png: Out, threshold: float) -> None:
    """Draw a point per head; heads above `threshold` carry their names.

    For a decoder, without the next token, and with what uniform attention gives to the others.
    """
    frame = tables.read(position, ("layer", "head", "target", "attention"))
    with figures.style():
        figure, (axes,) = figures.new(figures.ONE_COLUMN, 2.8)
        for number, target in enumerate(POSITION_TARGETS):
            rows = frame[frame["target"] == target]
            if rows.empty:
                continue
            look, shift = colours.TOKENS[target], figures.shift_of(number, len(POSITION_TARGETS))
            figures.per_layer(axes, rows["layer"], rows["attention"], look, shift)
            for row in rows[rows["attention"] > threshold].itertuples():
                x = row.layer + 1 + shift
                axes.annotate(
                    head_label(row.layer, row.head), (x, row.attention), (4, 0),
                    textcoords="offset points", va="center", size=7,
                )  # fmt: skip
        if "uniform" in frame:
            uniform = frame["uniform"].mean()  # 1/i, whichever of the tokens it is for
            style = {"color": colours.BLACK, "linestyle": "--", "linewidth": 0.8}
            axes.axhline(uniform, label=f"if uniform: {uniform:.1%}", **style)
        line = {"color": colours.BLACK, "linestyle": ":", "linewidth": 0.8}
        axes.axhline(threshold, label=f"threshold, {threshold:g}", **line)
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set(ylim=(-0.02, 1.02), ylabel="Average attention")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, columnspacing=0.8)
        over = figures.sample(frame, "segments", "articles")
        figure.supxlabel(over, fontsize=7)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run_figure(globals())
