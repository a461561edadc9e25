"""Attention of one head drawn as lines between two columns of words."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba_array

from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import figures

COLUMNS = (
    "drawing",
    "layer",
    "head",
    "title",
    "query",
    "key",
    "query_token",
    "key_token",
    "weight",
)
LEFT, RIGHT = 0.0, 1.0
FAINTEST = 0.02  # smaller weights are not drawn
MAX_LETTERS = 14  # of a word that are written; a panel has no room for more on both sides
LETTER = 0.029  # width of a letter, as a share of a panel
GAP = 0.06  # between a word and its lines


def draw_panel(
    axes: Axes, rows: pd.DataFrame, faintest: float = FAINTEST, power: float = 1
) -> None:
    """One head: queries on the left, keys on the right, darker lines for larger weights.

    `rows` has a row per query and key (COLUMNS). Where a column `highlighted` is true, the query
    and this line are drawn in a second colour. A line's opacity is its weight to the `power`;
    weights up to `faintest` are not drawn.
    """
    marked = rows.assign(highlighted=rows.get("highlighted", False))
    drawn = marked[marked["weight"] > faintest]
    lines = [
        [(LEFT, -query), (RIGHT, -key)]
        for query, key in zip(drawn["query"], drawn["key"], strict=True)
    ]
    colours = [figures.COLOURS[int(highlighted)] for highlighted in drawn["highlighted"]]
    opacity = drawn["weight"].clip(0, 1).to_numpy(float) ** power
    axes.add_collection(
        LineCollection(lines, colors=to_rgba_array(colours, opacity), linewidths=0.9)
    )
    diagonal = marked[marked["query"] == marked["key"]]
    highlighted = set(marked[marked["highlighted"]]["query"])
    for row in diagonal.itertuples():
        colour = figures.COLOURS[1] if row.query in highlighted else "black"
        _write(axes, LEFT - GAP, -row.query, row.query_token, "right", colour)
        _write(axes, RIGHT + GAP, -row.key, row.key_token, "left", "black")
    first = rows.iloc[0]
    title = f"Head {label(first['layer'], first['head'])}"
    axes.set_title(f"{title}\n{first['title']}" if first["title"] else title)
    longest = max(rows["query_token"].str.len().max(), rows["key_token"].str.len().max())
    share = LETTER * min(longest, MAX_LETTERS)
    # Words on each side take this share of the panel, the lines the rest.
    margin = max(1.35, (share + GAP) / (1 - 2 * share))
    axes.set_xlim(LEFT - margin, RIGHT + margin)
    axes.set_ylim(-len(diagonal) + 0.4, 0.6)
    axes.axis("off")


def _write(axes: Axes, x: float, y: float, token: str, side: str, colour: str) -> None:
    token = token if len(token) <= MAX_LETTERS else token[: MAX_LETTERS - 1] + "…"
    token = token.replace("$", r"\$")  # a dollar sign would start a formula
    text = axes.text(x, y, token, ha=side, va="center", fontsize=7, color=colour)
    text.set_in_layout(False)  # so that the panels' width does not depend on the words
