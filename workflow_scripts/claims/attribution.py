"""Our numbers for what the gradients of heads show of the effects of disabling them."""

import pandas as pd

from workflow_scripts.claims.modes import resampled_of, task_of
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured


def attribution_rank(products: Products, of: str) -> list[Measured]:
    """Spearman's correlation over heads of an estimate with the exact effects, for each task.

    `of` is the estimate: a mode, or "importance", which has no sign, and may name what it is
    compared with: "importance size" is with the mean size of the effects on single texts. Of
    several seeds the mean, of values and of ends.
    """
    estimate, against = (*of.split(), "effect")[:2]
    return _numbers(products, estimate, "rho", against)


def attribution_missed(products: Products, of: str) -> list[Measured]:
    """Percent of the tenth of heads that cost most outside the first of the estimate."""
    return _numbers(products, of, "top_missed", over="top")


def _numbers(
    products: Products, of: str, name: str, against: str = "effect", over: str = ""
) -> list[Measured]:
    text = "tables/next-token-attribution.csv" in products
    table = products["next-token-attribution" if text else "ablation-attribution"]
    table = table[(table["estimate"] == of) & (table["against"] == against)]
    numbers = []
    for task, rows in table.groupby("task", sort=False):
        ends = rows[[name, f"{name}_low", f"{name}_high"]].mean()
        if over:
            ends = 100 * ends / rows[over].iloc[0]
        n, unit, interval = resampled_of(str(task), rows)
        heads = rows["n_heads"].iloc[0]
        about = f"{heads} heads"
        if over:
            about = f"{rows[over].iloc[0]} heads of {heads}, {rows['first'].iloc[0]} of them first"
        more = {"interval": interval, "about": about, **task_of(str(task), rows)}
        numbers.append(Measured(*ends.tolist(), n, unit, **more))
    if not numbers or any(pd.isna(number.value) for number in numbers):
        raise NotMeasured(f"the study has no attribution {of}")
    return numbers


MEASURES = (attribution_rank, attribution_missed)
