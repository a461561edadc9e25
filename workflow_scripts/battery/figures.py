"""The figures of the roles of a decoder's heads, and of their tests."""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from workflow_scripts.battery.measures import ROLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_label, head_labels
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.plots.colours import Look
from workflow_scripts.core.run import job

LINE = {"color": colours.BLACK, "linewidth": 0.8}
LONGEST_TITLE = 1.05  # inches of the longest title
ROLE_COLUMNS = ["role", "head", "key_value_head", "score", "ci_low", "ci_high", "n"]
ROLE_COLUMNS += ["others", "best_other", "best_offset", "uniform", "p", "p_corrected", "has_role"]
ROLE_COLUMNS += ["natural", "natural_low", "natural_high", "natural_swapped", "natural_best_other"]
ROLE_COLUMNS += ["natural_gain", "natural_gain_low", "natural_gain_high"]
ROLE_COLUMNS += ["natural_p", "natural_p_corrected", "confirmed"]
ROLE_COLUMNS += ["n_segments", "n_documents", "n_queries", "n_repeats", "n_read"]


def above(roles: pd.DataFrame, threshold: float, card: dict[str, Any]) -> pd.DataFrame:
    """The heads with a score above `threshold`, highest first within each role.

    `key_value_head` is the one that the head reads, <layer>-<key-value head> from 1.
    """
    rows = roles[roles["score"] > threshold].copy()
    shared = card["n_heads"] // card.get("n_kv_heads", card["n_heads"])
    pairs = zip(rows["layer"], rows["head"], strict=True)
    rows["key_value_head"] = [head_label(layer, head // shared) for layer, head in pairs]
    rows["head"] = head_labels(rows)
    order = rows["role"].map({role: number for number, role in enumerate(ROLES)})
    rows = rows.assign(order=order).sort_values(["order", "score"], ascending=[True, False])
    return rows[ROLE_COLUMNS]


@figures.drawn
def olsson2022_roles(roles: Path, model: Path, table: job.Out, threshold: float) -> Figure:
    """A map of all heads' scores for each role, with dots on the heads that are confirmed.

    The table has the heads above the threshold.
    """
    frame = tables.read(roles)
    tables.write_csv(above(frame, threshold, read_card(model)), table)
    titles = [title for title, _ in ROLES.values()]
    grids = heatmaps.grids(frame, "role", "score")
    shape = next(iter(grids.values())).shape
    between = max(heatmaps.BETWEEN, LONGEST_TITLE - heatmaps.CELL * shape[1])
    figure, panels = heatmaps.sheet([""], titles, shape, between)
    for axes, role in zip(panels[0], ROLES, strict=True):
        image = heatmaps.draw(axes, 100 * grids[role], 0, 100)
        heatmaps.dots(axes, frame[(frame["role"] == role) & frame["confirmed"]])
    heatmaps.bar(image, list(panels[0]), "Mean attention, %")
    counts = frame.iloc[0]
    dots = f"dots: confirmed on {counts['n_segments']} segments of {counts['n_documents']} articles"
    figure.supxlabel(f"{counts['n']} random sequences;\n{dots}", fontsize=7)
    return figure


FIRST_TOKENS = {
    "text": "First token of the text",
    "start": "Start token instead",
    "random": "Random token instead",
}
SINK_MEASURES = {
    "attention": Look("mean of a layer", colours.BLUE),
    "by_norm": Look("mean of a layer", colours.GREEN),
}


@figures.drawn
def battery_sinks(sinks: Path, threshold: float) -> Figure:
    """A column for each first token, a row for each measure, with a point for each head.

    `threshold` and uniform attention are of weights alone.
    """
    frame = tables.read(sinks)
    figure, panels = figures.new(figures.TWO_COLUMNS, 3.8, columns=3, rows=2)
    cells = product(SINK_MEASURES.items(), FIRST_TOKENS.items())
    for axes, ((measure, look), (first, title)) in zip(panels, cells, strict=True):
        rows = frame[frame["first"] == first]
        figures.per_layer(axes, rows["layer"], rows[measure], look)
        figures.layer_axis(axes, frame["layer"].max() + 1)
        axes.set_ylim(-0.03, 1.05)
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        if measure == "attention":
            above = f"{rows['has_role'].sum()} of {len(rows)} heads above {threshold:.0%}"
            axes.set_title(f"{title}\n{above}")
            axes.axhline(threshold, linestyle=":", label=f"threshold, {threshold:.0%}", **LINE)
            uniform = frame["uniform"].iloc[0]
            axes.axhline(uniform, linestyle="--", label=f"uniform, {uniform:.1%}", **LINE)
        axes.label_outer()
    panels[0].set_ylabel("Weight on the\nfirst token")
    panels[3].set_ylabel("First token's share\nof the norm")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.supxlabel(figures.sample(frame, "texts", "documents"), fontsize=7)
    return figure


COMPARED_SCORES = {"induction": "Induction score", "eigenvalue": "Eigenvalue score"}
INDUCTION_LOOKS = {
    False: Look("other heads", colours.SILVER),
    True: Look("heads with the role of induction", colours.VERMILLION, "D"),
}
NAMED = 5  # heads; the names of more would overlap


@figures.drawn
def battery_copying(copying: Path, roles: Path, correlations: Path, threshold: float) -> Figure:
    """A panel for each score that copying is compared with.

    Of the heads with the role of induction those that copy the most carry their names.
    """
    found = tables.read(roles)
    found = found[found["role"] == "induction"][["layer", "head", "score", "has_role"]]
    found = found.rename(columns={"score": "induction", "has_role": "inducts"})
    frame = tables.read(copying).merge(found, on=["layer", "head"])
    rho = tables.read_csv(correlations)
    rho = rho[rho["with"] == "copying"].drop_duplicates("of").set_index("of")
    titles = [
        f"rank correlation {row['rho']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
        for _, row in rho.loc[list(COMPARED_SCORES)].iterrows()
    ]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 3)
    for axes, measure in zip(panels, COMPARED_SCORES, strict=True):
        for inducts, look in INDUCTION_LOOKS.items():
            rows = frame[frame["inducts"] == inducts]
            style = {"elinewidth": 0.5, "markeredgewidth": 0, "zorder": 2 + inducts}
            style["ecolor"] = look.colour if inducts else colours.PALE
            ends = rows["top_low"], rows["top_high"]
            figures.intervals(axes, "y", rows["top"], ends, rows[measure], look, **style)
        axes.axhline(threshold, linestyle=":", label=f"threshold, {threshold:.0%}", **LINE)
        chance = frame["chance"].iloc[0]
        axes.axhline(chance, linestyle="--", label=f"chance, {chance:.1%}", **LINE)
        axes.set_xlabel(COMPARED_SCORES[measure])
        axes.margins(x=0.07)
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        axes.set_ylim(-0.02, max(threshold, frame["top_high"].max()) * 1.1)
    panels[0].xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panels[0].set_ylabel("Attended token has the largest logit")
    keys = panels[0].get_legend_handles_labels()
    figure.legend(*keys, loc="outside upper center", ncols=4)
    figure.supxlabel(f"{len(frame)} heads, {figures.sample(frame, 'sequences')}", fontsize=7)
    named = frame[frame["inducts"]].nlargest(NAMED, "top")
    for axes, measure in zip(panels, COMPARED_SCORES, strict=True):
        points = list(named[[measure, "top"]].itertuples(index=False))
        figures.write_names(axes, points, head_labels(named), frame[[measure, "top"]].to_numpy())
    return figure


BARS = {"capsize": 2, "lw": 0.8}
STRONGEST = 20  # heads
RETRIEVAL_LOOKS = {
    True: Look("retrieval head", colours.VERMILLION, "D"),
    False: Look("other head", colours.NEUTRAL),
}


def draw_strongest(axes: Axes, frame: pd.DataFrame, threshold: float) -> None:
    """The heads with the highest scores, the highest at the top, with intervals and their null."""
    rows = frame.nlargest(STRONGEST, "score").reset_index(drop=True)
    for retrieves, look in RETRIEVAL_LOOKS.items():
        some = rows[rows["has_role"] == retrieves]
        if len(some):
            ends = some["ci_low"], some["ci_high"]
            figures.intervals(axes, "x", some["score"], ends, some.index, look, **BARS)
    null = {"color": colours.GREY, "marker": "s", "markerfacecolor": colours.WHITE, "linestyle": ""}
    axes.plot(rows["others"], rows.index, label="null: the answer's other tokens", zorder=1, **null)
    axes.axvline(threshold, linestyle=":", label=f"threshold, {threshold:.0%}", **LINE)
    axes.set_yticks(rows.index, head_labels(rows))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("Share of the answers' tokens copied")
    axes.set_ylabel("Head")


def draw_needles(axes: Axes, needles: pd.DataFrame) -> None:
    """What the model produces of each needle's answer, over the needle's depth in the text."""
    produced = needles["produced"] / needles["answer_tokens"]
    axes.plot(needles["depth"], produced, "o", color=colours.BLUE, clip_on=False, zorder=3)
    axes.axhline(produced.mean(), color=colours.BLUE, linewidth=0.8, linestyle="--")
    whole = f"{needles['whole'].sum()} of {len(needles)} needles produced whole"
    axes.set_title(f"{whole};\nmean share {produced.mean():.2f} (dashed)")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.set_xlabel("Depth of the needle in the text")
    axes.set_ylabel("Share of the answer")


@figures.drawn
def battery_retrieval(retrieval: Path, needles: Path, threshold: float) -> Figure:
    """The heads on the left, the needles on the right."""
    frame = tables.read(retrieval)
    shown = min(STRONGEST, len(frame))
    figure, (left, right) = figures.new(figures.TWO_COLUMNS, 1.5 + 0.12 * max(shown, 10), columns=2)
    draw_strongest(left, frame, threshold)
    retrieve = f"{frame['has_role'].sum()} of {len(frame)} heads retrieve"
    left.set_title(f"{retrieve};\nthe {shown} strongest")
    draw_needles(right, tables.read_csv(needles))
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.supxlabel(figures.sample(frame, "needles"), fontsize=7)
    return figure


TEXTS = {"second copy": "Second copy of random tokens", "text": "Running text"}
SETS = Look("random sets of as many heads: mean, and range of sets", colours.GREY, "s")
OWN = Look("all heads of the role, 95% interval", colours.VERMILLION, "D")


def draw_doses(axes: Axes, rows: pd.DataFrame) -> None:
    """What sets of heads cost by how many of the role's heads they hold, the role's own last."""
    axes.axhline(0, color=colours.UNCHANGED, lw=1, label="intact", zorder=1)
    if not rows["n_sets"].any():
        heatmaps.note(axes, "no head has this role")
        axes.set(xticks=[], yticks=[])
        return
    sets, own = rows.iloc[:-1], rows.iloc[-1:]
    for some, ends, look in ((sets, ("min", "max"), SETS), (own, ("low", "high"), OWN)):
        if len(some):
            low, high = (some[f"cost_{end}"] for end in ends)
            figures.intervals(axes, "y", some["cost"], (low, high), some["dose"], look, **BARS)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    most = own["dose"].max()
    axes.set_xlim(-0.08 * most, 1.08 * most)


@figures.drawn
def battery_causal(doses: Path) -> Figure:
    """A row for each role, a column for each mode and text."""
    frame = tables.read_csv(doses)
    roles, columns = frame["role"].unique(), list(product(frame["mode"].unique(), TEXTS))
    height = 0.9 + 1.2 * len(roles)
    size = {"columns": len(columns), "rows": len(roles)}
    figure, panels = figures.new(figures.TWO_COLUMNS, height, **size)
    for axes, (role, (mode, text)) in zip(panels, product(roles, columns), strict=True):
        of = frame["role"].eq(role) & frame["mode"].eq(mode) & frame["text"].eq(text)
        draw_doses(axes, frame[of].sort_values("dose"))
        if role == roles[0]:
            axes.set_title(f"{TEXTS[text]} ({mode})")
        if (mode, text) == columns[0]:
            axes.set_ylabel(f"{role}\ncost, nats")
    figure.align_ylabels()
    keys = {}
    for axes in panels:
        keys |= dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(keys.values(), keys.keys(), loc="outside upper center", ncols=3)
    n = frame.groupby("text")["n"].first()
    counted = f"{n['second copy']} sequences, {n['text']} segments of text"
    figure.supxlabel(f"Heads of the role in the set; {counted}", fontsize=7)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
