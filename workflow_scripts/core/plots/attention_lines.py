"""Attention of one head drawn as lines between two columns of words."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba_array
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.plots import colours, figures

# Of an accuracy in a title, what is no candidate, for a decoder (True) or an encoder.
LEFT_OUT = {True: "without the first word", False: "without [CLS], [SEP]"}
LEFT, RIGHT = 0.0, 1.0
FAINTEST = 0.02  # smaller weights are not drawn
MAX_LETTERS = 14  # of a word that are written; a panel has no room for more on both sides
WIDTH = 1.75  # inches of a panel: four fill a page's width
PAD = 0.15  # inches of it that stay free
WIDEST = 0.43  # share of a panel that words may take on each side
GAP = 0.06  # between a word and its lines
FADED = 0.4  # of its opacity that a line keeps next to emphasised ones
WIDENED = 3.0  # points by which an emphasised line of weight 1 is wider
MANY = 20  # tokens, from which lines are thinner


def draw_panel(
    axes: Axes,
    rows: pd.DataFrame,
    faintest: float | pd.Series = FAINTEST,
    power: float = 1,
    emphasise: bool = False,
) -> None:
    """One head: queries on the left, keys on the right, darker lines for larger weights.

    `rows` has a row per query and key: layer, head, title, query, key, query_token, key_token,
    weight. Where a column `highlighted` is true, the query and this line are drawn in a second
    colour. A line's opacity is its weight to the `power`; weights up to `faintest`, or that of the
    row, are not drawn. With `emphasise`, highlighted lines lie on top, darker and wider for
    larger weights, and the others are faded. Where a column `gold` is true, the key is what the
    query should attend to, and coloured; without the column, keys of highlighted lines are.
    """
    marked = rows.assign(highlighted=rows.get("highlighted", False))
    diagonal = marked[marked["query"] == marked["key"]]
    drawn = marked[marked["weight"] > faintest]
    if emphasise:
        drawn = drawn.sort_values("highlighted", kind="stable")
    lines = [
        [(LEFT, -query), (RIGHT, -key)]
        for query, key in zip(drawn["query"], drawn["key"], strict=True)
    ]
    on = drawn["highlighted"].to_numpy(bool)
    weights = drawn["weight"].clip(0, 1).to_numpy(float)
    opacity, widths = weights**power, np.full(len(drawn), 0.5 if len(diagonal) > MANY else 0.9)
    if emphasise:
        opacity = np.where(on, np.minimum(2 * weights**0.5, 1), FADED * opacity)
        widths = widths + on * WIDENED * weights
    shades = to_rgba_array(np.where(on, colours.HIGHLIGHT, colours.BLUE).tolist(), opacity)
    axes.add_collection(LineCollection(lines, colors=shades, linewidths=widths))
    marks = marked[marked["highlighted"]]
    named = marked[marked["gold"]] if "gold" in marked else marks
    queries, keys = set(marks["query"]), set(named["key"])
    for row in diagonal.itertuples():
        left, right = (
            colours.HIGHLIGHT if row.query in words else colours.BLACK for words in (queries, keys)
        )
        _write(axes, LEFT - GAP, -row.query, row.query_token, "right", left)
        _write(axes, RIGHT + GAP, -row.key, row.key_token, "left", right)
    first = rows.iloc[0]
    title = f"Head {head_label(first['layer'], first['head'])}"
    axes.set_title(f"{title}\n{first['title']}" if first["title"] else title)
    words = {*diagonal["query_token"], *diagonal["key_token"]}
    font = FontProperties(size=figures.SMALL)
    ends = [TextPath((0, 0), _shortened(word), prop=font).get_extents().x1 for word in words]
    share = min(max(ends) / 72 / (WIDTH - PAD), WIDEST)
    # Words on each side take this share of the panel, the lines the rest.
    margin = max(1.2, (share + GAP) / (1 - 2 * share))
    axes.set_xlim(LEFT - margin, RIGHT + margin)
    axes.set_ylim(-len(diagonal) + 0.4, 0.6)
    axes.axis("off")


def _write(axes: Axes, x: float, y: float, token: str, side: str, colour: str) -> None:
    style = {"ha": side, "va": "center", "fontsize": figures.SMALL, "color": colour}
    text = axes.text(x, y, _shortened(token), **style)
    text.set_in_layout(False)  # so that the panels' width does not depend on the words


def _shortened(token: str) -> str:
    token = figures.printable(token)
    return token if len(token) <= MAX_LETTERS else token[: MAX_LETTERS - 1] + "…"
