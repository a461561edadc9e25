"""Our numbers for the claims of Michel et al. 2019 about translators: a case for each run."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

import pandas as pd

from workflow_scripts.claims.intervals import counted, minus, of_correlation, share
from workflow_scripts.claims.products import Products
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.model.sublayers import TYPES
from workflow_scripts.translation.measures import CURVES, EPOCHS, OF_TYPES, SCORES

CHOSEN_ON, MEASURED_ON = "validation", "test"
CROSS = "encoder-decoder"
INTERVAL = ("value", "ci_low", "ci_high")
SCORE, EFFECT = (("score", *INTERVAL[1:]), ("effect", *INTERVAL[1:]))
LEAST = 10.0  # BLEU from which on a model counts as translating


def base_bleu(products: Products, of: str) -> list[Measured]:
    """BLEU of the intact translator; the interval resamples sentences."""
    numbers = []
    for run, rows in _curves(products, "all"):
        row = rows.loc[rows["pruned"] == 0].iloc[0]
        numbers.append(_over_sentences([row[name] for name in SCORE], row, run))
    return numbers


def kept_bleu(products: Products, of: str) -> list[Measured]:
    """Percent of BLEU that is kept with a share of the heads pruned by importance.

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
    """Points of percent of BLEU that pruning encoder-decoder attention keeps over each other type.

    `of` is the percentage of the type's own heads. The interval is the widest that theirs allow.
    """
    numbers, cross = [], _at_share(products, CROSS, float(of))
    for other in (name for name in TYPES if name != CROSS):
        for run, row in _at_share(products, other, float(of)).items():
            one, two = _kept(cross[run], run), _kept(row, run)
            about = f"{one.value:.1f}% and {two.value:.1f}%"
            numbers.append(_over_sentences(minus(one, two), cross[run], run, _minus(other), about))
    return numbers


def type_gap(products: Products, of: str) -> list[Measured]:
    """BLEU that encoder-decoder attention loses over each other type; `of` is the measure.

    That is the difference of the two types' values; the interval resamples sentences, the same
    for both.
    """
    types = products.all_of(OF_TYPES)
    types = types[(types["measure"] == of) & (types["split"] == MEASURED_ON)]
    types = types[types["type"] == CROSS]
    alone = types[types["other"] == ""].set_index("run")["value"]
    numbers = []
    for row in types[types["other"] != ""].to_dict("records"):
        run, pair = row["run"], _minus(row["other"])
        about = f"{TYPES[CROSS]}: {alone[run]:+.2f}"
        numbers.append(_over_sentences([row[name] for name in INTERVAL], row, run, pair, about))
    return numbers


def one_head_left(products: Products, of: str) -> list[Measured]:
    """The effect on BLEU of leaving one head in the last layer's encoder-decoder attention.

    With `of` "others" the smallest such effect elsewhere. The head is the best one on the
    validation set, the effect that on the test set.
    """
    numbers = []
    for run, rows in _best_left(products):
        last = (rows["type"] == CROSS) & (rows["layer"] == rows["layer"].max())
        rows = rows[last if of == "last" else ~last]
        row = rows.loc[rows["effect"].idxmin()]
        about = f"{TYPES[row['type']]} {row['layer'] + 1}-{row['head'] + 1}"
        numbers.append(_over_sentences([row[name] for name in EFFECT], row, run, about=about))
    return numbers


def layers_of_one_head(products: Products, of: str) -> list[Measured]:
    """Percent of all types' layers that lose less than `of` BLEU with their best head alone."""
    numbers, most = [], -float(of)
    for run, rows in _best_left(products):
        number = counted(*(rows[name] > most for name in ("ci_low", "effect", "ci_high")))
        ends = (100 * x / len(rows) for x in (number.value, number.low, number.high))
        numbers.append(Measured(*ends, len(rows), "layers", _case(run), run=run))
    return numbers


def heads_without_loss(products: Products, of: str) -> list[Measured]:
    """Percent of heads whose masking alone does not lower BLEU with p below `of`.

    By the paper's paired bootstrap, uncorrected; next to it the heads by ours, corrected.
    """
    numbers = []
    for run, rows in _masked(products):
        lost = rows["effect"] < 0
        n, harmful = len(rows), int((lost & (rows["p_paper"] < float(of))).sum())
        corrected = int((lost & (rows["p_corrected"] < 0.05)).sum())
        about = f"{corrected} with a loss at a corrected p below 0.05"
        ends = 100 - 100 * harmful / n, *share(n - harmful, n)
        numbers.append(Measured(*ends, n, "heads", _case(run), about=about, run=run))
    return numbers


def significant_heads(products: Products, of: str) -> list[Measured]:
    """Percent of a type's heads that change BLEU with p below a level; `of` is "encoder 0.01"."""
    kind, level = of.split()
    numbers = []
    for run, rows in _masked(products):
        rows = rows[rows["type"] == kind]
        n, count = len(rows), int((rows["p_paper"] < float(level)).sum())
        ends = 100 * count / n, *share(count, n)
        numbers.append(Measured(*ends, n, "heads", _case(run), run=run))
    return numbers


def translator_agreement(products: Products, of: str) -> list[Measured]:
    """Correlation of all heads' effects on BLEU on two splits; the interval resamples heads."""
    wanted = {"kind": "splits", "mode": "zero", "metric": "bleu", "type": "all"}
    return [
        Measured(
            *(row[name] for name in ("pearson", "pearson_low", "pearson_high")),
            int(row["n"]),
            "heads",
            _case(row["run"], f"{row['one']} and {row['other']}"),
            run=str(row["run"]),
        )
        for _, row in products.rows("michel2019-translation-pairs", **wanted).iterrows()
    ]


def translator_epochs(products: Products, of: str) -> list[Measured]:
    """Rank correlation of importance after epoch `of` with that after the last one.

    The interval is Fisher's, as if heads were sampled independently.
    """
    epochs = products.all_of(EPOCHS)
    numbers = []
    for run, rows in epochs[epochs["epoch"] == int(of)].groupby("run", sort=False):
        r, n = float(rows["agreement"].iloc[0]), len(rows)
        numbers.append(Measured(r, *of_correlation(r, n), n, "heads", _case(run), run=run))
    return numbers


def _case(run: object, part: str = "") -> str:
    """A run, and what of it is meant, for people; printed tables have the seed as a number."""
    words = f"seed {run}" if str(run).isdigit() else str(run)
    return f"{words}, {part}" if part else words


def _minus(other: str) -> str:
    """Encoder-decoder attention minus another type, for people."""
    return f"{TYPES[CROSS]} minus {TYPES[other]}"


def _over_sentences(
    ends: Iterable[float], row: Any, run: str, part: str = "", about: str = ""
) -> Measured:
    """A number of a run, or of a part of it, with its interval over sentences."""
    return Measured(*ends, int(row["n"]), "sentences", _case(run, part), about=about, run=run)


def _curves(products: Products, scope: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and its curve of BLEU, pruned by importance."""
    rows = products.all_of(CURVES)
    rows = rows[(rows["strategy"] == "importance") & (rows["metric"] == "bleu")]
    for run, of_run in rows[rows["scope"] == scope].groupby("run", sort=False):
        yield str(run), of_run


def _at_share(products: Products, scope: str, at: float) -> dict[str, pd.Series]:
    """The row of each run whose share of pruned heads, in percent, is nearest to `at`."""
    return {
        run: rows.loc[(100 * rows["share"] - at).abs().idxmin()]
        for run, rows in _curves(products, scope)
    }


def _kept(row: pd.Series, run: str, part: str = "") -> Measured:
    ends = [100 * row[name] for name in ("kept", "kept_low", "kept_high")]
    about = f"{100 * row['share']:.0f}% of {row['heads']} heads, BLEU {row['score']:.1f}"
    return _over_sentences(ends, row, run, part, f"{about} of {row['baseline']:.1f}")


def _bleu(products: Products, unit: str, split: str) -> pd.DataFrame:
    """The effects on BLEU of masking by gates of 0."""
    rows = products.all_of(SCORES)
    rows = rows[(rows["unit"] == unit) & (rows["split"] == split)]
    return rows[(rows["mode"] == "zero") & (rows["metric"] == "bleu")]


def _masked(products: Products) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and its heads, masked one at a time."""
    for run, rows in _bleu(products, "head", MEASURED_ON).groupby("run", sort=False):
        yield str(run), rows


def _best_left(products: Products) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and, for each type and layer, the head that is best left alone.

    Chosen on the validation set; the rows are those of the test set.
    """
    keys = ["run", "type", "layer"]
    chosen = _bleu(products, "all-but-one", CHOSEN_ON)
    best = chosen.loc[chosen.groupby(keys)["effect"].idxmax(), [*keys, "head"]]
    rows = best.merge(_bleu(products, "all-but-one", MEASURED_ON), on=[*keys, "head"])
    for run, of_run in rows.groupby("run", sort=False):
        yield str(run), of_run


Measure = Callable[[Products, str], list[Measured]]


def _of_translators(measure: Measure) -> Measure:
    """The measure, whose number is not comparable where the intact model hardly translates."""

    @wraps(measure)
    def numbers(products: Products, of: str) -> list[Measured]:
        bleu = {number.run: number.value for number in base_bleu(products, "")}
        return [
            replace(number, not_comparable=f"a model of {found:.1f} BLEU hardly translates")
            if (found := bleu[number.run]) < LEAST
            else number
            for number in measure(products, of)
        ]

    return numbers


MEASURES = (
    base_bleu,
    *map(
        _of_translators,
        (
            kept_bleu,
            kept_gap,
            type_gap,
            one_head_left,
            layers_of_one_head,
            heads_without_loss,
            significant_heads,
            translator_agreement,
            translator_epochs,
        ),
    ),
)
