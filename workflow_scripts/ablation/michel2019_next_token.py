"""Which heads of a decoder matter on running text: a map, and a table for people."""

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import label
from workflow_scripts.core.plots import figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.randomisation import LEVEL

MAPS = {"head": "one head", "all-but-one": "one head left", "key-value group": "one group"}
NUMBERS = ["nats", "baseline", "effect", "ci_low", "ci_high", "p", "p_corrected"]


def printed(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per variant, by unit and mode, the largest loss first; layers and heads from 1."""
    rows = scores.sort_values("effect", ascending=False, kind="stable")
    rows = rows.sort_values(["unit", "mode"], kind="stable")
    names = [
        f"layer {layer + 1}" if head < 0 else label(layer, head)
        for layer, head in zip(rows["layer"], rows["head"], strict=True)
    ]
    columns = ["unit", "mode", "name", *NUMBERS, "n", "n_documents", "n_tokens"]
    return rows.assign(name=names)[columns]


def draw(scores: pd.DataFrame, mode: str) -> Figure:
    """A map for each unit of heads, on scales of their own that are symmetric around 0."""
    rows = scores[scores["mode"] == mode]
    units = [unit for unit in MAPS if (rows["unit"] == unit).any()]
    of = figures.sample(rows, "segments", "documents")
    loss = rows["baseline"].iloc[0]
    height = 1.2 + 0.09 * rows["layer"].max()
    titles = [f"{MAPS[unit]} disabled" for unit in units]
    titles = [title.replace("left disabled", "left in its layer") for title in titles]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, height, columns=3)
    figure.set_figheight(figure.get_figheight() + 0.5)
    for axes, unit in zip(panels, units, strict=True):
        chosen = rows[rows["unit"] == unit]
        image = heatmaps.around_zero(axes, heatmaps.grid_of(chosen, "effect"))
        heatmaps.mute(axes, image, ~(heatmaps.grid_of(chosen, "p_corrected") < LEVEL))
        heatmaps.bar(image, [axes], "Change, nats per token")
        axes.set(xlabel="Key-value head" if unit == "key-value group" else "Head", ylabel="Layer")
    figure.suptitle(f"Intact: {loss:.2f} nats per token; {of}", fontsize=7)
    words = f"not significant: p ≥ {LEVEL}, corrected for all of a map"
    figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
    return figure


def main(scores: Path, mode: str, table: Out, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the maps of `mode`, and write all variants."""
    frame = tables.read(scores, ("unit", "mode", "layer", "head", *NUMBERS, "n"))
    tables.write_csv(printed(frame), table)
    with figures.style():
        figures.save(draw(frame, mode), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
