"""Our numbers for the claims of Michel et al. 2019: classifiers, decoders, then translators."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial, wraps
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import scipy  # stats is imported at its first use: planning is spared a second

from workflow_scripts.ablation.measures import SCORES, set_title
from workflow_scripts.claims.numbers import (
    CONFIDENCE,
    OVER_DOCUMENTS,
    OVER_EXAMPLES,
    OVER_HEADS,
    apart,
    area,
    between_sets,
    bounded,
    columns_of,
    counted,
    in_percent,
    over_scores,
    over_seeds,
    row_number,
    seeds_number,
    share_number,
)
from workflow_scripts.claims.power import Z, without_effect
from workflow_scripts.claims.products import (
    NAMES,
    TEXT,
    TITLES,
    AnyTable,
    Cases,
    NotMeasured,
    Numbers,
    Products,
    main_metric,
    measure,
    on_task,
)
from workflow_scripts.claims.verdicts import Measured
from workflow_scripts.core.data.heads import ATTENTION_TYPES, head_label
from workflow_scripts.core.data.tables import where
from workflow_scripts.core.stats.agreement import RELIABLE
from workflow_scripts.translation import measures as translation

PREFERRED = {title: main_metric(name) for name, title in TITLES.items()}
DEV = "dev"
CORRELATIONS = ("pearson", "spearman", "matthews")
BY_HEADS = "from heads whose intervals exclude 0 in every mode to those no two modes differ on"
# Tables of effects by mode and of attribution: on running text, of classifiers.
MODES = ("next-token-modes", "ablation-modes")
MODE_HEADS = ("next-token-mode-heads", "ablation-mode-heads")
ATTRIBUTION = ("next-token-attribution", "ablation-attribution")
CROSS = "encoder-decoder"
CHOSEN_ON, MEASURED_ON = "validation", "test"
NEAR = 5  # points of the heads pruned; half of the paper's step
LEAST = 10.0  # BLEU from which on a model counts as translating
LEAST_EARLY = 1.0  # BLEU below which a share of it is of smoothing; the paper's first epoch has 3.0


def _in_one_metric(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of each task in one metric: accuracy or Pearson's correlation, or what there is."""
    parts = []
    for task, rows in table.groupby("task", sort=False):
        preferred = where(rows, metric=PREFERRED[str(task)])
        parts.append(preferred if len(preferred) else rows)
    return pd.concat(parts)


def _no_accuracy(metric: str) -> str:
    """Why points of a metric have no bound in points of accuracy; empty where they have."""
    return "points of a correlation are not points of accuracy" if metric in CORRELATIONS else ""


def _development_sets(products: Products, table: str) -> Iterator[tuple[dict, pd.DataFrame]]:
    """For each task and development set what is stated of a number, and its rows with gates of 0.

    The rows are in one metric, a row for each seed.
    """
    table = _in_one_metric(where(products[table], mode="zero"))
    for (task, split), rows in table.groupby(["task", "split"], sort=False):
        case = "" if split == DEV else f"{task} {split.removeprefix('dev_')}"
        because = _no_accuracy(rows["metric"].iloc[0])
        yield {"case": case, "because": because, **on_task(NAMES[task], rows)}, rows


@measure("michel2019-table1", "ablation-power")
def classifier_heads_without_loss(products: Products, level: float, most: float) -> Cases:
    """Percent of heads whose masking alone loses nothing significant, on each development set.

    By the paper's criterion a loss has a p below the level, uncorrected: of a t-test, or of a
    randomisation test where the metric is no mean over examples. The lower end counts the heads
    that surely lose less than `most` points, too: a test that finds little shows little.
    """
    for fields, rows in _development_sets(products, "michel2019-table1"):
        p = rows["p_t"].fillna(rows["p"])
        free = ~((rows["effect"] < 0) & (p < level))
        about = f"{_examples(rows)}; {_found(products, rows)} would be found after correction"
        number = bounded(rows["ci_low"] > -most, free, "heads", about=about, **fields)
        drawn = partial(_all_free, rows, level, most)
        yield replace(number, n=rows["head"].nunique(), drawn=drawn)  # not those of each seed


def _all_free(
    rows: pd.DataFrame, level: float, most: float, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """The percent without a loss, with its ends, of samples without any effect: [3, draws]."""
    value, *ends = rows[[*columns_of(rows, "effect")]].to_numpy().T
    effect, low, _ = without_effect(value - ends[0], ends[1] - value, Z, rng, draws)
    free = effect >= -NormalDist().inv_cdf(1 - level / 2) * (ends[1] - ends[0]) / 2 / Z
    free, sure = free.mean(axis=1), (free & (low > -most)).mean(axis=1)
    return 100 * np.stack([free, sure, free])


def _examples(rows: pd.DataFrame) -> str:
    return f"{rows['metric'].iloc[0]}, n = {rows['n'].iloc[0]} examples"


def _found(products: Products, rows: pd.DataFrame) -> str:
    """The smallest loss of a head that the test finds with 80% power, largest over seeds."""
    wanted = {name: rows[name].iloc[0] for name in ("task", "split", "metric", "mode")}
    losses = products.rows("ablation-power", unit="head", **wanted)["loss"]
    return "no loss" if losses.isna().any() else f"a loss of {losses.max():.1f} points"


@measure("michel2019-table3")
def classifier_layers_of_one_head(products: Products, column: str, most: float) -> Cases:
    """Percent of layers that lose less than some points with their best head alone.

    The column is the `effect` of the head that is chosen on the examples that measure it, as in
    Table 3, or the `gain` of one chosen on others, as in Table 6. 1.4 points are the smallest loss
    that an unpaired t-test finds at p < 0.01 on the paper's 9,815 examples, of which 83% are right.
    """
    for fields, rows in _development_sets(products, "michel2019-table3"):
        value, low, high = rows[[*columns_of(rows, column)]].to_numpy().T
        counts = (numbers > -most for numbers in (low, value, high))
        number = in_percent(counted(*counts, "layers", about=_examples(rows), **fields))
        drawn = partial(_small_losses, value - low, high - value, most)
        yield replace(number, n=rows["layer"].nunique(), drawn=drawn)


def _small_losses(
    below: np.ndarray, above: np.ndarray, most: float, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """The same percent, with its ends, of samples in which no layer loses: [3, draws]."""
    return 100 * (without_effect(below, above, Z, rng, draws) > -most).mean(axis=2)


@measure("michel2019-table3")
def worst_layer_of_one_head(products: Products) -> Cases:
    """Points gained in each seed's layer that loses most with its best head alone (Table 3)."""
    for fields, rows in _development_sets(products, "michel2019-table3"):
        worst = rows.loc[rows.groupby("seed")["effect"].idxmin()]
        left = [f"{row.head} left in layer {row.layer}" for row in worst.itertuples()]
        about = f"{worst['metric'].iloc[0]}, {' or '.join(dict.fromkeys(left))}"
        yield over_seeds(worst, "effect", about=about, **fields)


@measure("michel2019-pairs", SCORES)
def agreement(products: Products, correlation: float, task: str = "") -> Cases:
    """Correlation of all heads' effects on a task's development set and one of another domain.

    On every task, or one; `correlation` is the paper's.
    """
    rows = where(products["michel2019-pairs"], mode="zero")
    halves = where(rows, kind="halves").set_index("one")["pearson"]
    by_task = products.all_of(SCORES).groupby("task")
    by_title = {set_title(name, DEV): on_task(str(name), of_task) for name, of_task in by_task}
    for row in where(rows, kind="datasets").to_dict("records"):
        more = by_title.get(row["one"])
        if more and task in ("", TITLES[more["task"]]):
            of_both = halves[row["one"]], halves[f"{TITLES[more['task']]} {row['other']}"]
            yield between_sets(row, *of_both, correlation, **more)


@measure("michel2019-fig3")
def pruned(products: Products, share: float, task: str = "") -> Cases:
    """Points gained with a share of the heads pruned by importance, on every task or one.

    Without a task the claim is of the paper's accuracy on MNLI, with which no correlation is
    comparable.
    """
    for title, rows in _curves(products, "importance").items():
        if task and title != task:
            continue
        apart = (rows["share"] - share).abs()
        if apart.min() > NEAR:
            raise NotMeasured(f"no step is within {NEAR} points of {share:.0f}%")
        row = rows.loc[apart.idxmin()]
        about = f"{row['metric']}, {row['share']:.0f}% of the heads"
        because = "" if task else _no_accuracy(row["metric"])
        more = {"about": about, "because": because, "expected": 0.0}
        yield seeds_number(row, "change", int(row["runs"]), 100, **more)


@measure("michel2019-fig3")
def order_area(products: Products) -> Cases:
    """Points by which importance beats ablation as an order, on average over all shares pruned."""
    orders = [_curves(products, order) for order in ("importance", "ablation", "random")]
    about = "{:+.1f} against {:+.1f}; a random order: {:+.1f}"
    for task in sorted(orders[0].keys() & orders[1].keys()):
        areas = [area(curves[task], "change") if task in curves else None for curves in orders]
        rows = orders[0][task]
        more = {"about": f"{rows['metric'].iloc[0]}, {about}", "task": NAMES[task]}
        more |= {"n": int(rows["n"].iloc[0]), "of": "examples", "seeds": int(rows["runs"].min())}
        yield over_scores(*areas, **more)


def _curves(products: Products, strategy: str) -> dict[str, pd.DataFrame]:
    """The curve of each task in an order of pruning, by the share pruned, in percent."""
    table = _in_one_metric(products["michel2019-fig3"])
    table = table[table["strategy"] == strategy].sort_values("share", kind="stable")
    return {str(task): rows for task, rows in table.groupby("task", sort=False)}


@measure("michel2019-one-head")
def one_head_each(products: Products) -> Cases:
    """Points gained with the most important head of every layer alone left."""
    for _, row in products.rows("michel2019-one-head", kept="most important").iterrows():
        about = f"{row['metric']}, {row['unpruned']:.1f} before"
        more = {"about": about, "because": _no_accuracy(row["metric"])}
        yield seeds_number(row, "change", int(row["runs"]), **more)


@measure("michel2019-table4")
def speed_gain(products: Products, batch_size: int) -> Cases:
    """Percent by which inference gains speed with half of the heads removed.

    The interval is Student's, as if the two medians over repeats were means.
    """
    rows = products.rows("michel2019-table4", batch_size=batch_size).dropna(subset="pruned")
    if rows.empty:
        raise NotMeasured("the heads cannot be removed from the model's weights")
    for row in rows.itertuples():
        repeats = int(row.repeats)
        spread = math.hypot(row.original_sd / row.original, row.pruned_sd / row.pruned)
        degrees = 2 * (repeats - 1)
        t = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, degrees) if degrees else math.nan
        half, ratio = t * spread / math.sqrt(repeats), row.pruned / row.original
        ends = (100 * (ratio * factor - 1) for factor in (1, 1 - half, 1 + half))
        more = {"about": f"{row.device}, {row.threads} thread(s)", "task": NAMES[row.task]}
        more["interval"] = "95% over repeats (Student)"
        if row.device == "cpu":
            more["because"] = "measured on a CPU"
        yield Measured(*ends, repeats, "repeats", **more)


@measure(*MODES)
def modes_rank(products: Products, mode: str, other_mode: str) -> Cases:
    """Spearman's correlation over heads of the effects on the loss in two modes, for each task.

    Across halves of the examples, as if without noise; of several seeds the mean, of values and of
    ends. Not tested where the effects of a seed are too noisy.
    """
    for task, rows in _two_modes(products, mode, other_mode):
        of_modes = [rows[f"reliability_{one}"].mean() for one in ("one", "other")]
        about = f"{int(rows['n_heads'].iloc[0])} heads; "
        about += "reliability of the effects {:.2f} and {:.2f}".format(*of_modes)
        ends = (rows[name].mean(skipna=False) for name in columns_of(rows, "rho"))
        number = _resampled(task, rows, ends, about)
        yield replace(number, because=_too_noisy(rows, number.of))


def _too_noisy(rows: pd.DataFrame, of: str) -> str:
    """Why effects do not show how two modes agree; empty where they do."""
    if not (noisy := rows["too_noisy"]).any():
        return ""
    because = f"too noisy: effects need a reliability of {RELIABLE}"
    needed = rows.loc[noisy, "n_needed"].max(skipna=False)
    return because if np.isnan(needed) else f"{because}, which {needed:.0f} {of} would give"


@measure(*MODES, if_none="no head has a corrected p below .05 in both modes")
def modes_opposite(products: Products, mode: str, other_mode: str) -> Cases:
    """Percent of the heads with an effect in two modes whose effects have opposite signs.

    By a p below .05, corrected for all heads: signs of the others are mostly noise.
    """
    for task, rows in _two_modes(products, mode, other_mode):
        opposite, both = (int(rows[name].sum()) for name in ("opposite", "both"))
        if both:
            about = f"{opposite} of {both} heads with a corrected p below .05 in both modes"
            more = {"interval": "95% of a share of heads (Wilson)", "about": about}
            yield share_number(opposite, both, "heads", **more, **on_task(task, rows))


@measure(*MODE_HEADS, if_none="no head has an effect on the loss in any mode")
def modes_verdict(products: Products) -> Cases:
    """Percent of the heads with an effect, in some mode or between two, shown in every mode."""
    heads = where(_first(products, MODE_HEADS), of="loss")
    heads = heads[heads["verdict"] != "no effect shown"]
    for task, rows in heads.groupby("task", sort=False):
        in_all = rows["verdict"] == "in all modes"
        possible = rows["verdict"] != "depends on the mode"
        lows, highs = (rows.filter(regex=f"^{end}_") for end in ("low", "high"))
        sure = in_all & ((lows > 0).all(axis=1) | (highs < 0).all(axis=1))
        more = {"interval": BY_HEADS, **on_task(str(task), rows)}
        yield in_percent(counted(sure, in_all, possible, "heads", **more))


@measure(*ATTRIBUTION)
def attribution_rank(products: Products, estimate: str, against: str = "effect") -> list[Measured]:
    """Spearman's correlation over heads of an estimate with the exact effects, for each task.

    The estimate is a mode, or "importance", which has no sign and may be compared `against` the
    mean "size" of the effects on single texts. Of several seeds the mean, of values and of ends.
    """
    return _attribution(products, estimate, "rho", against)


@measure(*ATTRIBUTION)
def attribution_missed(products: Products, estimate: str) -> list[Measured]:
    """Percent of the tenth of heads that cost most outside the first of the estimate."""
    return _attribution(products, estimate, "top_missed", over="top")


def _attribution(
    products: Products, estimate: str, name: str, against: str = "effect", over: str = ""
) -> list[Measured]:
    table = where(_first(products, ATTRIBUTION), estimate=estimate, against=against)
    numbers = []
    for task, rows in table.groupby("task", sort=False):
        ends = rows[[name, f"{name}_low", f"{name}_high"]].mean()
        heads = rows["n_heads"].iloc[0]
        about, reliability = f"{heads} heads", rows["reliability"].mean()
        if not np.isnan(reliability):
            about += f"; reliability of the exact effects {reliability:.2f}"
        if over:
            ends = 100 * ends / rows[over].iloc[0]
            about = f"{rows[over].iloc[0]} heads of {heads}, {rows['first'].iloc[0]} of them first"
        numbers.append(_resampled(str(task), rows, ends, about))
    if not numbers or any(pd.isna(number.value) for number in numbers):
        raise NotMeasured(f"no attribution {estimate}")
    return numbers


def _two_modes(products: Products, *modes: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each task with the rows of two modes on its loss, one for each seed."""
    table = where(_first(products, MODES), of="loss")
    table = table[table[["one", "other"]].isin(modes).all(axis=1)]
    if table.empty:
        raise NotMeasured(f"the study does not disable heads in both modes {' and '.join(modes)}")
    yield from table.groupby("task", sort=False)


def _first(products: Products, names: tuple[str, str]) -> pd.DataFrame:
    """The table of classifiers, or else that on running text."""
    running, classifiers = names
    return products[classifiers if f"tables/{classifiers}.csv" in products else running]


def _resampled(task: str, rows: pd.DataFrame, ends: Iterable[float], about: str) -> Measured:
    """A number whose interval resamples documents, of running text, or a task's examples."""
    n, of, over = "n", "examples", OVER_EXAMPLES
    if task == TEXT:
        n, of, over = "n_documents", "documents", OVER_DOCUMENTS
    stated = {"interval": over, "about": about, **on_task(task, rows)}
    return Measured(*map(float, ends), int(rows[n].iloc[0]), of, **stated)


@measure(translation.CURVES)
def base_bleu(products: Products) -> Cases:
    """BLEU of the intact translator; the interval resamples sentences."""
    for rows in _bleu_curves(products, "all").values():
        yield _run_number(where(rows, pruned=0).iloc[0], "score")


def measure_of_translators(*tables: AnyTable) -> Callable[[Numbers], Numbers]:
    """Enter a measure whose number is not tested where the intact model hardly translates."""

    def enter(measured: Numbers) -> Numbers:
        @measure(translation.CURVES, *tables)
        @wraps(measured)
        def numbers(products: Products, **arguments: Any) -> Cases:
            bleu = {number.run: number.value for number in base_bleu(products)}
            for number in measured(products, **arguments):
                if (found := bleu[number.run]) < LEAST:
                    because = f"a model of {found:.1f} BLEU hardly translates"
                    number = replace(number, because=because)
                yield number

        return numbers

    return enter


def _bleu_curves(
    products: Products, scope: str, strategy: str = "importance"
) -> dict[str, pd.DataFrame]:
    """The curve of BLEU of each run, pruned in an order."""
    rows = products.all_of(translation.CURVES, scope=scope, strategy=strategy, metric="bleu")
    return dict(iter(rows.groupby("run", sort=False)))


def _run_number(row: Any, name: str, scale: float = 1, **more: Any) -> Measured:
    """A number of a run, with its interval over sentences."""
    return row_number(row, name, "sentences", scale, run=row["run"], **more)


@measure_of_translators(translation.OF_TYPES)
def type_gap(products: Products, effect: str) -> Cases:
    """BLEU that encoder-decoder attention loses over each other type, by an effect of the table."""
    types = products.all_of(translation.OF_TYPES, split=MEASURED_ON, type=CROSS, measure=effect)
    alone = where(types, other="").set_index("run")["value"]
    for row in types[types["other"] != ""].to_dict("records"):
        about = f"{ATTENTION_TYPES[CROSS]}: {alone[row['run']]:+.2f}"
        case = f"{ATTENTION_TYPES[CROSS]} minus {ATTENTION_TYPES[row['other']]}"
        yield _run_number(row, "value", case=case, about=about)


@measure_of_translators(translation.SCORES)
def one_head_left(products: Products, layers: str, chosen_on: str) -> Cases:
    """The effect on BLEU of keeping only one head in a layer, on the test set.

    That of the last layer's encoder-decoder attention (`last`), or of the `others` the smallest
    effect. The head is chosen on the test set itself, as in Table 2, or on the validation set, as
    in Table 5.
    """
    for _, rows in _best_left(products, chosen_on):
        last = (rows["type"] == CROSS) & (rows["layer"] == rows["layer"].max())
        rows = rows[last if layers == "last" else ~last]
        row = rows.loc[rows["effect"].idxmin()]
        about = f"{ATTENTION_TYPES[row['type']]} {head_label(row['layer'], row['head'])}"
        yield _run_number(row, "effect", about=about)


@measure_of_translators(translation.SCORES)
def translator_layers_of_one_head(
    products: Products, chosen_on: str, level: float, most: float
) -> Cases:
    """Percent of all types' layers that lose no BLEU significantly with their best head alone."""
    for run, rows in _best_left(products, chosen_on):
        yield _without_loss(rows, level, most, "layers", run)


@measure_of_translators(translation.SCORES)
def translator_heads_without_loss(
    products: Products, attention: str, level: float, most: float
) -> Cases:
    """Percent of a type's heads whose masking alone loses no BLEU significantly.

    The smallest losses that are significant in the paper are of 0.31 (Table 1), 0.36 and 0.42: a
    study that cannot exclude a loss of half a point (`most`) has not seen that nothing is lost.
    """
    for run, rows in _bleu(products, unit="head", split=MEASURED_ON, type=attention):
        yield _without_loss(rows, level, most, "heads", run)


def _without_loss(rows: pd.DataFrame, level: float, most: float, of: str, run: str) -> Measured:
    """By the paper's criterion a loss has a p below the level, of an uncorrected paired bootstrap.

    The lower end counts those that surely lose less than `most` of BLEU, too.
    """
    lost = rows["effect"] < 0
    corrected = int((lost & (rows["p_corrected"] < 0.05)).sum())
    about = f"{corrected} with a loss at a corrected p below 0.05"
    free, sure = ~(lost & (rows["p_paper"] < level)), rows["ci_low"] > -most
    drawn = partial(_all_free, rows, level, most)
    return bounded(sure, free, of, about=about, run=run, drawn=drawn)


@measure_of_translators(translation.SCORES)
def significant_heads(products: Products, attention: str, level: float) -> Cases:
    """Percent of a type's heads that change BLEU with p below a level."""
    for run, rows in _bleu(products, unit="head", split=MEASURED_ON, type=attention):
        yield _share((rows["p_paper"] < level).sum(), len(rows), run)


@measure_of_translators(translation.SCORES)
def better_heads(products: Products, attention: str, level: float) -> Cases:
    """Percent that raise BLEU when masked, of the heads that significant_heads counts."""
    for run, masked in _bleu(products, unit="head", split=MEASURED_ON, type=attention):
        if len(rows := masked[masked["p_paper"] < level]):
            yield _share((rows["effect"] > 0).sum(), len(rows), run)


def _share(count: int, n: int, run: str) -> Measured:
    return share_number(int(count), n, "heads", run=run, interval=OVER_HEADS)


@measure_of_translators("michel2019-translation-pairs")
def translator_agreement(products: Products, correlation: float) -> Cases:
    """Correlation of all heads' effects on BLEU on the test set and on one of another domain.

    `correlation` is the paper's.
    """
    table = products.rows("michel2019-translation-pairs", mode="zero", metric="bleu", type="all")
    rows = where(table, kind="splits", one=MEASURED_ON)
    rows = rows[rows["other"] != CHOSEN_ON]
    if rows.empty:
        raise NotMeasured("the study has no test set of another domain (translation.data.domains)")
    halves = where(table, kind="halves").set_index(["run", "one"])["pearson"]
    for row in rows.to_dict("records"):
        of_both = (halves[row["run"], row[split]] for split in ("one", "other"))
        yield between_sets(row, *of_both, correlation, run=str(row["run"]))


def _bleu(products: Products, **wanted: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and the effects on BLEU of masking by gates of 0."""
    rows = products.all_of(translation.SCORES, mode="zero", metric="bleu", **wanted)
    yield from rows.groupby("run", sort=False)


def _best_left(products: Products, chosen_on: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run and the test set's rows of each layer's head that is best left alone on a set."""
    keys = ["type", "layer"]
    measured = dict(_bleu(products, unit="all-but-one", split=MEASURED_ON))
    for run, chosen in _bleu(products, unit="all-but-one", split=chosen_on):
        best = chosen.loc[chosen.groupby(keys)["effect"].idxmax(), [*keys, "head"]]
        yield run, best.merge(measured[run], on=[*keys, "head"])


@measure_of_translators()
def kept_bleu(products: Products, share: float, attention: tuple[str, ...]) -> Cases:
    """Percent of BLEU that is retained with a share of the heads pruned by importance.

    Of `all` heads, or of each type of which as many are pruned.
    """
    for scope in attention:
        for curve in _bleu_curves(products, scope).values():
            yield _kept(curve, share, ATTENTION_TYPES.get(scope, ""))


@measure_of_translators()
def kept_gap(products: Products, share: float) -> Cases:
    """Percentage points of BLEU retained without encoder-decoder heads, over each other type."""
    cross = _bleu_curves(products, CROSS)
    for other in (name for name in ATTENTION_TYPES if name != CROSS):
        case = f"{ATTENTION_TYPES[CROSS]} minus {ATTENTION_TYPES[other]}"
        for run, curve in _bleu_curves(products, other).items():
            one, two = _kept(cross[run], share), _kept(curve, share)
            more = {"about": f"{one.value:.1f}% and {two.value:.1f}%", "case": case}
            yield apart(one, two, n=one.n, of=one.of, run=run, **more)


@measure_of_translators()
def kept_area(products: Products) -> Cases:
    """Percentage points of BLEU that importance retains over scores, on average over all shares."""
    orders = [_bleu_curves(products, "all", order) for order in ("importance", "score", "random")]
    about = "{:.1f}% and {:.1f}%; a random order: {:.1f}%"
    for run in (name for name in orders[0] if name in orders[1]):
        areas = [_area(curves[run]) if run in curves else None for curves in orders]
        n = int(orders[0][run]["n"].iloc[0])
        yield over_scores(*areas, about, n=n, of="sentences", run=run)


@measure_of_translators(translation.TRAINING)
def kept_in_training(
    products: Products, share: float, first_epoch: int, last_epoch: float = math.inf
) -> Cases:
    """Percent of an epoch's BLEU that is retained with a share of heads pruned by importance."""
    for epoch, curve in _epochs(products, first_epoch, last_epoch):
        yield replace(_kept(curve, share, epoch), because=_early(curve))


@measure_of_translators(translation.TRAINING)
def above_proportion(products: Products, first_epoch: int, last_epoch: float = math.inf) -> Cases:
    """Percentage points of BLEU retained beyond the share of heads left, on average over shares.

    That is the area between an epoch's curve, pruned by importance, and the straight line from all
    to nothing.
    """
    for epoch, curve in _epochs(products, first_epoch, last_epoch):
        kept, shares, row = _area(curve), 100 * curve["share"], curve.iloc[0]
        line = 100 - (shares.max() + shares.min()) / 2  # the mean height of the straight line
        about = f"{kept.value:.1f}% of {row['baseline']:.1f} BLEU, "
        about += f"mean over shares up to {shares.max():.0f}%"
        ends = (end - line for end in (kept.value, kept.low, kept.high))
        more = {"about": about, "run": row["run"], "because": _early(curve)}
        more["interval"] = "at least 95% over sentences"
        yield Measured(*ends, int(row["n"]), "sentences", epoch, **more)


def _epochs(products: Products, first: int, last: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each run's measured epochs of a span, for people, and their curves of BLEU."""
    rows = products.all_of(translation.TRAINING, "epochs of a translator's training", metric="bleu")
    rows = rows[rows["epoch"].between(first, last)]
    if rows.empty:
        span = f"after {first - 1}" if math.isinf(last) else f"from {first} to {last:g}"
        raise NotMeasured(f"no translator's training has a measured epoch {span}")
    for (_, epoch), curve in rows.groupby(["run", "epoch"], sort=False):
        yield f"epoch {epoch}", curve


def _early(curve: pd.DataFrame) -> str:
    """Why an epoch's number tests no claim: its model does not translate yet; else empty."""
    base = curve["baseline"].iloc[0]
    few = f"with {base:.1f} BLEU before pruning there is nothing to lose"
    return few if base < LEAST_EARLY else ""


def _area(rows: pd.DataFrame) -> Measured:
    """The percent of BLEU retained on average over all shares pruned; mean over random orders."""
    kept = list(columns_of(rows, "kept"))
    return area(rows.groupby("share", as_index=False)[kept].mean(), "kept")


def _kept(curve: pd.DataFrame, share: float, part: str = "") -> Measured:
    """The percent of BLEU retained at the step nearest to a share in percent."""
    row = curve.loc[(100 * curve["share"] - share).abs().idxmin()]
    about = f"{100 * row['share']:.0f}% of {row['heads']} heads, BLEU {row['score']:.1f}"
    about += f" of {row['baseline']:.1f}"
    return _run_number(row, "kept", 100, case=part, about=about)
