"""Our numbers for what masking a head is taken to show: the same in every mode of disabling."""

import pandas as pd

from workflow_scripts.claims.glue_rows import TITLES
from workflow_scripts.claims.intervals import OVER_EXAMPLES
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured

TEXT = "text"  # what decoders are measured on instead of a task
OVER_DOCUMENTS = "95% over documents"
BY_HEADS = "from heads whose intervals exclude 0 in every mode to those no mode contradicts"


def modes_rank(products: Products, of: str) -> list[Measured]:
    """Spearman's correlation over heads of the effects on the loss in two modes, for each task.

    `of` names the modes, as "uniform zero". Of several seeds the mean, of values and of ends.
    """
    return _of_pair(products, of, "rho", 1)


def modes_opposite(products: Products, of: str) -> list[Measured]:
    """Percent of heads whose effects on the loss have opposite signs in two modes."""
    return _of_pair(products, of, "opposite", 100)


def modes_verdict(products: Products, of: str) -> list[Measured]:
    """Percent of the heads with an effect shown in some mode that have it shown in every mode.

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
        counts = (sure.sum(), in_all.sum(), (~rows["contradicted"].astype(bool)).sum())
        value = [float(100 * count / len(rows)) for count in (counts[1], counts[0], counts[2])]
        more = {"interval": BY_HEADS, **task_of(str(task), rows)}
        numbers.append(Measured(*value, len(rows), "heads", **more))
    if not numbers:
        raise NotMeasured(f"no head has an effect on the {of} in any mode")
    return numbers


def _of_pair(products: Products, of: str, name: str, factor: float) -> list[Measured]:
    one, other = of.split()
    table = _both(products, "modes")
    table = table[(table["of"] == "loss") & table[["one", "other"]].isin((one, other)).all(axis=1)]
    numbers = []
    for task, rows in table.groupby("task", sort=False):
        ends = rows[[name, f"{name}_low", f"{name}_high"]].mean() * factor
        about = f"{int(rows['n_heads'].iloc[0])} heads"
        text = task == TEXT
        n, wholes = (int(rows[column].iloc[0]) for column in ("n", "n_documents"))
        more = {"interval": OVER_DOCUMENTS if text else OVER_EXAMPLES, "about": about}
        units = (wholes, "documents") if text else (n, "examples")
        numbers.append(Measured(*ends.tolist(), *units, **more, **task_of(str(task), rows)))
    if not numbers:
        raise NotMeasured(f"the study does not disable heads in both modes {one} and {other}")
    return numbers


def _both(products: Products, name: str) -> pd.DataFrame:
    """The table of classifiers, or that of a decoder."""
    decoders = f"next-token-{name}"
    return products[decoders if f"tables/{decoders}.csv" in products else f"ablation-{name}"]


def task_of(task: str, rows: pd.DataFrame) -> dict[str, object]:
    """What is stated of a number on a task; nothing of running text."""
    if task == TEXT:
        return {}
    return {"case": TITLES[task], "task": task, "seeds": rows["seed"].nunique()}


MEASURES = (modes_rank, modes_opposite, modes_verdict)
