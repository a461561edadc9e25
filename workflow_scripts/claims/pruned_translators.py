"""Our numbers for the claims of Michel et al. 2019 about pruned translators: a case a run."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from workflow_scripts.claims.intervals import APART, apart, area
from workflow_scripts.claims.noise import order_of_noise
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.translators import (
    CROSS,
    base_bleu,
    curves,
    minus_type,
    of_translators,
    over_sentences,
)
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.model.sublayers import TYPES
from workflow_scripts.translation.measures import TRAINING

KEPT = ("kept", "kept_low", "kept_high")
AT_LEAST_SENTENCES = "at least 95% over sentences"
LEAST_EARLY = 1.0  # BLEU below which a share of it is of smoothing; the paper's first epoch has 3.0


def kept_bleu(products: Products, of: str) -> list[Measured]:
    """Percent of BLEU that is retained with a share of the heads pruned by importance.

    `of` is like "80 encoder decoder": the percentage, and `all` or the types of which as many are
    pruned. The step nearest to it counts.
    """
    at, *scopes = of.split()
    return [
        _kept(row, run, "" if scope == "all" else TYPES[scope])
        for scope in scopes
        for run, row in _at_share(products, scope, float(at)).items()
    ]


def kept_gap(products: Products, of: str) -> list[Measured]:
    """Percentage points of BLEU retained with encoder-decoder heads pruned, over each other type.

    `of` is the percentage of the type's own heads.
    """
    numbers, cross = [], _at_share(products, CROSS, float(of))
    for other in (name for name in TYPES if name != CROSS):
        for run, row in _at_share(products, other, float(of)).items():
            one, two = _kept(cross[run], run), _kept(row, run)
            about = f"{one.value:.1f}% and {two.value:.1f}%"
            gap, part = apart(one, two), minus_type(other)
            numbers.append(over_sentences(gap, cross[run], run, part, about, APART))
    return numbers


def kept_area(products: Products, of: str) -> list[Measured]:
    """Percentage points of BLEU that one order retains over another, on average over all shares.

    `of` is like "importance over score". The average is the area of the curve, by trapezoids. Not
    comparable where the other order does not surely beat the random one, if there is one.
    """
    one, _, other = of.split()
    ones, others, random = (
        {run: (_area(rows), rows.iloc[0]) for run, rows in curves(products, "all", order)}
        for order in (one, other, "random")
    )
    numbers = []
    for run in (name for name in ones if name in others):
        (first, row), (second, _) = ones[run], others[run]
        third = random[run][0] if run in random else None
        about = f"{first.value:.1f}% and {second.value:.1f}%"
        about += f"; a random order: {third.value:.1f}%" if third else ""
        number = over_sentences(apart(first, second), row, run, "", about, APART)
        numbers.append(replace(number, not_comparable=order_of_noise(second, third)))
    return numbers


def kept_in_training(products: Products, of: str) -> list[Measured]:
    """Percent of an epoch's BLEU that is retained with a share of the heads pruned by importance.

    `of` is like "40 10-": the percentage, and the epochs, here from the tenth on; "1-2" are the
    first two. A case for each epoch whose curve was measured. Raises NotMeasured where none was.
    """
    at, span = of.split()
    return [
        _of_early(_kept(curve.loc[(100 * curve["share"] - float(at)).abs().idxmin()], *case), curve)
        for case, curve in _epochs(products, span)
    ]


def above_proportion(products: Products, of: str) -> list[Measured]:
    """Percentage points of BLEU retained beyond the share of heads left, on average over shares.

    That is the area between an epoch's curve, pruned by importance, and the straight line from all
    to nothing; `of` is the span of epochs, as in kept_in_training.
    """
    numbers = []
    for (run, part), curve in _epochs(products, of):
        kept, shares = _area(curve), 100 * curve["share"]
        line = 100 - (shares.max() + shares.min()) / 2  # the mean height of the straight line
        ends = (end - line for end in (kept.value, kept.low, kept.high))
        base = curve["baseline"].iloc[0]
        about = f"{kept.value:.1f}% of {base:.1f} BLEU, mean over shares up to {shares.max():.0f}%"
        number = over_sentences(ends, curve.iloc[0], run, part, about, AT_LEAST_SENTENCES)
        numbers.append(_of_early(number, curve))
    return numbers


def _epochs(products: Products, span: str) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """The run and name of each measured epoch of a span, and its curve of BLEU."""
    first, _, last = span.partition("-")
    rows = products.all_of(TRAINING, named="epochs of a translator's training")
    rows = rows[(rows["metric"] == "bleu") & (rows["epoch"] >= int(first))]
    if last:
        rows = rows[rows["epoch"] <= int(last)]
    if rows.empty:
        raise NotMeasured(f"no translator's training has a measured epoch of {span}")
    for (run, epoch), curve in rows.groupby(["run", "epoch"], sort=False):
        yield (str(run), f"epoch {epoch}"), curve


def _of_early(number: Measured, curve: pd.DataFrame) -> Measured:
    """The number, which is not comparable where the epoch's model does not translate yet."""
    if (base := curve["baseline"].iloc[0]) >= LEAST_EARLY:
        return number
    why = f"with {base:.1f} BLEU before pruning there is nothing to lose"
    return replace(number, not_comparable=why)


def _area(rows: pd.DataFrame) -> Measured:
    """The percent of BLEU retained on average over all shares pruned; mean over random orders."""
    rows = rows.groupby("share", as_index=False)[list(KEPT)].mean()
    return Measured(*(100 * x for x in area(rows["share"], rows, KEPT)))


def _at_share(products: Products, scope: str, at: float) -> dict[str, pd.Series]:
    """The row of each run whose share of pruned heads, in percent, is nearest to `at`."""
    return {
        run: rows.loc[(100 * rows["share"] - at).abs().idxmin()]
        for run, rows in curves(products, scope)
    }


def _kept(row: pd.Series, run: str, part: str = "") -> Measured:
    ends = [100 * row[name] for name in KEPT]
    about = f"{100 * row['share']:.0f}% of {row['heads']} heads, BLEU {row['score']:.1f}"
    return over_sentences(ends, row, run, part, f"{about} of {row['baseline']:.1f}")


MEASURES = (
    base_bleu,
    *map(of_translators, (kept_bleu, kept_gap, kept_area, kept_in_training, above_proportion)),
)
