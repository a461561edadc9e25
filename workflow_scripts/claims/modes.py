"""Our numbers for what masking a head is taken to show: the same in every mode of disabling."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from workflow_scripts.claims.glue_rows import TITLES
from workflow_scripts.claims.intervals import OVER_DOCUMENTS, OVER_EXAMPLES, share
from workflow_scripts.claims.noise import ceiling
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured

TEXT = "text"  # what decoders are measured on instead of a task
BY_HEADS = "from heads whose intervals exclude 0 in every mode to those no two modes differ on"


def modes_rank(products: Products, of: str) -> list[Measured]:
    """Spearman's correlation over heads of the effects on the loss in two modes, for each task.

    `of` names the modes, as "uniform zero". Of several seeds the mean, of values and of ends. Noise
    of the effects lowers the correlation: the upper end is divided by what halves of the examples
    show that noise leaves of a perfect one.
    """
    numbers = []
    for task, rows in _of_pair(products, of):
        most = [
            ceiling(*pair) for pair in rows[["halves_one", "halves_other"]].itertuples(index=False)
        ]
        highs = [_without_noise(*pair) for pair in zip(rows["rho_high"], most, strict=True)]
        number = [float(rows[name].mean()) for name in ("rho", "rho_low")]
        about = f"{int(rows['n_heads'].iloc[0])} heads; "
        about += f"independent noise leaves at most {np.mean(most):.2f}"
        n, unit, over = resampled_of(task, rows)
        more = {"interval": f"{over}, the upper end without noise", "about": about}
        number.append(float(np.mean(highs)))
        numbers.append(Measured(*number, n, unit, **more, **task_of(task, rows)))
    return numbers


def modes_opposite(products: Products, of: str) -> list[Measured]:
    """Percent of the heads with p below .05 in two modes whose effects have opposite signs.

    Signs of the others are mostly noise.
    """
    numbers = []
    for task, rows in _of_pair(products, of):
        opposite, both = (int(rows[f"{name}_nominal"].sum()) for name in ("opposite", "both"))
        if not both:
            continue
        about = f"{opposite} of {both} heads with p below .05 in both modes"
        more = {"interval": "95% of a share of heads (Wilson)", "about": about}
        number = 100 * opposite / both, *share(opposite, both)
        numbers.append(Measured(*number, both, "heads", **more, **task_of(task, rows)))
    if not numbers:
        raise NotMeasured("no head has p below .05 in both modes")
    return numbers


def modes_verdict(products: Products, of: str) -> list[Measured]:
    """Percent of the heads with an effect, in some mode or between two, shown in every mode.

    On the loss of each task, or of running text, and of all seeds together; `of` is the measure.
    """
    numbers = []
    for task, rows in _both(products, "mode-heads").groupby("task", sort=False):
        rows = rows[(rows["of"] == of) & (rows["verdict"] != "no effect shown")]
        if rows.empty:
            continue
        in_all = rows["verdict"] == "in all modes"
        lows, highs = (rows.filter(regex=f"^{end}_") for end in ("low", "high"))
        sure = in_all & ((lows > 0).all(axis=1) | (highs < 0).all(axis=1))
        counts = (sure.sum(), in_all.sum(), (rows["verdict"] != "depends on the mode").sum())
        value = [float(100 * count / len(rows)) for count in (counts[1], counts[0], counts[2])]
        more = {"interval": BY_HEADS, **task_of(str(task), rows)}
        numbers.append(Measured(*value, len(rows), "heads", **more))
    if not numbers:
        raise NotMeasured(f"no head has an effect on the {of} in any mode")
    return numbers


def _of_pair(products: Products, of: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each task with the rows of two modes on its loss, one for each seed."""
    one, other = of.split()
    table = _both(products, "modes")
    table = table[(table["of"] == "loss") & table[["one", "other"]].isin((one, other)).all(axis=1)]
    if table.empty:
        raise NotMeasured(f"the study does not disable heads in both modes {one} and {other}")
    for task, rows in table.groupby("task", sort=False):
        yield str(task), rows


def _without_noise(end: float, most: float) -> float:
    """The upper end of a correlation, divided by the most that noise leaves of a perfect one."""
    if end <= 0:
        return end
    return min(1.0, end / most) if most > 0 else 1.0


def _both(products: Products, name: str) -> pd.DataFrame:
    """The table of classifiers, or that of a decoder."""
    decoders = f"next-token-{name}"
    return products[decoders if f"tables/{decoders}.csv" in products else f"ablation-{name}"]


def resampled_of(task: str, rows: pd.DataFrame) -> tuple[int, str, str]:
    """What the intervals of `rows` resample: its number, its unit, and the words for it."""
    if task == TEXT:
        return int(rows["n_documents"].iloc[0]), "documents", OVER_DOCUMENTS
    return int(rows["n"].iloc[0]), "examples", OVER_EXAMPLES


def task_of(task: str, rows: pd.DataFrame) -> dict[str, object]:
    """What is stated of a number on a task; nothing of running text."""
    if task == TEXT:
        return {}
    return {"case": TITLES[task], "task": task, "seeds": rows["seed"].nunique()}


MEASURES = (modes_rank, modes_opposite, modes_verdict)
