"""The legend of pruning curves after epochs of a training (Michel et al. 2019, Figure 5)."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from workflow_scripts.core.plots import figures


def name(epoch: int, agreement: pd.Series, after: str = "") -> str:
    """An epoch, and Spearman's correlation of its importance with the last one's, over heads.

    `agreement` has the correlation of each epoch; `after` stands between the two.
    """
    if epoch == agreement.index.max():
        return f"epoch {epoch}{after} (last)"
    return f"epoch {epoch}{after}, ρ = {agreement[epoch]:.2f}"


def legend(
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
    axes.legend(title=words, title_fontsize=figures.SMALL, columnspacing=1.0, **shape)
