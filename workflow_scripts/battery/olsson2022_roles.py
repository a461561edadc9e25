"""Heads by role: previous token, duplicate token, induction; as a table and as maps."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.battery.measures import ROLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.head_labels import label, labels
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TITLE = 1.05  # inches of the longest title
COLUMNS = ["role", "head", "key_value_head", "score", "ci_low", "ci_high", "n"]
COLUMNS += ["others", "best_other", "best_offset", "uniform", "p", "p_corrected", "has_role"]
COLUMNS += ["natural", "natural_low", "natural_high", "natural_others", "natural_best_other"]
COLUMNS += ["natural_uniform", "natural_p", "natural_p_corrected", "confirmed"]
COLUMNS += ["n_segments", "n_documents", "n_queries", "n_repeats", "n_read"]


def above(roles: pd.DataFrame, threshold: float, card: dict[str, Any]) -> pd.DataFrame:
    """The heads with a score above `threshold`, highest first within each role.

    `key_value_head` is the one that the head reads, <layer>-<key-value head> from 1.
    """
    rows = roles[roles["score"] > threshold].copy()
    shared = card["n_heads"] // card.get("n_kv_heads", card["n_heads"])
    pairs = zip(rows["layer"], rows["head"], strict=True)
    rows["key_value_head"] = [label(layer, head // shared) for layer, head in pairs]
    rows["head"] = labels(rows)
    order = rows["role"].map({role: number for number, role in enumerate(ROLES)})
    rows = rows.assign(order=order).sort_values(["order", "score"], ascending=[True, False])
    return rows[COLUMNS]


def draw(roles: pd.DataFrame) -> Figure:
    """A map of all heads' scores for each role, with dots on the heads that are confirmed."""
    by_role = {role: roles[roles["role"] == role] for role in ROLES}
    titles = [title for _, title, _ in ROLES.values()]
    grids = [heatmaps.grid_of(rows, "score") for rows in by_role.values()]
    shape = grids[0].shape
    between = max(heatmaps.BETWEEN, TITLE - heatmaps.CELL * shape[1])
    figure, panels = heatmaps.sheet([""], titles, shape, between)
    for axes, grid, rows in zip(panels[0], grids, by_role.values(), strict=True):
        image = heatmaps.draw(axes, grid, 0, 1)
        heatmaps.dots(axes, rows[rows["confirmed"]])
    heatmaps.bar(image, list(panels[0]), "Mean attention")
    counts = roles.iloc[0]
    dots = f"dots: confirmed on {counts['n_segments']} segments of {counts['n_documents']} articles"
    figure.supxlabel(f"{counts['n']} random sequences;\n{dots}", fontsize=7)
    return figure


def main(
    roles: Path, model: Path, table: Out, svg: Out, pdf: Out, png: Out, threshold: float
) -> None:
    """Write the heads above the threshold, and draw all heads."""
    frame = tables.read(roles, ("layer", "head", *COLUMNS[:1], *COLUMNS[3:]))
    tables.write_csv(above(frame, threshold, read_card(model)), table)
    with figures.style():
        figures.save(draw(frame), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
