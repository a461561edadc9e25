"""Our numbers for the claims of Kovaleva et al. 2019."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from workflow_scripts.ablation.measures import HEADS
from workflow_scripts.claims.clark import at_depth
from workflow_scripts.claims.glue_rows import NAMES, TITLES, main_rows
from workflow_scripts.claims.intervals import (
    counted,
    mean_of,
    minus,
    of_correlation,
    over_runs,
    share,
)
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.finetuning.measures import KINDS, SHARED, SIMILARITY
from workflow_scripts.patterns.measures import SHARES

SPECIAL = ("cls", "sep")


def classifier_f1(products: Products, of: str) -> list[Measured]:
    """Macro F1 of the network on annotated maps of fine-tuned models, as the paper's are.

    The reference is the same network on shuffled labels.
    """
    of_tuned = {"maps": "fine-tuned"}
    row = products.row("kovaleva2019-classifier", method="network", **of_tuned)
    shuffled = products.row(
        "kovaleva2019-classifier", method="network, shuffled labels", **of_tuned
    )
    number = (float(row[f"macro_f1{end}"]) for end in ("", "_low", "_high"))
    about = f"accuracy {100 * row['accuracy']:.0f}%, {row['n_examples']} examples"
    more = {"reference": float(shuffled["macro_f1"]), "about": about}
    return [Measured(*number, int(row["n"]), "maps", interval="95% over examples", **more)]


def class_share(products: Products, of: str) -> list[Measured]:
    """Percent of maps of the class `of` after fine-tuning, on each task; interval over heads."""
    shares = products.rows(SHARES, method="network", stage="fine-tuned", **{"class": of})
    numbers = []
    for task, rows in shares.groupby("task", sort=False):
        by_head = 100 * rows.groupby(["layer", "head"])["share"].mean()
        number = over_runs(by_head.to_numpy())
        numbers.append(
            Measured(*number, len(by_head), "heads", TITLES[task], _seeds(rows), task=task)
        )
    return numbers


def frame_heads(products: Products, of: str) -> list[Measured]:
    """How many heads attend more along frame links than to unlinked words at the same distance.

    In the direction `of`. Heads count that the table calls linking, by a p-value corrected for all
    heads and a smallest difference; the upper end counts heads above by an uncorrected one.
    """
    rows = products.rows("kovaleva2019-frame-controls", direction=of)
    possible = (rows["p"] < 0.05) & (rows["difference"] > 0)
    number = counted(rows["linking"], rows["linking"], possible)
    about = " ".join(rows.loc[rows["linking"], "head"])
    return [replace(number, of="heads", about=about)]


def frame_attention(products: Products, of: str) -> list[Measured]:
    """The highest mean attention of a head along frame links in the direction `of`.

    The reference is the head's attention to unlinked words at the same distance.
    """
    rows = products.rows("kovaleva2019-frames", direction=of)
    best = rows.loc[rows["attention"].idxmax()]
    same = products.row("kovaleva2019-frame-controls", direction=of, head=best["head"])
    number = best["attention"], best["ci_low"], best["ci_high"]
    reference = float(same["control"])
    n = int(best["n"])
    return [Measured(*number, n, "sentences", reference=reference, about=str(best["head"]))]


def last_layers_change(products: Products, of: str) -> list[Measured]:
    """How much less similar, in percent, maps of the last sixth of layers are than all others."""
    similarity, numbers = products.all_of(SIMILARITY), []
    for task, rows in similarity.groupby("task", sort=False):
        last = at_depth(rows, 11, 12)
        others = rows.drop(last.index)
        one, other = (Measured(*mean_of(part, "similarity", 100)) for part in (others, last))
        about = f"{other.value:.1f} against {one.value:.1f}"
        more = {"seeds": _seeds(rows), "about": about, "task": task}
        n = int(rows["n"].max())
        numbers.append(Measured(*minus(one, other), n, "examples", TITLES[task], **more))
    return numbers


def glue_score(products: Products, of: str) -> list[Measured]:
    """A score of Table 1 in percent; `of` is like "MRPC accuracy pretrained_tuned".

    The interval is over examples; the reference is the majority class, or a correlation of 0.
    """
    task, metric, column = of.split()
    row = products.row("kovaleva2019-table1", task=task, metric=metric, split="dev")
    return [_glue_score(row, column)]


def _glue_score(row: pd.Series, column: str) -> Measured:
    value, n = float(row[column]), int(row["n"])
    if row["metric"] in ("pearson", "spearman", "matthews"):
        low, high = (100 * end for end in of_correlation(value / 100, n))
    elif row["metric"] == "accuracy" and not math.isnan(value):
        low, high = share(round(value / 100 * n), n)
    else:
        low = high = math.nan  # F1 of a table has no interval: it needs the predictions
    about = "" if row["official"] or row["generated"] else "other data than the task's own"
    more = {"seeds": int(row["seeds"]), "reference": float(row["majority"])}
    more |= {"not_comparable": about, "task": NAMES[row["task"]]}
    return Measured(value, low, high, n, "examples", row["task"], **more)


def pretraining_gain(products: Products, of: str) -> list[Measured]:
    """Points by which fine-tuning from pretrained weights beats random ones, on each task."""
    return [
        Measured(
            *minus(tuned, random), tuned.n, "examples", tuned.case, tuned.seeds, task=tuned.task
        )
        for tuned, random in (
            (_glue_score(row, "pretrained_tuned"), _glue_score(row, "random_tuned"))
            for row in main_rows(products["kovaleva2019-table1"])
        )
    ]


def special_over_words(products: Products, of: str) -> list[Measured]:
    """Attention in percent to [CLS] and [SEP] minus that to all words of the kind with most.

    On each task, after fine-tuning, on average over heads; all tokens of a kind count together.
    """
    numbers = []
    for task, rows in _features(products, "all"):
        kinds = {kind: _share(part) for kind, part in rows}
        special = _sum(kinds[kind] for kind in SPECIAL)
        words = [kind for kind in kinds if kind not in (*SPECIAL, "punctuation")]
        most = max(words, key=lambda kind: kinds[kind].value)
        number = minus(special, kinds[most])
        about = f"{special.value:.1f} against {kinds[most].value:.1f} to {most}s"
        more = {"about": about, "task": task}
        numbers.append(Measured(*number, special.n, "examples", TITLES[task], **more))
    return numbers


def _share(rows: pd.DataFrame) -> Measured:
    """Mean over heads of the summed attention to a kind, in percent."""
    ends = (100 * rows[name].mean() for name in ("share", "share_low", "share_high"))
    return Measured(*ends, n=int((rows["n"] + rows["n_without"]).max()))


def costly_head_and_shared_words(products: Products, of: str) -> list[Measured]:
    """Points of attention, per token, by which a head prefers copies of words to other words.

    Of the head whose disabling costs most on the task `of`, after fine-tuning: from a word that
    both sentences have to the tokens of its copy, minus those of the other words there.
    """
    heads, column = products[HEADS], f"effect_{of}"
    if column not in heads:
        return []
    worst = heads.loc[heads[column].idxmin()]
    rows = products.all_of(SHARED)
    rows = rows[(rows["task"] == of) & (rows["stage"] == "fine-tuned")]
    rows = rows[(rows["measure"] == "copy") & (rows["layer"] == worst["layer"])]
    rows = rows[rows["head"] == worst["head"]]
    if rows.empty:
        return []
    number, n = mean_of(rows, "excess", 100), int(rows["n"].max())
    about = f"{worst['name']}, {100 * worst[column]:+.1f} points where disabled"
    return [Measured(*number, n, "examples", TITLES[of], _seeds(rows), about=about, task=of)]


def cls_early_sep_late(products: Products, of: str) -> list[Measured]:
    """Percent points by which [SEP] over [CLS] gains from the lower to the upper half of layers."""
    numbers = []
    for task, rows in _features(products, "all"):
        kinds = dict(list(rows))
        halves = [
            minus(*(Measured(*mean_of(at_depth(kinds[k], *part), "attention", 100)) for k in pair))
            for part in ((7, 12), (1, 6))
            for pair in (("sep", "cls"),)
        ]
        upper, lower = (Measured(*half) for half in halves)
        numbers.append(Measured(*minus(upper, lower), case=TITLES[task], task=task))
    return numbers


def cls_attends_to_sep(products: Products, of: str) -> list[Measured]:
    """Attention in percent of [CLS] in the last layer to [SEP] minus the next best kind."""
    numbers = []
    for task, rows in _features(products, "cls"):
        kinds = {}
        for kind, part in rows:
            last = part[part["layer"] == part["layer"].max()]
            kinds[kind] = Measured(*mean_of(last, "attention", 100))
        others = [kind for kind in kinds if kind != "sep"]
        most = max(others, key=lambda kind: kinds[kind].value)
        words = {"case": TITLES[task], "about": f"against {most}"}
        numbers.append(Measured(*minus(kinds["sep"], kinds[most]), task=task, **words))
    return numbers


def _features(products: Products, query: str) -> Iterator[tuple[str, object]]:
    frame = products.all_of(KINDS)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == query)]
    for task, rows in frame.groupby("task", sort=False):
        yield str(task), list(rows.groupby("kind", sort=False))


def _sum(numbers: Iterator[Measured]) -> Measured:
    parts = list(numbers)
    ends = (sum(getattr(part, name) for part in parts) for name in ("value", "low", "high"))
    return Measured(*ends, n=parts[0].n)


def _seeds(rows: pd.DataFrame) -> int | None:
    return int(np.unique(rows["seed"]).size) if "seed" in rows else None


MEASURES = (
    classifier_f1,
    class_share,
    frame_heads,
    frame_attention,
    last_layers_change,
    glue_score,
    pretraining_gain,
    special_over_words,
    costly_head_and_shared_words,
    cls_early_sep_late,
    cls_attends_to_sep,
)
