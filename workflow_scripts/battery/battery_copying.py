"""Copying by behaviour against induction and the eigenvalue score: a point for each head."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.plots import colours, figures, point_labels
from workflow_scripts.core.plots.colours import Look
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

TITLES = {"induction": "Induction score", "eigenvalue": "Eigenvalue score"}
LOOKS = {
    False: Look("other heads", colours.SILVER),
    True: Look("heads with the role of induction", colours.VERMILLION, "D"),
}
LINE = {"color": colours.BLACK, "linewidth": 0.8}
NAMED = 12  # heads; the names of more would overlap


def joined(copying: pd.DataFrame, roles: pd.DataFrame) -> pd.DataFrame:
    """The table of copying with each head's score of induction, and whether it has that role."""
    found = roles[roles["role"] == "induction"][["layer", "head", "score", "has_role"]]
    found = found.rename(columns={"score": "induction", "has_role": "inducts"})
    return copying.drop(columns="score", errors="ignore").merge(found, on=["layer", "head"])


def draw(frame: pd.DataFrame, correlations: pd.DataFrame, threshold: float) -> Figure:
    """A panel for each score that copying is compared with; `frame` is that of `joined`.

    The heads that copy the most carry their names, where they copy or have the role of induction.
    """
    titles = [_rho(correlations, of) for of in TITLES]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 2, 3)
    for axes, measure in zip(panels, TITLES, strict=True):
        for inducts, look in LOOKS.items():
            rows = frame[frame["inducts"] == inducts]
            ends = [rows["top"] - rows["top_low"], rows["top_high"] - rows["top"]]
            bars = {"fmt": look.marker, "elinewidth": 0.5, "markeredgewidth": 0}
            bars |= {"color": look.colour, "ecolor": look.colour if inducts else colours.PALE}
            bars |= {"label": look.name, "zorder": 2 + inducts}
            axes.errorbar(rows[measure], rows["top"], np.abs(ends), **bars)
        axes.axhline(threshold, linestyle=":", label=f"threshold, {threshold:g}", **LINE)
        chance = frame["chance"].iloc[0]
        axes.axhline(chance, linestyle="--", label=f"chance, {chance:.2g}", **LINE)
        axes.set_xlabel(TITLES[measure])
        axes.margins(x=0.07)
        axes.set_ylim(-0.02, max(threshold, frame["top_high"].max()) * 1.1)
    panels[0].set_ylabel("Attended token has the largest logit")
    keys = panels[0].get_legend_handles_labels()
    figure.legend(*keys, loc="outside upper center", ncols=4)
    figure.supxlabel(f"{len(frame)} heads, {figures.sample(frame, 'sequences')}", fontsize=7)
    named = frame[frame["has_role"] | frame["inducts"]].nlargest(NAMED, "top")
    for axes, measure in zip(panels, TITLES, strict=True):
        _name(axes, named[[measure, "top"]], labels(named), frame[[measure, "top"]])
    return figure


def _name(axes: Axes, points: pd.DataFrame, names: list[str], obstacles: pd.DataFrame) -> None:
    point_labels.write(axes, list(points.itertuples(index=False)), names, obstacles.to_numpy())


def _rho(correlations: pd.DataFrame, of: str) -> str:
    """The rank correlation of a score with copying, and its interval."""
    row = correlations[(correlations["of"] == of) & (correlations["with"] == "copying")].iloc[0]
    return f"rank correlation {row['rho']:.2f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"


def main(
    copying: Path,
    roles: Path,
    correlations: Path,
    svg: Out,
    pdf: Out,
    png: Out,
    threshold: float,
) -> None:
    """Draw both panels."""
    columns = ("layer", "head", "top", "top_low", "top_high", "eigenvalue", "chance", "has_role")
    frame = joined(
        tables.read(copying, columns),
        tables.read(roles, ("layer", "head", "role", "score", "has_role")),
    )
    with figures.style():
        figures.save(draw(frame, tables.read_csv(correlations), threshold), svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
