"""Our numbers for what Kovaleva et al. 2019 state about fine-tuned attention (4.3 to 5)."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from workflow_scripts.ablation.measures import HEADS
from workflow_scripts.claims.clark import at_depth, layers_of
from workflow_scripts.claims.glue_rows import NAMES, TITLES
from workflow_scripts.claims.intervals import (
    BOUNDS,
    WIDEST,
    WIDEST_RATIO,
    counted,
    mean_of,
    minus,
    share,
)
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.finetuning.measures import KINDS, LINKS, SHARED, SIMILARITY

NO_WORDS = ("cls", "sep", "punctuation")
OF_TOKENS = {"cls": "[CLS]", "sep": "[SEP]"}


def last_layers_change(products: Products, of: str) -> list[Measured]:
    """How much less similar the last layers' maps are than those of any other, in percent.

    The last sixth of the layers, two of twelve: the least changed of them against the most changed
    of the others. Not on tasks that the paper excepts, whose titles are in `of`. Raises NotMeasured
    where the last sixth of a model has no layer.
    """
    numbers = []
    for task, rows in products.all_of(SIMILARITY).groupby("task", sort=False):
        if TITLES[task] in of.split():
            continue
        last = set(at_depth(rows, 11, 12)["layer"])
        if not last:
            raise NotMeasured(f"{rows['layer'].nunique()} layers are too few for a last sixth")
        layers = {
            layer: Measured(*mean_of(part, "similarity", 100), about=f"layer {layer + 1}")
            for layer, part in rows.groupby("layer")
        }
        least = max((layers[layer] for layer in last), key=_value)
        other = min((layers[layer] for layer in layers if layer not in last), key=_value)
        about = f"{least.value:.1f} in {least.about} against {other.value:.1f} in {other.about}"
        more = {"seeds": _seeds(rows), "about": about, "task": task, "interval": WIDEST}
        n = int(rows["n"].max())
        numbers.append(Measured(*minus(other, least), n, "examples", TITLES[task], **more))
    return numbers


def words_to_special(products: Products, of: str) -> list[Measured]:
    """Attention to the words with most, in percent of that to [CLS], and of that to [SEP].

    As in the paper, of a kind's tokens the most attended counts. On each task, after fine-tuning,
    on average over heads.
    """
    numbers = []
    for task, rows in _features(products, "all"):
        kinds = _means(rows)
        words = [kind for kind in kinds if kind not in NO_WORDS]
        most = max(words, key=lambda kind: kinds[kind].value)
        word = kinds[most]
        for special, name in OF_TOKENS.items():
            to = kinds[special]
            ends = (word.value, to.value), (word.low, to.high), (word.high, to.low)
            number = (100 * part / whole for part, whole in ends)
            about = f"{word.value:.1f}% to a {most} against {to.value:.1f}% to {name}"
            more = {"case": f"{TITLES[task]}, {name}", "about": about, "task": task}
            more |= {"interval": WIDEST_RATIO, "seeds": _seeds(rows)}
            numbers.append(Measured(*number, to.n, "examples", **more))
    return numbers


def special_by_depth(products: Products, of: str) -> list[Measured]:
    """Percent points of attention by which one special token gets more than another.

    `of` is like "cls over sep, layers 1-6", of twelve; on each task, on average over heads. The
    paper speaks of early and of late layers: `about` states both numbers of the others, too.
    """
    pair, depth = of.split(", layers ")
    first, last = map(int, depth.split("-"))
    numbers = []
    for task, rows in _features(products, "all"):
        chosen = at_depth(rows, first, last)
        parts = chosen, rows.drop(chosen.index)
        both = [[_means(part)[kind] for kind in pair.split(" over ")] for part in parts]
        means = (" against ".join(f"{kind.value:.1f}" for kind in kinds) for kinds in both)
        shown = zip(means, map(layers_of, parts), strict=True)
        about = "; ".join(f"{numbers}%, {layers}" for numbers, layers in shown)
        one, other = both[0]
        more = {"about": about, "task": task, "interval": WIDEST, "seeds": _seeds(rows)}
        numbers.append(Measured(*minus(one, other), one.n, "examples", TITLES[task], **more))
    return numbers


def cls_attends(products: Products, of: str) -> list[Measured]:
    """Attention in percent of [CLS] in the last layer to a kind of tokens minus the next best kind.

    `of` is like "sep on MRPC SST-2": the kind, and the tasks that the statement is about.
    """
    wanted, tasks = of.split(" on ")
    numbers = []
    for task, rows in _features(products, "cls"):
        kinds = _means(rows[rows["layer"] == rows["layer"].max()])
        if TITLES[task] not in tasks.split() or wanted not in kinds:
            continue
        most = max((kind for kind in kinds if kind != wanted), key=lambda kind: kinds[kind].value)
        about = f"{kinds[wanted].value:.1f}% against {kinds[most].value:.1f}% to {most}"
        more = {"about": about, "task": task, "interval": WIDEST, "seeds": _seeds(rows)}
        number = minus(kinds[wanted], kinds[most])
        numbers.append(Measured(*number, kinds[wanted].n, "examples", TITLES[task], **more))
    return numbers


def candidates_diagonal(products: Products, of: str) -> list[Measured]:
    """How many of the three heads with most attention along a link have diagonal maps.

    That is, give more than half of their attention to the previous and the next token; on each
    task, after fine-tuning, for each link of `of`.
    """
    table = products.rows("kovaleva2019-links", stage="fine-tuned", far=False)
    of_seeds = products.all_of(LINKS)
    numbers = []
    for (task, link), rows in table.groupby(["task", "link"], sort=False):
        if link not in of.split():
            continue
        number = counted(*(rows[f"neighbours{end}"] > 0.5 for end in ("_low", "", "_high")))
        shares = zip(rows["head"], rows["neighbours"], strict=True)
        about = ", ".join(f"{head}: {100 * share:.0f}%" for head, share in shares)
        more = {"of": "heads", "case": f"{task}, {link}", "about": about, "interval": BOUNDS}
        more |= {"seeds": _seeds(of_seeds[of_seeds["task"] == NAMES[task]]), "task": NAMES[task]}
        numbers.append(replace(number, **more))
    return numbers


def adjacent_links(products: Products, of: str) -> list[Measured]:
    """Percent of a task's links `of` whose tokens are neighbours."""
    numbers = []
    frame = products.all_of(LINKS)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["link"] == of)]
    for task, rows in frame.groupby("task", sort=False):
        n, far = (int(rows[rows["far"] == only]["links"].max()) for only in (False, True))
        if n:
            number = 100 * (n - far) / n, *share(n - far, n)
            more = {"task": task, "interval": "95% as if links were independent"}
            numbers.append(Measured(*number, n, "links", TITLES[task], **more))
    return numbers


def costly_head_and_shared_words(products: Products, of: str) -> list[Measured]:
    """Points of attention, per token, by which a head prefers copies of words to other words.

    Of the head whose disabling costs most on the task `of`, after fine-tuning: from a word that
    both sentences have to the tokens of its copy, minus those of the other words there.
    """
    heads, column = products[HEADS], f"effect_{of}"
    if column not in heads:
        raise NotMeasured(f"{HEADS.name} has no {column}")
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


def _features(products: Products, query: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each task's attention to kinds of tokens from a query, after fine-tuning."""
    frame = products.all_of(KINDS)
    frame = frame[(frame["stage"] == "fine-tuned") & (frame["query"] == query)]
    for task, rows in frame.groupby("task", sort=False):
        yield str(task), rows


def _means(rows: pd.DataFrame) -> dict[str, Measured]:
    """Mean over heads of the attention in percent to each kind that occurs."""
    return {
        str(kind): Measured(*mean_of(part, "attention", 100), n=int(part["n"].max()))
        for kind, part in rows.groupby("kind", sort=False)
        if part["attention"].notna().any()
    }


def _value(measured: Measured) -> float:
    return measured.value


def _seeds(rows: pd.DataFrame) -> int:
    return int(rows["seed"].nunique())


MEASURES = (
    last_layers_change,
    words_to_special,
    special_by_depth,
    cls_attends,
    candidates_diagonal,
    adjacent_links,
    costly_head_and_shared_words,
)
