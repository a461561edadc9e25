"""Our numbers for the claims of Michel et al. 2019 about translators' heads: a case a run."""

from collections.abc import Iterator

import pandas as pd

from workflow_scripts.claims.intervals import bounded, share
from workflow_scripts.claims.noise import too_noisy
from workflow_scripts.claims.products import NotMeasured, Products
from workflow_scripts.claims.translators import (
    CROSS,
    case_of,
    minus_type,
    of_translators,
    over_sentences,
)
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.model.sublayers import TYPES
from workflow_scripts.translation.measures import OF_TYPES, SCORES

CHOSEN_ON, MEASURED_ON = "validation", "test"
VALUE, EFFECT = (("value", "ci_low", "ci_high"), ("effect", "ci_low", "ci_high"))
OVER_HEADS = "95% over heads"


def type_gap(products: Products, of: str) -> list[Measured]:
    """BLEU that encoder-decoder attention loses over each other type; `of` is the measure.

    That is the difference of the two types' values; the interval resamples sentences, the same for
    both.
    """
    types = products.all_of(OF_TYPES)
    types = types[(types["split"] == MEASURED_ON) & (types["type"] == CROSS)]
    types = types[types["measure"] == of]
    alone = types[types["other"] == ""].set_index("run")["value"]
    numbers = []
    for row in types[types["other"] != ""].to_dict("records"):
        run, about = row["run"], f"{TYPES[CROSS]}: {alone[row['run']]:+.2f}"
        ends, part = (row[name] for name in VALUE), minus_type(row["other"])
        numbers.append(over_sentences(ends, row, run, part, about))
    return numbers


def one_head_left(products: Products, of: str) -> list[Measured]:
    """The effect on BLEU of keeping only one head in a layer, on the test set.

    `of` is like "last test": that of the last layer's encoder-decoder attention, or of the `others`
    the smallest effect, and the set on which the head is chosen: the test set itself, as in
    Table 2, or the validation set, as in Table 5.
    """
    layers, chosen_on = of.split()
    numbers = []
    for run, rows in _best_left(products, chosen_on):
        last = (rows["type"] == CROSS) & (rows["layer"] == rows["layer"].max())
        rows = rows[last if layers == "last" else ~last]
        row = rows.loc[rows["effect"].idxmin()]
        about = f"{TYPES[row['type']]} {row['layer'] + 1}-{row['head'] + 1}"
        numbers.append(over_sentences([row[name] for name in EFFECT], row, run, about=about))
    return numbers


def translator_layers_of_one_head(products: Products, of: str) -> list[Measured]:
    """Percent of all types' layers that lose no BLEU significantly with their best head alone.

    `of` is like "test 0.01 0.5": the set on which the head is chosen, and the numbers of
    translator_heads_without_loss.
    """
    chosen_on, level, most = of.split()
    return [
        _without_loss(rows, float(level), float(most), "layers", run)
        for run, rows in _best_left(products, chosen_on)
    ]


def translator_heads_without_loss(products: Products, of: str) -> list[Measured]:
    """Percent of a type's heads whose masking alone loses no BLEU significantly.

    `of` is like "encoder 0.01 0.5". By the paper's criterion a loss has a p below the first number,
    of a paired bootstrap and uncorrected; next to it the heads by our test, corrected. The lower
    end counts the heads that surely lose less than the second number of BLEU, of those without a
    significant loss. The smallest losses that are significant in the paper are of 0.31 (Table 1),
    0.36 and 0.42: a study that cannot exclude half a point has not seen that nothing is lost.
    """
    kind, level, most = of.split()
    return [
        _without_loss(rows[rows["type"] == kind], float(level), float(most), "heads", run)
        for run, rows in _bleu(products, "head", MEASURED_ON)
    ]


def _without_loss(rows: pd.DataFrame, level: float, most: float, of: str, run: str) -> Measured:
    lost = rows["effect"] < 0
    corrected = int((lost & (rows["p_corrected"] < 0.05)).sum())
    about = f"{corrected} with a loss at a corrected p below 0.05"
    free, sure = ~(lost & (rows["p_paper"] < level)), rows["ci_low"] > -most
    return bounded(sure, free, of, case=case_of(run), about=about, run=run)


def significant_heads(products: Products, of: str) -> list[Measured]:
    """Percent of a type's heads that change BLEU with p below a level; `of` is "encoder 0.01"."""
    kind, level = of.split()
    numbers = []
    for run, rows in _bleu(products, "head", MEASURED_ON):
        rows = rows[rows["type"] == kind]
        n, count = len(rows), int((rows["p_paper"] < float(level)).sum())
        ends = 100 * count / n, *share(count, n)
        more = {"run": run, "interval": OVER_HEADS}
        numbers.append(Measured(*ends, n, "heads", case_of(run), **more))
    return numbers


def better_heads(products: Products, of: str) -> list[Measured]:
    """Percent that raise BLEU when masked, of the heads that significant_heads counts."""
    kind, level = of.split()
    numbers = []
    for run, rows in _bleu(products, "head", MEASURED_ON):
        rows = rows[(rows["type"] == kind) & (rows["p_paper"] < float(level))]
        if len(rows):
            n, count = len(rows), int((rows["effect"] > 0).sum())
            ends = 100 * count / n, *share(count, n)
            more = {"run": run, "interval": OVER_HEADS}
            numbers.append(Measured(*ends, n, "heads", case_of(run), **more))
    return numbers


def translator_agreement(products: Products, of: str) -> list[Measured]:
    """Correlation of all heads' effects on BLEU on the test set and on one of another domain.

    `of` is the paper's correlation. The number is not comparable where the effects are too noisy
    for it. The interval resamples heads. Raises NotMeasured where the study has no other domain.
    """
    table = products.rows("michel2019-translation-pairs", mode="zero", metric="bleu", type="all")
    rows = table[(table["kind"] == "splits") & (table["one"] == MEASURED_ON)]
    rows = rows[rows["other"] != CHOSEN_ON]
    if rows.empty:
        raise NotMeasured("the study has no test set of another domain (translation.data.domains)")
    halves = table[table["kind"] == "halves"].set_index(["run", "one"])["pearson"]
    numbers = []
    for _, row in rows.iterrows():
        one, other = (halves[row["run"], row[split]] for split in ("one", "other"))
        more = {"about": f"halves of {row['one']}: {one:.2f}, of {row['other']}: {other:.2f}"}
        more |= {"not_comparable": too_noisy(one, other, float(of)), "run": str(row["run"])}
        ends = (row[name] for name in ("pearson", "pearson_low", "pearson_high"))
        case = case_of(row["run"], f"{row['one']} and {row['other']}")
        numbers.append(Measured(*ends, int(row["n"]), "heads", case, interval=OVER_HEADS, **more))
    return numbers


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


MEASURES = tuple(
    map(
        of_translators,
        (
            type_gap,
            one_head_left,
            translator_layers_of_one_head,
            translator_heads_without_loss,
            significant_heads,
            better_heads,
            translator_agreement,
        ),
    )
)
