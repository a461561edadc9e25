"""Our numbers for the claims of Michel et al. 2019 about translators: a case for each run."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

import pandas as pd

from workflow_scripts.claims.numbers import (
    OVER_HEADS,
    apart,
    area,
    between_sets,
    bounded,
    columns_of,
    order_of_noise,
    row_number,
    share_number,
)
from workflow_scripts.claims.products import AnyTable, Cases, NotMeasured, Products, measure
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.heads import ATTENTION_TYPES
from workflow_scripts.translation.measures import CURVES, OF_TYPES, SCORES, TRAINING

CROSS = "encoder-decoder"
CHOSEN_ON, MEASURED_ON = "validation", "test"
LEAST = 10.0  # BLEU from which on a model counts as translating
LEAST_EARLY = 1.0  # BLEU below which a share of it is of smoothing; the paper's first epoch has 3.0
AT_LEAST_SENTENCES = "at least 95% over sentences"

Measures = Callable[..., Iterable[Measured]]


@measure(CURVES)
def base_bleu(products: Products) -> Cases:
    """BLEU of the intact translator; the interval resamples sentences."""
    for run, rows in _curves(products, "all"):
        row = rows.loc[rows["pruned"] == 0].iloc[0]
        yield _run_number(row, "score", run)


def measure_of_translators(*tables: AnyTable) -> Callable[[Measures], Measures]:
    """Enter a measure whose number is not comparable where the intact model hardly translates."""

    def enter(measured: Measures) -> Measures:
        @measure(CURVES, *tables)
        @wraps(measured)
        def numbers(products: Products, **arguments: Any) -> list[Measured]:
            bleu = {number.run: number.value for number in base_bleu(products)}
            return [
                replace(number, not_comparable=f"a model of {found:.1f} BLEU hardly translates")
                if (found := bleu[number.run]) < LEAST
                else number
                for number in measured(products, **arguments)
            ]

        return numbers

    return enter


def _curves(
    products: Products, scope: str, strategy: str = "importance"
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and its curve of BLEU, pruned in an order."""
    rows = products.all_of(CURVES)
    rows = rows[(rows["strategy"] == strategy) & (rows["metric"] == "bleu")]
    for run, of_run in rows[rows["scope"] == scope].groupby("run", sort=False):
        yield str(run), of_run


def _case(run: object, part: str = "") -> str:
    """A run, and what of it is meant, for people; printed tables have the seed as a number."""
    words = f"seed {run}" if str(run).isdigit() else str(run)
    return f"{words}, {part}" if part else words


def _minus_type(other: str) -> str:
    """Encoder-decoder attention minus another type, for people."""
    return f"{ATTENTION_TYPES[CROSS]} minus {ATTENTION_TYPES[other]}"


def _run_number(
    row: Any, name: str, run: str, part: str = "", scale: float = 1, **more: Any
) -> Measured:
    """A number of a run, or of a part of it, with its interval over sentences."""
    return row_number(row, name, "sentences", scale, case=_case(run, part), run=run, **more)


@measure_of_translators(OF_TYPES)
def type_gap(products: Products, effect: str) -> Cases:
    """BLEU that encoder-decoder attention loses over each other type, by an effect of the table.

    That is the difference of the two types' values; the interval resamples sentences, the same for
    both.
    """
    types = products.all_of(OF_TYPES)
    types = types[(types["split"] == MEASURED_ON) & (types["type"] == CROSS)]
    types = types[types["measure"] == effect]
    alone = types[types["other"] == ""].set_index("run")["value"]
    for row in types[types["other"] != ""].to_dict("records"):
        run, about = row["run"], f"{ATTENTION_TYPES[CROSS]}: {alone[row['run']]:+.2f}"
        yield _run_number(row, "value", run, _minus_type(row["other"]), about=about)


@measure_of_translators(SCORES)
def one_head_left(products: Products, layers: str, chosen_on: str) -> Cases:
    """The effect on BLEU of keeping only one head in a layer, on the test set.

    That of the last layer's encoder-decoder attention (`last`), or of the `others` the smallest
    effect. The head is chosen on the test set itself, as in Table 2, or on the validation set, as
    in Table 5.
    """
    for run, rows in _best_left(products, chosen_on):
        last = (rows["type"] == CROSS) & (rows["layer"] == rows["layer"].max())
        rows = rows[last if layers == "last" else ~last]
        row = rows.loc[rows["effect"].idxmin()]
        about = f"{ATTENTION_TYPES[row['type']]} {row['layer'] + 1}-{row['head'] + 1}"
        yield _run_number(row, "effect", run, about=about)


@measure_of_translators(SCORES)
def translator_layers_of_one_head(
    products: Products, chosen_on: str, level: float, most: float
) -> list[Measured]:
    """Percent of all types' layers that lose no BLEU significantly with their best head alone.

    The numbers are those of translator_heads_without_loss.
    """
    return [
        _without_loss(rows, level, most, "layers", run)
        for run, rows in _best_left(products, chosen_on)
    ]


@measure_of_translators(SCORES)
def translator_heads_without_loss(
    products: Products, attention: str, level: float, most: float
) -> list[Measured]:
    """Percent of a type's heads whose masking alone loses no BLEU significantly.

    By the paper's criterion a loss has a p below the level, of a paired bootstrap and uncorrected;
    next to it the heads by our test, corrected. The lower end counts the heads that surely lose
    less than `most` of BLEU, of those without a significant loss. The smallest losses that are
    significant in the paper are of 0.31 (Table 1), 0.36 and 0.42: a study that cannot exclude half
    a point has not seen that nothing is lost.
    """
    return [
        _without_loss(rows, level, most, "heads", run) for run, rows in _masked(products, attention)
    ]


def _without_loss(rows: pd.DataFrame, level: float, most: float, of: str, run: str) -> Measured:
    lost = rows["effect"] < 0
    corrected = int((lost & (rows["p_corrected"] < 0.05)).sum())
    about = f"{corrected} with a loss at a corrected p below 0.05"
    free, sure = ~(lost & (rows["p_paper"] < level)), rows["ci_low"] > -most
    return bounded(sure, free, of, case=_case(run), about=about, run=run)


@measure_of_translators(SCORES)
def significant_heads(products: Products, attention: str, level: float) -> list[Measured]:
    """Percent of a type's heads that change BLEU with p below a level."""
    return [
        _share((rows["p_paper"] < level).sum(), len(rows), run)
        for run, rows in _masked(products, attention)
    ]


@measure_of_translators(SCORES)
def better_heads(products: Products, attention: str, level: float) -> list[Measured]:
    """Percent that raise BLEU when masked, of the heads that significant_heads counts."""
    return [
        _share((rows["effect"] > 0).sum(), len(rows), run)
        for run, masked in _masked(products, attention)
        if len(rows := masked[masked["p_paper"] < level])
    ]


def _share(count: int, n: int, run: str) -> Measured:
    return share_number(int(count), n, "heads", case=_case(run), run=run, interval=OVER_HEADS)


@measure_of_translators("michel2019-translation-pairs")
def translator_agreement(products: Products, correlation: float) -> Cases:
    """Correlation of all heads' effects on BLEU on the test set and on one of another domain.

    `correlation` is the paper's. The number is not comparable where the effects are too noisy for
    it. The interval resamples heads. Raises NotMeasured where the study has no other domain.
    """
    table = products.rows("michel2019-translation-pairs", mode="zero", metric="bleu", type="all")
    rows = table[(table["kind"] == "splits") & (table["one"] == MEASURED_ON)]
    rows = rows[rows["other"] != CHOSEN_ON]
    if rows.empty:
        raise NotMeasured("the study has no test set of another domain (translation.data.domains)")
    halves = table[table["kind"] == "halves"].set_index(["run", "one"])["pearson"]
    for row in rows.to_dict("records"):
        of_both = (halves[row["run"], row[split]] for split in ("one", "other"))
        case = _case(row["run"], f"{row['one']} and {row['other']}")
        yield between_sets(row, *of_both, correlation, case, run=str(row["run"]))


def _masked(products: Products, attention: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and the effects on BLEU of masking a type's heads, on the test set."""
    for run, rows in _bleu(products, "head", MEASURED_ON):
        yield run, rows[rows["type"] == attention]


def _bleu(products: Products, unit: str, split: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and the effects on BLEU of masking by gates of 0."""
    rows = products.all_of(SCORES)
    rows = rows[(rows["unit"] == unit) & (rows["split"] == split)]
    rows = rows[(rows["mode"] == "zero") & (rows["metric"] == "bleu")]
    for run, of_run in rows.groupby("run", sort=False):
        yield str(run), of_run


def _best_left(products: Products, chosen_on: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and, for each type and layer, the head that is best left alone on a set.

    The rows are those of the test set.
    """
    keys = ["type", "layer"]
    measured = dict(_bleu(products, "all-but-one", MEASURED_ON))
    for run, chosen in _bleu(products, "all-but-one", chosen_on):
        best = chosen.loc[chosen.groupby(keys)["effect"].idxmax(), [*keys, "head"]]
        yield run, best.merge(measured[run], on=[*keys, "head"])


@measure_of_translators()
def kept_bleu(products: Products, share: float, attention: tuple[str, ...]) -> list[Measured]:
    """Percent of BLEU that is retained with a share of the heads pruned by importance.

    Of `all` heads, or of each type of which as many are pruned. The step nearest to it counts.
    """
    return [
        _kept(row, run, "" if scope == "all" else ATTENTION_TYPES[scope])
        for scope in attention
        for run, row in _at_share(products, scope, share).items()
    ]


@measure_of_translators()
def kept_gap(products: Products, share: float) -> list[Measured]:
    """Percentage points of BLEU retained with encoder-decoder heads pruned, over each other type.

    The share is of the type's own heads.
    """
    numbers, cross = [], _at_share(products, CROSS, share)
    for other in (name for name in ATTENTION_TYPES if name != CROSS):
        for run, row in _at_share(products, other, share).items():
            one, two = _kept(cross[run], run), _kept(row, run)
            about = f"{one.value:.1f}% and {two.value:.1f}%"
            more = {"n": one.n, "of": one.of, "run": run, "case": _case(run, _minus_type(other))}
            numbers.append(apart(one, two, about=about, **more))
    return numbers


@measure_of_translators()
def kept_area(products: Products) -> Cases:
    """Percentage points of BLEU that importance retains over scores, on average over all shares.

    The average is the area of the curve, by trapezoids. Not comparable where the order by scores
    does not surely beat the random one, if there is one.
    """
    ones, others, random = (
        {run: (_area(rows), rows.iloc[0]) for run, rows in _curves(products, "all", order)}
        for order in ("importance", "score", "random")
    )
    for run in (name for name in ones if name in others):
        (first, row), (second, _) = ones[run], others[run]
        third = random[run][0] if run in random else None
        about = f"{first.value:.1f}% and {second.value:.1f}%"
        about += f"; a random order: {third.value:.1f}%" if third else ""
        more = {"n": int(row["n"]), "of": "sentences", "case": _case(run), "run": run}
        more |= {"about": about, "not_comparable": order_of_noise(second, third)}
        yield apart(first, second, **more)


@measure_of_translators(TRAINING)
def kept_in_training(
    products: Products, share: float, first_epoch: int, last_epoch: float = math.inf
) -> list[Measured]:
    """Percent of an epoch's BLEU that is retained with a share of the heads pruned by importance.

    A case for each epoch whose curve was measured. Raises NotMeasured where none was.
    """
    return [
        replace(_kept(_nearest(curve, share), *case), not_comparable=_early(curve))
        for case, curve in _epochs(products, first_epoch, last_epoch)
    ]


@measure_of_translators(TRAINING)
def above_proportion(products: Products, first_epoch: int, last_epoch: float = math.inf) -> Cases:
    """Percentage points of BLEU retained beyond the share of heads left, on average over shares.

    That is the area between an epoch's curve, pruned by importance, and the straight line from all
    to nothing.
    """
    for (run, part), curve in _epochs(products, first_epoch, last_epoch):
        kept, shares = _area(curve), 100 * curve["share"]
        line = 100 - (shares.max() + shares.min()) / 2  # the mean height of the straight line
        base = curve["baseline"].iloc[0]
        about = f"{kept.value:.1f}% of {base:.1f} BLEU, mean over shares up to {shares.max():.0f}%"
        yield Measured(
            kept.value - line,
            kept.low - line,
            kept.high - line,
            int(curve["n"].iloc[0]),
            "sentences",
            _case(run, part),
            about=about,
            run=run,
            not_comparable=_early(curve),
            interval=AT_LEAST_SENTENCES,
        )


def _epochs(
    products: Products, first: int, last: float
) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """The run and name of each measured epoch of a span, and its curve of BLEU."""
    rows = products.all_of(TRAINING, named="epochs of a translator's training")
    rows = rows[(rows["metric"] == "bleu") & rows["epoch"].between(first, last)]
    if rows.empty:
        span = f"{first}-" if math.isinf(last) else f"{first}-{last:g}"
        raise NotMeasured(f"no translator's training has a measured epoch of {span}")
    for (run, epoch), curve in rows.groupby(["run", "epoch"], sort=False):
        yield (str(run), f"epoch {epoch}"), curve


def _early(curve: pd.DataFrame) -> str:
    """Why an epoch's number is not comparable: its model does not translate yet; else empty."""
    base = curve["baseline"].iloc[0]
    few = f"with {base:.1f} BLEU before pruning there is nothing to lose"
    return few if base < LEAST_EARLY else ""


def _area(rows: pd.DataFrame) -> Measured:
    """The percent of BLEU retained on average over all shares pruned; mean over random orders."""
    kept = list(columns_of(rows, "kept"))
    return area(rows.groupby("share", as_index=False)[kept].mean(), "kept")


def _nearest(curve: pd.DataFrame, share: float) -> pd.Series:
    """The row whose share of pruned heads is nearest to one in percent."""
    return curve.loc[(100 * curve["share"] - share).abs().idxmin()]


def _at_share(products: Products, scope: str, at: float) -> dict[str, pd.Series]:
    """The row of each run whose share of pruned heads, in percent, is nearest to `at`."""
    return {run: _nearest(rows, at) for run, rows in _curves(products, scope)}


def _kept(row: pd.Series, run: str, part: str = "") -> Measured:
    about = f"{100 * row['share']:.0f}% of {row['heads']} heads, BLEU {row['score']:.1f}"
    about += f" of {row['baseline']:.1f}"
    return _run_number(row, "kept", run, part, 100, about=about)
