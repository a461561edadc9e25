"""What the figures of a translator's pruning share: lines over the runs of a study."""

import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core.plots.colours import STRATEGIES, Look

METRICS = {"bleu": "BLEU", "loss": "Loss, nats per token"}
ORDERS = {
    "importance": STRATEGIES["importance"],
    "score": STRATEGIES["ablation"],
    "random": STRATEGIES["random"],
}
COLUMNS = (
    "run", "strategy", "scope", "draw", "pruned", "share", "metric", "score", "ci_low", "ci_high",
    "kept", "n",
)  # fmt: skip
MEANS = ["score", "ci_low", "ci_high", "kept"]


def sample(rows: pd.DataFrame) -> str:
    """What curves are over, such as "200 test sentences, 2 runs"."""
    n, runs = rows["n"].max(), rows["run"].nunique()
    return f"{n} test sentences, {runs} run{'s' * (runs > 1)}"


def over_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Per number of pruned heads: share and MEANS, means over runs and random orders."""
    return rows.groupby("pruned")[["share", *MEANS]].mean()


def line(axes: Axes, rows: pd.DataFrame, look: Look) -> None:
    """Scores over the share of pruned heads, with the mean interval over sentences as a band."""
    means = over_runs(rows)
    share = 100 * means["share"]
    axes.plot(
        share, means["score"], color=look.colour, marker=look.marker, ls=look.dash, markersize=3,
        label=look.name,
    )  # fmt: skip
    axes.fill_between(share, means["ci_low"], means["ci_high"], color=look.colour, alpha=0.15, lw=0)
