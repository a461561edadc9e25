"""What the figures of a translator's pruning share: lines over the runs of a study."""

import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core.plots import figures
from workflow_scripts.core.plots.colours import STRATEGIES, Look

METRICS = {"bleu": "BLEU", "loss": "Loss, nats per token"}
ORDERS = {
    "importance": STRATEGIES["importance"],
    "score": STRATEGIES["ablation"],
    "random": STRATEGIES["random"],
}
BY = {"importance": "by importance", "score": "by one-head score", "random": "at random"}
COLUMNS = (
    "run", "strategy", "scope", "draw", "pruned", "share", "metric", "score", "ci_low", "ci_high",
    "kept", "n",
)  # fmt: skip
MEANS = ["score", "ci_low", "ci_high", "kept"]


def sample(rows: pd.DataFrame) -> str:
    """What curves are over, such as "200 test sentences, 2 runs"."""
    return f"{rows['n'].max()} test sentences, {figures.counted(rows['run'].nunique(), 'run')}"


def over_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Per number of pruned heads: share and MEANS, means over runs and random orders."""
    return rows.groupby("pruned")[["share", *MEANS]].mean()


def line(axes: Axes, rows: pd.DataFrame, look: Look) -> None:
    """Scores over the share of pruned heads, with the mean interval over sentences as a band."""
    means = over_runs(rows)
    ends = means["ci_low"], means["ci_high"]
    figures.line(axes, 100 * means["share"], means["score"], look, look.name, ends)
