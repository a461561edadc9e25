"""Our numbers for the claims of Kovaleva et al. 2019."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import NormalDist

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.ablation.measures import HEADS, SCORES
from workflow_scripts.claims.numbers import (
    AT_LEAST,
    CONFIDENCE,
    OVER_EXAMPLES,
    counted,
    in_percent,
    mean_of,
    over_seeds,
    over_units,
    row_number,
    seeds_number,
    share_number,
)
from workflow_scripts.claims.power import without_effect
from workflow_scripts.claims.products import (
    NAMES,
    TITLES,
    Cases,
    NotMeasured,
    Products,
    at_depth,
    layers_of,
    main_metric,
    main_rows,
    measure,
    on_task,
)
from workflow_scripts.claims.verdicts import PREMISE_ABSENT, Measured
from workflow_scripts.core.data.annotations import FRAME_DIRECTION
from workflow_scripts.core.data.heads import head_labels, rows_of_kind
from workflow_scripts.core.data.tables import where
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.finetuning.measures import KINDS, LINKS, SHARED, SIMILARITY
from workflow_scripts.patterns.measures import SHARES

TABLE1, GAINS = "kovaleva2019-table1", "kovaleva2019-gains"
FRAMES, CONTROLS = "kovaleva2019-frames", "kovaleva2019-frame-controls"
PAPER_TASKS = ("MRPC", "STS-B", "SST-2", "QQP", "RTE", "QNLI", "MNLI")
NO_WORDS = ("cls", "sep", "punctuation")
OF_TOKENS = {"cls": "[CLS]", "sep": "[SEP]"}
# From the ends of a normal interval of 90% to those of 95%.
WIDER = NormalDist().inv_cdf(0.975) / NormalDist().inv_cdf(0.95)


@measure("kovaleva2019-classifier")
def classifier_f1(products: Products) -> Measured:
    """Macro F1 of the network on annotated maps; the reference: the same on shuffled labels."""
    row, shuffled = (
        products.row("kovaleva2019-classifier", method=method, maps="fine-tuned")
        for method in ("network", "network, shuffled labels")
    )
    about = f"accuracy {100 * row['accuracy']:.0f}%, {row['n_examples']} examples"
    more = {"reference": float(shuffled["macro_f1"]), "about": about, "interval": OVER_EXAMPLES}
    return row_number(row, "macro_f1", "maps", **more)


@measure(SHARES)
def class_share(products: Products, map_class: str) -> Cases:
    """Percent of maps of a class after fine-tuning, on each task and by each method, over heads.

    Next to it of how many maps that either method gives the class both give it. Copies with random
    weights are not fine-tuned, so theirs are as they are.
    """
    shares = products.rows(SHARES, **{"class": map_class})
    tuned = where(shares, stage="fine-tuned")
    shares = shares if tuned.empty else tuned
    for task, of_task in shares.groupby("task", sort=False):
        of_method = dict(list(of_task.groupby("method", sort=False)))
        both = of_task["both"].mean()
        either = sum(rows["share"].mean() for rows in of_method.values()) - both
        about = f"network and rules agree on {100 * both / either if either else 0:.0f}% of them"
        for method, rows in of_method.items():
            by_head = 100 * rows.groupby(["layer", "head"])["share"].mean()
            n, case = len(by_head), f"{TITLES[task]}, by {method}"
            half = scipy.stats.sem(by_head) * scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1)
            mean, more = by_head.mean(), {"about": about, **on_task(task, rows)}
            yield Measured(mean, mean - half, mean + half, n, "heads", case, **more)


@measure(CONTROLS)
def frame_heads(products: Products) -> Measured:
    """Percent of heads that attend more along frame links than to unlinked words as far apart.

    The study's frame heads, by a p-value corrected for all heads and a smallest difference; the
    upper end counts all heads that are above by an uncorrected p-value.
    """
    rows = products.rows(CONTROLS, direction=FRAME_DIRECTION)
    possible = (rows["p"] < 0.05) & (rows["difference"] > 0)
    about = " ".join(rows.loc[rows["frame_head"], "head"])
    found = rows["frame_head"]
    return in_percent(counted(found, found, possible, "heads", about=about))


@measure(FRAMES, CONTROLS)
def frame_attention(products: Products) -> Measured:
    """The highest mean attention of a head along frame links, in either direction.

    The reference is the head's attention to unlinked words at the same distance.
    """
    rows = products.rows(FRAMES, direction=FRAME_DIRECTION)
    best = rows.loc[rows["attention"].idxmax()]
    same = products.row(CONTROLS, direction=FRAME_DIRECTION, head=best["head"])
    n, units = int(best["n"]), int(best["n_documents"])
    more = {"reference": float(same["control"]), "about": str(best["head"])}
    more["interval"] = "" if units == n else f"95% over {units} lexical units"
    return row_number(best, "attention", "sentences", **more)


@measure(TABLE1)
def glue_score(products: Products, task: str, metric: str, weights: str) -> Measured:
    """A score of Table 1 in percent; `weights` is the column.

    The interval is over examples; the reference is the majority class, or a correlation of 0.
    """
    measured = _score(products.row(TABLE1, task=task, metric=metric, split="dev"), weights)
    if math.isnan(measured.value):
        raise NotMeasured(f"{TABLE1} has no {weights} of {task}")
    return measured


def _score(row: pd.Series, column: str) -> Measured:
    about = "" if row["official"] or row["generated"] else "other data than the task's own"
    more = {"reference": float(row["majority"]), "because": about}
    return seeds_number(row, column, int(row["seeds"]), **more)


def _gains(products: Products, more: str, less: str) -> Iterator[tuple[pd.Series, Measured]]:
    """For each of the paper's tasks its row and the points from column `less` to `more`."""
    rows = main_rows(where(products[GAINS], column=more, other=less))
    for _, row in rows[rows["task"].isin(PAPER_TASKS)].iterrows():
        about = f"{row['score']:.1f} against {row['other_score']:.1f}"
        yield row, seeds_number(row, "gain", int(row["seeds"]), about=about)


@measure(GAINS)
def table1_gain(
    products: Products, weights: str, other_weights: str, task: tuple[str, ...] = PAPER_TASKS
) -> list[Measured]:
    """Points by which one column of Table 1 is above another, on each of some tasks."""
    gains = _gains(products, weights, other_weights)
    return [gain for row, gain in gains if row["task"] in task]


@measure(GAINS)
def average_gain(products: Products, weights: str, other_weights: str) -> Measured:
    """The mean over the paper's seven tasks of the points that table1_gain gives.

    Tasks have examples of their own, so their intervals' halves add up like standard errors.
    """
    found = list(_gains(products, weights, other_weights))
    if len(found) < len(PAPER_TASKS):
        n = len(found)
        raise NotMeasured(f"the average is over {len(PAPER_TASKS)} tasks, {n} of them are here")
    numbers = np.array([(gain.value, gain.low, gain.high) for _, gain in found])
    value = float(numbers[:, 0].mean())
    below, above = np.sqrt(((numbers[:, 1:] - numbers[:, :1]) ** 2).sum(axis=0)) / len(found)
    own = all(row["official"] and not row["generated"] for row, _ in found)
    more = {"seeds": min(gain.seeds or 0 for _, gain in found), "reference": 0.0}
    more |= {"because": "" if own else "other data than the tasks' own"}
    n = sum(gain.n or 0 for _, gain in found)
    ends = value - below, value + above
    return Measured(value, *ends, n, "examples", "seven tasks", interval=AT_LEAST, **more)


@measure(SIMILARITY)
def last_layers_change(products: Products, but: str) -> Cases:
    """How much less similar the last layers' maps are than those of any other, in percent.

    The last sixth of the layers, two of twelve: the least changed of them against the most changed
    of the others. Not on the task that the paper excepts.
    """
    for task, rows in products.all_of(SIMILARITY).groupby("task", sort=False):
        if TITLES[task] == but:
            continue
        last = rows["layer"].isin(at_depth(rows, 11, 12)["layer"])
        if not last.any():
            raise NotMeasured(f"{rows['layer'].nunique()} layers are too few for a last sixth")
        means = rows.groupby("layer")["similarity"].mean()
        changed = means[means.index.isin(rows.loc[last, "layer"])]
        layers = changed.idxmax(), means.drop(changed.index).idxmin()
        least, other = (rows[rows["layer"] == layer] for layer in layers)
        shown = (f"{100 * means[at]:.1f} in layer {at + 1}" for at in layers)
        more = {"about": " against ".join(shown), **on_task(task, rows)}
        yield over_units(other, "examples", less=least, scale=100, **more)


@measure(KINDS)
def words_to_special(products: Products) -> Cases:
    """Attention to the words with most, in percent of that to [CLS], and of that to [SEP].

    As in the paper, of a kind's tokens the most attended counts.
    """
    for task, rows in _features(products, "all"):
        kinds = _by_kind(rows)
        words = [kind for kind in kinds if kind not in NO_WORDS]
        word = max(words, key=lambda kind: _mean(kinds[kind]))
        for special, name in OF_TOKENS.items():
            about = f"{_mean(kinds[word]):.1f}% to a {word} against "
            about += f"{_mean(kinds[special]):.1f}% to {name}"
            more = {"about": about, "case": f"{TITLES[task]}, {name}", **on_task(task, rows)}
            yield over_units(kinds[word], "examples", over=kinds[special], scale=100, **more)


@measure(KINDS)
def special_by_depth(
    products: Products, token: str, other_token: str, first_layer: int, last_layer: int
) -> Cases:
    """Percent points of attention by which one special token gets more than another.

    The paper speaks of early and of late layers: `about` states both numbers of the others, too.
    """
    for task, rows in _features(products, "all"):
        chosen = at_depth(rows, first_layer, last_layer)
        parts = chosen, rows.drop(chosen.index)
        both = [[_by_kind(part)[kind] for kind in (token, other_token)] for part in parts]
        means = (" against ".join(f"{_mean(kind):.1f}" for kind in kinds) for kinds in both)
        shown = zip(means, map(layers_of, parts), strict=True)
        about = "; ".join(f"{numbers}%, {layers}" for numbers, layers in shown)
        ours, other = both[0]
        more = {"about": about, **on_task(task, rows)}
        yield over_units(ours, "examples", less=other, scale=100, **more)


@measure(KINDS)
def cls_attends(products: Products, token: str, task: tuple[str, ...]) -> Cases:
    """Attention in percent of [CLS] in the last layer to a kind of tokens minus the next best."""
    for name, rows in _features(products, "cls"):
        kinds = _by_kind(rows[rows["layer"] == rows["layer"].max()])
        if TITLES[name] not in task or token not in kinds:
            continue
        ours = kinds.pop(token)
        most = max(kinds, key=lambda kind: _mean(kinds[kind]))
        about = f"{_mean(ours):.1f}% against {_mean(kinds[most]):.1f}% to {most}"
        more = {"about": about, **on_task(name, rows)}
        yield over_units(ours, "examples", less=kinds[most], scale=100, **more)


@measure("kovaleva2019-links", LINKS)
def candidates_diagonal(products: Products, link: tuple[str, ...]) -> Cases:
    """How many of the three heads with most attention along a link have diagonal maps.

    Those give more than half of their attention to the previous and the next token.
    """
    table = products.rows("kovaleva2019-links", stage="fine-tuned", far=False)
    table = table[table["link"].isin(link)]
    for (title, name), rows in table.groupby(["task", "link"], sort=False):
        shares = zip(rows["head"], rows["neighbours"], strict=True)
        about = ", ".join(f"{head}: {100 * share:.0f}%" for head, share in shares)
        of_seeds = products.all_of(LINKS, task=NAMES[title])
        more = {"case": f"{title}, {name}", "about": about, **on_task(NAMES[title], of_seeds)}
        diagonal = (rows[f"neighbours{end}"] > 0.5 for end in ("_low", "", "_high"))
        every = where(of_seeds, stage="fine-tuned", link=name, far=False)
        possible = every.groupby(["layer", "head"])["neighbours_high"].mean() > 0.5
        if (n := possible.sum()) < len(rows):
            more["because"] = f"{PREMISE_ABSENT}: {n} heads have diagonal maps, not {len(rows)}"
        yield counted(*diagonal, "heads", **more)


@measure(LINKS)
def adjacent_links(products: Products, link: str) -> Cases:
    """Percent of a task's links whose tokens are neighbours."""
    frame = products.all_of(LINKS, stage="fine-tuned", link=link)
    for task, rows in frame.groupby("task", sort=False):
        n, far = (int(rows[rows["far"] == only]["links"].max()) for only in (False, True))
        if n:
            more = {"task": task, "interval": "95% as if links were independent"}
            yield share_number(n - far, n, "links", **more)


@measure(HEADS, SHARED)
def costly_head_and_shared_words(products: Products, task: str) -> Measured | None:
    """Points of attention, per token, by which a head prefers copies of words to other words.

    Of the head whose disabling costs most on the task: from a word that both sentences have to the
    tokens of its copy, minus those of the other words there.
    """
    heads, name, column = products[HEADS], NAMES[task], f"effect_{NAMES[task]}"
    if column not in heads:
        raise NotMeasured(f"{HEADS.name} has no {column}")
    worst = heads.loc[heads[column].idxmin()]
    of_head = {"layer": worst["layer"], "head": worst["head"]}
    rows = products.all_of(SHARED, task=name, stage="fine-tuned", measure="copy", **of_head)
    if rows.empty:
        return None
    about = f"{worst['name']}, {100 * worst[column]:+.1f} points where disabled"
    return mean_of(rows, "excess", "examples", 100, about=about, **on_task(name, rows))


def _features(products: Products, query: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each task's attention to kinds of tokens from a query, after fine-tuning."""
    yield from products.all_of(KINDS, stage="fine-tuned", query=query).groupby("task", sort=False)


def _by_kind(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each kind that occurs."""
    occurs = rows[rows["attention"].notna()]
    return {str(kind): part for kind, part in occurs.groupby("kind", sort=False)}


def _mean(rows: pd.DataFrame) -> float:
    """Mean over heads of the attention in percent."""
    return 100 * float(rows["attention"].mean())


@measure("michel2019-gains")
def held_out_gain(products: Products, disabled: str) -> Cases:
    """Points gained by disabling the best head or layer, on examples that did not choose it."""
    gains = products.rows("michel2019-gains", unit=disabled, mode="uniform", split="dev")
    for title, rows in main_rows(gains).groupby("task", sort=False):
        about = f"{rows['metric'].iloc[0]}, {rows['naive'].mean():+.1f} where chosen and measured"
        about += " on the same examples"
        yield over_seeds(rows, "gain", about=about, task=NAMES[title])


@measure(SCORES)
def best_head_effect(products: Products, task: str) -> Measured | None:
    """Points gained by disabling each seed's best head, chosen and measured on the same examples.

    As in the paper. The interval does not hold that the best of all heads was taken.
    """
    metric = main_metric(NAMES[task])
    rows = _disabled(products, task, "head", metric)
    if rows.empty:
        return None
    best = rows.loc[rows.groupby("seed")["effect"].idxmax()]
    about = f"{metric}, {' '.join(head_labels(best))}"
    number = over_seeds(best, "effect", 100, about=about, task=NAMES[task])
    interval = f"{number.interval or OVER_EXAMPLES}, of the chosen head alone"
    return replace(number, interval=interval)


@measure(SCORES)
def layer_effect(products: Products, task: str, layer: int) -> Measured | None:
    """Points gained by disabling a layer of 12; of a larger model, the mean of those as deep."""
    rows = _disabled(products, task, "layer", "accuracy")
    rows = at_depth(rows, layer, layer) if len(rows) else rows
    if rows.empty:
        return None
    number = over_seeds(rows, "effect", 100, task=NAMES[task])
    several = rows["layer"].nunique() > 1 and number.seeds == 1
    return replace(number, interval=AT_LEAST) if several else number


def _disabled(products: Products, task: str, unit: str, metric: str) -> pd.DataFrame:
    """The effects of disabling heads or layers on a task's development set, uniform attention."""
    wanted = {"split": "dev", "unit": unit, "mode": "uniform", "metric": metric}
    return products.all_of(SCORES, task=NAMES[task], **wanted)


@measure("kovaleva2019-strata", SCORES)
def stratum_effect(products: Products, heads: str, task: str) -> Cases:
    """Points gained on average on a task by disabling a head of a kind, or of `all`."""
    rows = where(products.rows("kovaleva2019-strata", stratum=heads), task=NAMES[task])
    for row in rows.itertuples():
        ends = (row.effect + WIDER * (end - row.effect) for end in (row.low, row.high))
        number = (100 * value for value in (row.effect, *ends))
        # The strata are measured by the task's main metric.
        more = {"about": TASKS[row.task].main_metric, "interval": OVER_EXAMPLES}
        more |= on_task(row.task, products.all_of(SCORES, task=row.task))
        yield Measured(*number, int(row.heads), "heads", **more)


@measure(HEADS, SCORES)
def lowest_effect(products: Products, heads: str) -> Cases:
    """Points gained by disabling the head of a kind that costs most, on each task.

    The table's interval of a head is of 90%, over examples. The intervals of all these heads are
    widened so that together they hold with 95% (Bonferroni); the least effect then lies between
    the least of their lower and the least of their upper ends.
    """
    table = products[HEADS]
    rows = table[rows_of_kind(table, heads)]
    if rows.empty:
        raise NotMeasured(f"{HEADS.name} has no head of the kind {heads}")
    normal = NormalDist()
    together = normal.inv_cdf(1 - (1 - CONFIDENCE) / 2 / len(rows))
    wider = together / normal.inv_cdf(0.95)
    for task in (task for task in TITLES if f"effect_{task}" in rows):
        effect = rows[f"effect_{task}"]
        ends = (effect + wider * (rows[f"{end}_{task}"] - effect) for end in ("low", "high"))
        numbers = 100 * np.array([effect, *ends])
        below, above = numbers[0] - numbers[1], numbers[2] - numbers[0]
        about = f"{TASKS[task].main_metric}, {rows.loc[effect.idxmin(), 'name']}"
        more = {"interval": f"{OVER_EXAMPLES} for all these heads together (Bonferroni)"}
        more |= on_task(task, products.all_of(SCORES, task=task))
        more["drawn"] = partial(_least, below, above, together)
        yield Measured(*numbers.min(axis=1), len(rows), "heads", about=about, **more)


def _least(
    below: np.ndarray, above: np.ndarray, z: float, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """The least effect, with its ends, of samples in which no head has any: [3, draws]."""
    return without_effect(below, above, z, rng, draws).min(axis=2)
