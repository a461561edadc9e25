"""Our numbers for what Kovaleva et al. 2019 state about disabled heads and layers (4.6 and 5)."""

from statistics import NormalDist

import pandas as pd

from workflow_scripts.ablation.measures import HEADS, SCORES, of_kind
from workflow_scripts.claims.clark import at_depth
from workflow_scripts.claims.glue_rows import NAMES, TITLES, main_metric, main_rows
from workflow_scripts.claims.intervals import AT_LEAST, CONFIDENCE, OVER_EXAMPLES, over_seeds
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.head_labels import labels

# From the ends of a normal interval of 90% to those of 95%.
WIDER = NormalDist().inv_cdf(0.975) / NormalDist().inv_cdf(0.95)


def held_out_gain(products: Products, of: str) -> list[Measured]:
    """Points gained by disabling the best unit, measured on examples that did not choose it.

    `of` is head or layer; uniform attention, on each task. The interval is over examples, among
    which the unit is chosen anew for each seed.
    """
    gains = products.rows("michel2019-gains", unit=of, mode="uniform", split="dev")
    found = pd.DataFrame(list(main_rows(gains)), columns=gains.columns)
    numbers = []
    for title, rows in found.groupby("task", sort=False):
        number, more = over_seeds(rows, "gain", "gain_low", "gain_high")
        about = f"{rows['metric'].iloc[0]}, {rows['naive'].mean():+.1f} where chosen and measured"
        about += " on the same examples"
        more |= {"about": about, "task": NAMES[title]}
        numbers.append(Measured(*number, int(rows["n"].iloc[0]), "examples", title, **more))
    return numbers


def best_head_effect(products: Products, of: str) -> list[Measured]:
    """Points gained by disabling the best head, chosen and measured on the same examples.

    As in the paper; `of` is the title of a task, with uniform attention. Of each seed its own best
    head. The interval is of the chosen head: it does not hold that the best of all was taken.
    """
    rows, name = products.all_of(SCORES), NAMES[of]
    wanted = {"task": name, "unit": "head", "mode": "uniform", "split": "dev"}
    wanted["metric"] = main_metric(name)
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    if rows.empty:
        return []
    best = rows.loc[rows.groupby("seed")["effect"].idxmax()]
    number, more = over_seeds(best, "effect", "ci_low", "ci_high")
    more["interval"] = f"{more['interval'] or OVER_EXAMPLES}, of the chosen head alone"
    about = f"{wanted['metric']}, {' '.join(labels(best))}"
    more |= {"about": about, "task": name}
    n = int(best["n"].iloc[0])
    return [Measured(*(100 * end for end in number), n, "examples", of, **more)]


def stratum_effect(products: Products, of: str) -> list[Measured]:
    """Points gained on average by disabling a head of the kind `of`, or of `all`, on each task.

    `of` may name a task, too, as "all mrpc".
    """
    kind, *task = of.split()
    rows, scores = products.rows("kovaleva2019-strata", stratum=kind), products.all_of(SCORES)
    numbers = []
    for row in rows[rows["task"].isin(task or rows["task"])].itertuples():
        ends = (row.effect + WIDER * (end - row.effect) for end in (row.low, row.high))
        number = (100 * value for value in (row.effect, *ends))
        seeds = scores.loc[scores["task"] == row.task, "seed"].nunique()
        more = {"task": row.task, "interval": OVER_EXAMPLES, "seeds": seeds}
        more["about"] = TASKS[row.task].main_metric  # which the strata are measured by
        numbers.append(Measured(*number, int(row.heads), "heads", TITLES[row.task], **more))
    return numbers


def lowest_effect(products: Products, of: str) -> list[Measured]:
    """Points gained by disabling the head of the kind `of` that costs most, on each task.

    The table's interval of a head is of 90%, over examples. The intervals of all these heads are
    widened so that together they hold with 95% (Bonferroni); the least effect then lies between
    the least of their lower and the least of their upper ends.
    """
    heads, scores = products[HEADS], products.all_of(SCORES)
    heads = heads[of_kind(heads, of)]
    if heads.empty:
        raise NotMeasured(f"{HEADS.name} has no head of the kind {of}")
    normal = NormalDist()
    wider = normal.inv_cdf(1 - (1 - CONFIDENCE) / 2 / len(heads)) / normal.inv_cdf(0.95)
    numbers = []
    for task in (task for task in TITLES if f"effect_{task}" in heads):
        effect = heads[f"effect_{task}"]
        ends = (effect + wider * (heads[f"{end}_{task}"] - effect) for end in ("low", "high"))
        number = (100 * float(values.min()) for values in (effect, *ends))
        about = f"{TASKS[task].main_metric}, {heads.loc[effect.idxmin(), 'name']}"
        seeds = scores.loc[scores["task"] == task, "seed"].nunique()
        more = {"about": about, "task": task, "seeds": seeds}
        more["interval"] = f"{OVER_EXAMPLES} for all these heads together (Bonferroni)"
        numbers.append(Measured(*number, len(heads), "heads", TITLES[task], **more))
    return numbers


def layer_effect(products: Products, of: str) -> list[Measured]:
    """Points gained by disabling a layer of 12; `of` is like "RTE 1", with uniform attention.

    Of a model with more layers the mean over those that are as deep, each disabled alone.
    """
    task, layer = of.split()
    scores = products.all_of(SCORES)
    scores = scores[(scores["unit"] == "layer") & (scores["mode"] == "uniform")]
    scores = scores[(scores["task"] == NAMES[task]) & (scores["split"] == "dev")]
    scores = scores[scores["metric"] == "accuracy"]
    rows = at_depth(scores, int(layer), int(layer)) if len(scores) else scores
    if rows.empty:
        return []
    number, more = over_seeds(rows, "effect", "ci_low", "ci_high")
    if rows["layer"].nunique() > 1:
        more["interval"] = AT_LEAST
    ends, more["task"] = (100 * end for end in number), NAMES[task]
    return [Measured(*ends, int(rows["n"].iloc[0]), "examples", task, **more)]


MEASURES = (
    held_out_gain,
    best_head_effect,
    stratum_effect,
    lowest_effect,
    layer_effect,
)
