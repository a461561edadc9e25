"""How every figure looks and is saved: legible in print, in grey and for the colour-blind."""

import inspect
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style as styles
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox

from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.plots import colours
from workflow_scripts.core.run import job

ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0  # inches, as in a two-column paper; no figure is wider
SMALL = 6  # points, of the smallest text
LABEL, LETTERS = 7, 15  # points, of the model's label, and its letters in an inch
DPI = 200  # of figures saved as PNG
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "attention-atlas",
    "font.family": "DejaVu Sans",
    "text.parse_math": False,  # a dollar sign in a name or a token starts no formula
}
# Characters that an SVG file may not hold, or that change the order of those around them.
UNSEEN = {"Cc", "Cn", "Cs", "Zl", "Zp"}
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}

# Places to try for a point's name: distances, in points of print, and directions, in degrees.
DISTANCES, DIRECTIONS = (7, 13, 19, 26, 34, 42), (0, 180, 45, 135, 315, 225, 90, 270)
# What an effect shows, drawn in this order.
SHOWN = {kind: colours.EFFECTS[kind] for kind in ("cannot tell", "gain", "loss")}
NAMED = 4  # heads of a panel that are named at most
LINE = 0.1  # of a panel's height that a name needs
LEADER = 10  # a name that is farther from its point is joined to it by a line
MARGIN = 0.1  # inches beside the widest text of a narrow figure
HALF_MARKER = 3.5  # half the width of a point's marker, in points


def style() -> AbstractContextManager[None]:
    """Figures made and saved within share one look, whatever a matplotlibrc of the user states."""
    return styles.context(["default", STYLE])


def drawn(draw: Callable[..., Figure]) -> Callable[..., None]:
    """The step of a function that draws a figure: in the common style, saved as svg, pdf and png.

    The function's other outputs are its own.
    """

    @wraps(draw)
    def step(*inputs: Any, svg: Path, pdf: Path, png: Path, **values: Any) -> None:
        with style():
            save(draw(*inputs, **values), svg, pdf, png)

    hints = dict.fromkeys(("svg", "pdf", "png"), job.Out)
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in hints]
    parameters = [*inspect.signature(draw).parameters.values(), *added]
    step.__signature__ = inspect.Signature(parameters)  # read by the job, as the hints are
    step.__annotations__ = draw.__annotations__ | hints | {"return": None}
    return step


def printable(text: str) -> str:
    """A text as figures show it: control characters and those that turn the order as escapes."""
    return "".join(
        letter.encode("unicode_escape").decode("ascii")
        if letter != "\n"
        and (unicodedata.category(letter) in UNSEEN or unicodedata.bidirectional(letter) in TURNING)
        else letter
        for letter in text
    )


def new(width: float, height: float, columns: int = 1, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of `rows` x `columns` panels, size in inches, and its axes row by row."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.ravel())


def panels(
    titles: Sequence[str], width: float, height: float, columns: int = 4
) -> tuple[Figure, list[Axes]]:
    """A figure with one titled panel of `width` x `height` inches for each of `titles`.

    At most `columns` stand side by side, and no more than there is room for on a page.
    """
    columns = min(columns, len(titles), int(TWO_COLUMNS / width + 1e-6))
    rows = -(-len(titles) // columns)
    figure, axes = new(columns * width, rows * height, columns, rows)
    for spare in axes[len(titles) :]:
        spare.remove()
    for panel, title in zip(axes, titles, strict=False):
        panel.set_title(title)
    return figure, axes[: len(titles)]


def counted(n: int, what: str) -> str:
    """A number of things, such as "2 seeds"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def sample(rows: pd.DataFrame, units: str, wholes: str = "") -> str:
    """What means are over, such as "300 segments of 47 articles, 2 seeds".

    The columns are n, of `units`, n_documents, of `wholes`, and seed, where there are several.
    """
    words = f"{_span(rows['n'])} {units}"
    if wholes:
        words += f" of {_span(rows['n_documents'])} {wholes}"
    if "seed" in rows:
        words += f", {counted(rows['seed'].nunique(), 'seed')}"
    return words


def _span(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def layer_axis(axes: Axes, n_layers: int) -> None:
    """Let the x axis count layers, from 1."""
    axes.set_xlabel("Layer")
    axes.set_xlim(0.4, n_layers + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=min(n_layers, 6)))


def per_layer(
    axes: Axes, layers: Sequence[int], values: Sequence[float], look: colours.Look, shift: float = 0
) -> None:
    """One point per head, over its layer (0-based `layers`), and a line through the layers' means.

    The points are moved by `shift` layers, see `shift_of`.
    """
    layers, values = np.asarray(layers), np.asarray(values, dtype=float)
    style = {"color": look.colour, "marker": look.marker}
    axes.plot(layers + 1 + shift, values, alpha=0.55, markeredgewidth=0, zorder=2, ls="", **style)
    present = np.unique(layers)
    means = [np.nanmean(values[layers == layer]) for layer in present]
    axes.plot(present + 1 + shift, means, label=look.name, ls=look.dash, zorder=3, **style)


def layers(
    axes: Axes,
    frame: pd.DataFrame,
    values: str,
    targets: dict[str, colours.Look],
    named_above: float = np.inf,
) -> None:
    """`per_layer` of each target that a table has, side by side; large values name their heads."""
    for number, (target, look) in enumerate(targets.items()):
        rows, shift = frame[frame["target"] == target], shift_of(number, len(targets))
        if rows.empty:
            continue
        per_layer(axes, rows["layer"], rows[values], look, shift)
        for row in rows[rows[values] > named_above].to_dict("records"):
            place = (row["layer"] + 1 + shift, row[values]), (4, 0)
            style = {"textcoords": "offset points", "va": "center", "size": 7}
            axes.annotate(head_label(row["layer"], row["head"]), *place, **style)
    layer_axis(axes, frame["layer"].max() + 1)


def line(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    look: colours.Look,
    label: str,
    ends: tuple[Sequence[float], Sequence[float]] | None,
) -> None:
    """Points joined by a line; `ends` are the lower and upper ends of a band around it, or None."""
    axes.plot(x, y, color=look.colour, marker=look.marker, ls=look.dash, markersize=3, label=label)
    if ends is not None:
        axes.fill_between(x, *ends, color=look.colour, alpha=0.15, lw=0)


def intervals(
    axes: Axes,
    along: str,
    values: pd.Series,
    ends: tuple[pd.Series, pd.Series],
    at: Any,
    look: colours.Look,
    **style: Any,
) -> None:
    """Values `along` "x" or "y" with their intervals' `ends`; `at` are places on the other axis."""
    widths = np.array([values - ends[0], ends[1] - values])
    # Rounding is no width; matplotlib refuses a value that lies outside its interval.
    bars = {f"{along}err": np.where(np.abs(widths) < 1e-9, 0, widths)}
    x, y = (values, at) if along == "x" else (at, values)
    bars |= {"fmt": look.marker, "color": look.colour, "label": look.name}
    axes.errorbar(x, y, **bars, **style)


def ranked(
    figure: Figure,
    panels: Sequence[tuple[Axes, pd.DataFrame]],
    value: str,
    level: float,
    by: str = "shown",
    looks: dict[str, colours.Look] = SHOWN,
) -> None:
    """A panel of dots for each table of heads, the lowest `value` first; effects have intervals.

    Columns are layer, head, effect, ci_low, ci_high and p_corrected, which is significant below
    `level`. The looks are of column `by`, or of what an effect shows. The largest significant
    effects are named.
    """
    for axes, heads in panels:
        heads = heads.sort_values(value, kind="stable").assign(rank=range(1, len(heads) + 1))
        significant = heads["p_corrected"] < level
        signs = np.where(heads["effect"] < 0, "loss", "gain")
        heads["shown"] = np.where(significant, signs, "cannot tell")
        for name, look in looks.items():
            rows = heads[heads[by] == name]
            ends = [rows[end if value == "effect" else value] for end in ("ci_low", "ci_high")]
            style = {"markersize": 3, "elinewidth": 0.6 if value == "effect" else 0}
            intervals(axes, "y", rows[value], ends, rows["rank"], look, **style)
        axes.margins(y=1.5 * LINE)
        axes.set_xlabel(f"{len(heads)} heads by rank")
        _name_ends(axes, heads[significant], value)
    title = f"Loss and gain: p < {level}, corrected for {len(heads)} heads" if by == "shown" else ""
    keys, names = panels[0][0].get_legend_handles_labels()
    style = {"ncols": len(names), "title_fontsize": LABEL, "columnspacing": 1.2}
    style["loc"] = "outside lower center"
    figure.legend(keys, names, title=title or None, **style)


def _name_ends(axes: Axes, heads: pd.DataFrame, value: str) -> None:
    """Name heads where a rising row of dots leaves room: losses below them, gains above.

    Heads of nearly the same value have one label.
    """
    apart = LINE * np.ptp(axes.get_ylim())
    labels: dict[float, Text] = {}
    for row in heads.loc[heads["effect"].abs().nlargest(NAMED).index].to_dict("records"):
        name = head_label(row["layer"], row["head"])
        near = [label for at, label in labels.items() if abs(row[value] - at) < apart]
        if near:
            near[0].set_text(f"{near[0].get_text()}, {name}")
            continue
        side = 1 if row["effect"] < 0 else -1
        style = {"ha": "left", "va": "top"} if side > 0 else {"ha": "right", "va": "bottom"}
        style |= {"textcoords": "offset points", "size": SMALL}
        place = row["rank"], row[value]
        labels[row[value]] = axes.annotate(name, place, (3 * side, -side), **style)


def same_scale(axes: Axes, values: np.ndarray, least: float) -> None:
    """A square panel for points of two effects: one scale, guides at 0 and where both are equal.

    `values` are those of both axes, and `least` their smallest range.
    """
    ends = np.array([values.min(), values.max()])
    ends = ends + np.array([-0.08, 0.08]) * max(np.ptp(ends), least)
    for guide in (axes.axhline, axes.axvline):
        guide(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
    axes.plot(ends, ends, color=colours.GUIDE, linewidth=0.6, linestyle="--", zorder=1)
    axes.set(xlim=ends, ylim=ends, aspect="equal")


def shift_of(number: int, of: int) -> float:
    """Offset, in layers, from its layer's position of series `number` (from 0) `of` several."""
    return 0.14 * (number - (of - 1) / 2)


def save(figure: Figure, svg: Path, pdf: Path, png: Path) -> None:
    """Save in three formats, without dates, so that the same figure is the same file.

    The job's label of its model stands above, where there is one. A figure that is narrower than
    its legend, a title or a label becomes as wide.
    """
    wide = [*figure.legends, *figure.texts]
    wide += [text for axes in figure.axes for text in (axes.title, axes.xaxis.label)]
    needed = max(each.get_window_extent().width for each in wide) / figure.dpi
    if figure.get_figwidth() < min(needed, TWO_COLUMNS):
        figure.set_figwidth(min(needed + MARGIN, TWO_COLUMNS))
    box = _labelled(figure, job.label)
    save_png(figure, png, dpi=DPI, box=box)
    figure.set_layout_engine("none")  # arranged once; each arrangement costs as much as a drawing
    figure.savefig(svg, format="svg", metadata={"Date": None}, bbox_inches=box)
    figure.savefig(pdf, format="pdf", metadata={"CreationDate": None}, bbox_inches=box)


def _labelled(figure: Figure, label: str) -> Bbox | None:
    """Write a label above a figure, and give the box in inches that has both; None without one."""
    if not label:
        return None
    width, height = figure.get_size_inches()
    figure.set_dpi(DPI)  # arranged as it is saved
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for legend in figure.legends:  # they would move to the edge of the box
        legend.set_bbox_to_anchor((0, 0, 1, 1), figure.transFigure)
    lines = wrap(label, int(LETTERS * width))
    figure.text(0.99, 1, "\n".join(lines), ha="right", va="bottom", fontsize=LABEL)
    return Bbox.from_extents(0, 0, width, height + 1.2 * (len(lines) + 0.7) * LABEL / 72)


def save_png(figure: Figure, png: Path, dpi: int, box: Bbox | None = None) -> None:
    """Save a figure, or a `box` of it in inches, as PNG, after all texts were made `printable`."""
    for axis in figure.findobj(Axis):
        for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
            if isinstance(formatter, FuncFormatter):  # writes names at ticks in each drawing
                formatter.func = lambda *tick, write=formatter.func: printable(str(write(*tick)))
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
    figure.savefig(png, format="png", dpi=dpi, metadata={"Software": None}, bbox_inches=box)


def epoch_name(epoch: int, agreement: pd.Series, after: str = "") -> str:
    """An epoch, and Spearman's correlation of its importance with the last one's, over heads.

    `agreement` has the correlation of each epoch; `after` stands between the two.
    """
    if epoch == agreement.index.max():
        return f"epoch {epoch}{after} (last)"
    return f"epoch {epoch}{after}, ρ = {agreement[epoch]:.2f}"


def epoch_legend(
    axes: Axes, heads: int, top: float, columns: int = 2, epochs: Sequence[int] = ()
) -> None:
    """The epochs below a panel, from its share `top` on, and what ρ is.

    Of `epochs` that skip some it states which are drawn.
    """
    words = (
        f"ρ: Spearman's correlation, over {heads} heads,\nwith the importance after the last epoch"
    )
    if epochs and len(epochs) < max(epochs):
        words += "\n(lines: epochs 1, 2, 4 and so on, and the last)"
    shape = {"loc": "upper center", "bbox_to_anchor": (0.5, top), "ncols": columns}
    axes.legend(title=words, title_fontsize=SMALL, columnspacing=1.0, **shape)


def write_names(
    axes: Axes, points: Sequence[tuple[float, float]], names: Sequence[str], obstacles: np.ndarray
) -> None:
    """Write each name at the nearest place where it covers nothing and is closest to its own point.

    `points` and `obstacles` [point, 2] are in data coordinates. The figure is arranged first, so
    that everything else must be in it already. A name without a free place stands where it covers
    the least.
    """
    axes.figure.draw_without_rendering()
    scale = axes.figure.dpi / 72
    pixels = axes.transData.transform(np.asarray(obstacles, dtype=float))
    taken = [
        Bbox.from_extents(*(xy - HALF_MARKER * scale), *(xy + HALF_MARKER * scale)) for xy in pixels
    ]
    centres = axes.transData.transform(np.reshape(points, (-1, 2)).astype(float))
    for name, point, centre in zip(names, points, centres, strict=True):
        text = axes.annotate(name, point, (0, 0), textcoords="offset points", size=SMALL, zorder=4)
        size = text.get_window_extent().size
        others = [other for other in centres if (other != centre).any()]
        places = []
        for distance in DISTANCES:
            for direction in DIRECTIONS:
                box, offset = _place(centre, size, distance, direction, scale)
                inside = axes.figure.bbox.contains(*box.min) and axes.bbox.contains(*box.min)
                inside = inside and axes.figure.bbox.contains(*box.max)
                covered = sum(box.overlaps(other) for other in taken) + 100 * (not inside)
                # A name that could be another point's is worse than one over an unnamed point.
                covered += 3 * sum(
                    _apart(box, other) < 1.5 * _apart(box, centre) for other in others
                )
                places.append((covered, distance, box, offset))
        _, distance, box, offset = min(places, key=lambda place: place[:2])
        text.set_position(offset)
        taken.append(box)
        if distance > LEADER:
            end = np.clip(centre, box.min, box.max)
            x, y = axes.transData.inverted().transform([centre, end]).T
            axes.plot(x, y, color=colours.GREY, linewidth=0.5, zorder=1.5, label="_leader")


def _place(
    centre: np.ndarray, size: np.ndarray, distance: float, direction: float, scale: float
) -> tuple[Bbox, tuple[float, float]]:
    """A name's box in pixels, and the offset in points of its lower left corner."""
    angle = np.deg2rad(direction)
    step = np.round([np.cos(angle), np.sin(angle)], 9)
    # The nearest point of the box to the marker, not its middle, has this distance.
    corner = step * distance * scale + (np.sign(step) - 1) / 2 * size
    return Bbox.from_bounds(*(centre + corner), *size), tuple(corner / scale)


def _apart(box: Bbox, xy: np.ndarray) -> float:
    return float(np.linalg.norm(np.clip(xy, box.min, box.max) - xy))
