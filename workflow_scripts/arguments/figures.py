"""The figures of ARCT: cues, set-ups, easy points, changed cues, heads that carry the cue."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from workflow_scripts.arguments.argument_cues import LEVEL, interval
from workflow_scripts.arguments.argument_easy import KEYS
from workflow_scripts.arguments.argument_scores import margin, picked, right
from workflow_scripts.arguments.setups import CHANGES, FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tasks import held_out_parts, last_split
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.plots.figures import counted
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.bootstrap import (
    CONFIDENCE,
    INDEPENDENT,
    bootstrap_mean,
    observed_and_resampled,
)
from workflow_scripts.core.stats.randomisation import OfSums

# As printed for "not". The public files give other numbers.
PAPER = {"train": (0.65, 0.66), "dev": (0.62, 0.44), "test": (0.52, 0.77), "all": (0.61, 0.64)}
SHOWN = ["data", "split", "cue", "productive", "applicable", "n", "productivity", "coverage"]
SHOWN += ["ci_low", "ci_high", "p_corrected", "tested"]
SETS = {"train": "training set", "dev": "development set", "test": "test set", "all": "all sets"}
COVERAGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)  # ticks
BEYOND = "different from 50% (the most frequent are named)"
MAX_NAMED = 7  # maximum number of cues that are named in a panel
# The distance between two named cues, in coverage or in productivity.
MIN_COVERAGE_RATIO, MIN_PRODUCTIVITY_DIFFERENCE = 2.5, 0.07


def one_cue(cues: pd.DataFrame, counts: pd.DataFrame, cue: str) -> pd.DataFrame:
    """A row per set and split of one cue, with the paper's numbers where it prints them.

    `following` is the accuracy of choosing the warrant with the cue where one alone contains it,
    and guessing elsewhere. Where a cue was planted, the planted counts are next to those measured.
    """
    rows = cues[cues["cue"] == cue][SHOWN].reset_index(drop=True)
    guessed = (rows["n"] - rows["applicable"]) / 2
    rows.insert(8, "following", (rows["productive"] + guessed) / rows["n"])
    original = rows["data"] == "original"
    printed = rows["split"].map(PAPER).where(original & (cue == "not"))
    for column, name in enumerate(("productivity", "coverage")):
        rows[f"paper_{name}"] = [
            numbers[column] if isinstance(numbers, tuple) else None for numbers in printed
        ]
    for measure in ("productive", "applicable"):
        planted = counts[counts["what"] == f"planted {measure}"].set_index("split")["n"]
        if len(planted):
            rows[f"planted_{measure}"] = rows["split"].map(planted).where(original)
    return rows


def draw_ends(
    axes: Axes,
    rows: pd.DataFrame,
    values: pd.Series,
    along: str,
    at: Any,
    look: colours.Look,
    **style: Any,
) -> None:
    """Values with the intervals of their rows, error bars `along` x or y, `at` their places."""
    ends = [values - rows["ci_low"], rows["ci_high"] - values]
    x, y = (values, at) if along == "x" else (at, values)
    style |= {"fmt": look.marker, "color": look.colour, "label": look.name}
    axes.errorbar(x, y, **{f"{along}err": ends}, **style)


def draw_cues(axes: Axes, rows: pd.DataFrame) -> None:
    """One panel: productivity of every cue with its interval; names of those beyond chance."""
    axes.axhline(0.5, color=colours.BLACK, linewidth=0.8, linestyle=":")
    beyond = rows["p_corrected"] < LEVEL
    kinds = [
        (~beyond, colours.Look("no evidence against 50%", colours.GREY, "o"), 0.5),
        (beyond, colours.Look(BEYOND, colours.HIGHLIGHT, "s"), 1),
    ]
    for chosen, look, alpha in kinds:
        cues, style = rows[chosen], {"alpha": alpha, "elinewidth": 0.6, "markersize": 3}
        draw_ends(axes, cues, cues["productivity"], "y", cues["coverage"], look, **style)
    for row in named(rows[beyond]):
        xy = (row.coverage, row.productivity)
        axes.annotate(
            row.cue, xy, xytext=(3, 2), textcoords="offset points", fontsize=figures.SMALL
        )
    axes.set_xscale("log")
    axes.set_xlim(0.85 * rows["coverage"].min(), 1.15)
    axes.set_ylim(-0.02, 1.02)
    axes.xaxis.set_major_locator(FixedLocator(COVERAGES))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("Coverage, % of the points")


def named(rows: pd.DataFrame) -> list[Any]:
    """The cues that are named: those of largest coverage whose names do not overlap."""
    chosen: list[Any] = []
    for row in rows.sort_values("applicable", ascending=False, kind="stable").itertuples():
        apart = (
            abs(row.productivity - wider.productivity) > MIN_PRODUCTIVITY_DIFFERENCE
            or wider.coverage > MIN_COVERAGE_RATIO * row.coverage
            for wider in chosen
        )
        if len(chosen) < MAX_NAMED and all(apart):
            chosen.append(row)
    return chosen


def niven2019_cues(
    cues: Path,
    counts: Path,
    table2: Out,
    all_cues: Out,
    svg: Out,
    pdf: Out,
    png: Out,
    cue: str,
) -> None:
    """Write Table 2 and the cues of every set, those that differ from chance marked.

    Draw a panel for each original split, and one for the whole adversarial set.
    """
    frame = tables.read(cues, tuple(SHOWN))
    tables.write_csv(one_cue(frame, tables.read_csv(counts), cue.lower()), table2)
    beyond = frame["p_corrected"] < LEVEL
    tables.write_csv(frame.assign(beyond_chance=beyond)[[*SHOWN, "beyond_chance"]], all_cues)
    panels = [("original", split) for split in frame[frame["data"] == "original"]["split"].unique()]
    adversarial = frame[frame["data"] == "negated"]["split"].unique()
    panels += [("negated", adversarial[-1])] if len(adversarial) else []
    shown = [frame[(frame["data"] == data) & (frame["split"] == split)] for data, split in panels]
    names = ["adversarial set" if data == "negated" else SETS[split] for data, split in panels]
    titles = [
        f"{name}, {rows['n'].iloc[0]} points" for name, rows in zip(names, shown, strict=True)
    ]
    with figures.style():
        figure, axes = figures.panels(titles, figures.TWO_COLUMNS / 3, 2.1, columns=3)
        for number, (panel, rows) in enumerate(zip(axes, shown, strict=True)):
            draw_cues(panel, rows)
            if number % 3 == 0:
                panel.set_ylabel("Productivity,\n% of applicable points")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
        figures.save(figure, svg, pdf, png)


# Titles of the panels: the training set and the points measured.
PANELS = {
    "trained on original,\nmeasured on original points": ("original", "original"),
    "trained on original,\nmeasured on negated points": ("original", "negated"),
    "trained on swapped,\nmeasured on adversarial points": ("swapped", "adversarial"),
    "trained on negated,\nmeasured on adversarial points": ("negated", "adversarial"),
}


def draw_runs(axes: Axes, rows: pd.DataFrame, setups: list[str]) -> None:
    """One panel: a marker per run, hollow where degenerate, and a line at each median."""
    for number, (family, look) in enumerate(colours.FAMILIES.items()):
        shift = 0.24 * (number - 1)
        for column, setup in enumerate(setups):
            runs = rows[(rows["family"] == family) & (rows["setup"] == setup)]
            if not len(runs):
                continue
            spread = np.linspace(-0.05, 0.05, len(runs)) if len(runs) > 1 else np.zeros(1)
            x = column + shift + spread
            for degenerate, fill in ((False, look.colour), (True, "none")):
                chosen = (runs["degenerate"] == degenerate).to_numpy()
                axes.plot(
                    x[chosen],
                    runs["accuracy"][chosen],
                    look.marker,
                    markerfacecolor=fill,
                    markeredgecolor=look.colour,
                )
            median, middle = runs["accuracy"].median(), column + shift
            axes.hlines(median, middle - 0.1, middle + 0.1, look.colour)
    axes.axhline(0.5, color=colours.BLACK, linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(setups)), [TITLES[setup] for setup in setups])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def handles() -> list[Line2D]:
    """What the markers mean: families of models, degenerate runs and chance."""
    shown = [
        Line2D([], [], marker=look.marker, color=look.colour, ls="", label=look.name)
        for look in colours.FAMILIES.values()
    ]
    hollow = {"marker": "o", "ls": "", "markerfacecolor": "none", "color": colours.NEUTRAL}
    shown.append(Line2D([], [], label="degenerate run", **hollow))
    shown.append(Line2D([], [], label="median", color=colours.NEUTRAL, linewidth=1.2))
    chance = {"color": colours.BLACK, "linewidth": 0.8, "linestyle": ":"}
    return [*shown, Line2D([], [], label="chance", **chance)]


def niven2019_runs(scores: Path, svg: Out, pdf: Out, png: Out) -> None:
    """Draw the panels that the study has runs for."""
    frame = tables.read(scores, ("family", "trained_on", "setup", "points", "split", "accuracy"))
    frame = frame[frame["split"] == last_split(frame)]
    parts = {
        title: frame[(frame["trained_on"] == trained) & (frame["points"] == points)]
        for title, (trained, points) in PANELS.items()
    }
    parts = {title: rows for title, rows in parts.items() if len(rows)}
    frame = pd.concat(parts.values())
    setups = [setup for setup in SETUPS if setup in set(frame["setup"])]
    with figures.style():
        width = figures.TWO_COLUMNS / max(3, len(parts))
        figure, axes = figures.panels(list(parts), width, 2.3, columns=4)
        for panel, rows in zip(axes, parts.values(), strict=True):
            draw_runs(panel, rows, setups)
            panel.set_xlabel(f"Input ({rows['n'].max()} points)")
            panel.set_ylim(frame["accuracy"].min() - 0.03, frame["accuracy"].max() + 0.03)
        axes[0].set_ylabel("Accuracy")
        figure.legend(handles=handles(), loc="outside lower center", ncols=6)
        figures.save(figure, svg, pdf, png)


# Measures, each a share: what is counted at a point, and out of what.
EASY_MEASURES = {
    "always right": ("always", "one"),
    "always right, with the cue": ("always_cue", "one"),
    "cue among always right": ("always_cue", "always"),
    "cue in either warrant among always right": ("always_either", "always"),
    "follows the cue": ("n_follow", "n_applicable"),
}
DRAWN = {
    "cue among always right": "Points right in every run:\nthose with the cue in the right warrant",
    "follows the cue": "Points with the cue in one warrant alone:\npredictions for this warrant",
}
AXES = {"cue among always right": "Share of points", "follows the cue": "Share of predictions"}
RUNS = {
    "not degenerate": colours.Look("runs not degenerate", colours.SKY, "o"),
    "all": colours.Look("all runs", colours.NEUTRAL, "s"),
}
WITHIN = ["source", "setup", "split", "runs"]  # models that answer the same points


def easy_per_point(frame: pd.DataFrame) -> pd.DataFrame:
    """What every measure counts at a point: the columns that MEASURES names."""
    always = frame["n_right"] == frame["n_runs"]
    applicable = frame["side"] >= 0
    either = frame["cue_in_right"] | frame["cue_in_wrong"]
    columns = {"always": always, "always_cue": always & frame["cue_in_right"], "one": True}
    columns |= {"always_either": always & either}
    columns |= {"n_applicable": frame["n_runs"] * applicable}
    columns |= {"n_follow": frame["n_follow"] * applicable}
    return pd.DataFrame(columns).astype(float)


def shares(frame: pd.DataFrame, measure: str, draws: int, seed: int) -> np.ndarray:
    """The share of a measure, of the points and of bootstrap samples of them, [1 + draw]."""
    counted, out_of = (easy_per_point(frame)[name].to_numpy() for name in EASY_MEASURES[measure])
    weights = observed_and_resampled(len(frame), draws, seed)
    total = weights @ out_of
    return np.divide(weights @ counted, total, out=np.full(len(total), np.nan), where=total > 0)


def measure_easy(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per model, set-up, split, choice of runs and measure, with 95% intervals.

    They are exact binomial where a point counts once, and from bootstrap samples of the points for
    predictions of several runs, and for differences. Where all these predictions follow the cue, or
    none, such samples are all alike, and the interval is the exact one of as many points.

    Columns: KEYS, measure, share, ci_low, ci_high, among_all (the share of all points that hold the
    cue in the same way), n (points, or predictions, out of which), n_points, n_runs, and bert_minus
    with an interval: BERT's share minus this model's, on the same points and samples.
    """
    rows = []
    for keys, within in frame.groupby(WITHIN, sort=False):
        models = dict(iter(within.groupby("model", sort=False)))
        ordered = sorted(models, key=lambda name: models[name]["family"].iloc[0] != "bert")
        for measure in EASY_MEASURES:
            reference = None
            for model in ordered:
                points = models[model].sort_values("id", kind="stable")
                sampled = shares(points, measure, draws, seed)
                family = points["family"].iloc[0]
                row = dict(zip(WITHIN, keys, strict=True)) | {"model": model, "family": family}
                counted, n = easy_per_point(points)[list(EASY_MEASURES[measure])].sum().astype(int)
                row |= {"measure": measure, "share": sampled[0], "n": n}
                row |= {"among_all": _among_all(points, measure)}
                n_runs = int(points["n_runs"].max())
                row |= {"n_points": len(points), "n_runs": n_runs}
                if measure == "follows the cue" and 0 < counted < n:
                    row["ci_low"], row["ci_high"] = _ends(sampled)
                else:
                    # Predictions of one point are no independent ones: a point counts once.
                    runs = n_runs if measure == "follows the cue" else 1
                    row["ci_low"], row["ci_high"] = _exact(counted // runs, n // runs)
                if family == "bert":
                    reference = sampled if reference is None else reference
                elif reference is not None:
                    row["bert_minus"] = reference[0] - sampled[0]
                    row["bert_minus_low"], row["bert_minus_high"] = _ends(reference - sampled)
                rows.append(row)
    columns = [*KEYS, "measure", "share", "ci_low", "ci_high", "among_all", "n", "n_points"]
    columns += ["n_runs", "bert_minus", "bert_minus_low", "bert_minus_high"]
    return pd.DataFrame(rows).reindex(columns=columns)


def _exact(counted: int, n: int) -> tuple[float, float]:
    """The exact binomial interval; none of nothing."""
    low, high = interval([counted], [n], LEVEL) if n else ([np.nan], [np.nan])
    return low[0], high[0]


def _ends(sampled: np.ndarray) -> tuple[float, float]:
    """The ends of a percentile interval; samples without any point to count are left out."""
    known = sampled[1:][np.isfinite(sampled[1:])]
    return tuple(np.percentile(known, CONFIDENCE)) if len(known) else (np.nan, np.nan)


def _among_all(points: pd.DataFrame, measure: str) -> float:
    """The share that a model would have whose right points were random."""
    if measure == "cue among always right":
        return points["cue_in_right"].mean()
    if measure == "cue in either warrant among always right":
        return (points["cue_in_right"] | points["cue_in_wrong"]).mean()
    return np.nan


def draw_easy(axes: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """One panel: a measure of every model, of all runs and of those not degenerate.

    The dashed line is the share among all points.
    """
    for number, (runs, look) in enumerate(RUNS.items()):
        chosen = rows[rows["runs"] == runs].set_index("name").reindex(names)
        if chosen["share"].isna().all():
            continue
        at = np.arange(len(names)) + 0.14 * (2 * number - 1)
        draw_ends(axes, chosen, chosen["share"], "x", at, look, elinewidth=0.8)
    for number, name in enumerate(names):
        base = rows.loc[rows["name"] == name, "among_all"].iloc[0]
        name = "among all points" if not number and np.isfinite(base) else None
        style = {"color": colours.BLACK, "linestyle": ":", "linewidth": 1.0}
        axes.plot([base, base], [number - 0.35, number + 0.35], label=name, **style)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, 1.03)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def printed(measure: str, row: pd.Series) -> str:
    """What a share is of, by its row of all runs."""
    if measure == "follows the cue":
        return f"{row['n'] // row['n_runs']} points\nin {row['n_runs']} runs"
    return f"{row['n']} of {row['n_points']} points"


def niven2019_easy(
    easy: Path, table: Out, svg: Out, pdf: Out, png: Out, bootstrap: int, seed: int
) -> None:
    """Write the table and draw the full input, each source on its last split."""
    measured = measure_easy(tables.read(easy, (*KEYS, "id", "n_runs")), bootstrap, seed)
    tables.write_csv(measured.assign(setup=measured["setup"].map(TITLES)), table)
    setup = next(setup for setup in SETUPS if setup in set(measured["setup"]))
    shown = measured[measured["setup"] == setup]
    last = shown.groupby("source")["split"].transform("max")  # dev, or test where there is one
    shown = shown[shown["split"] == last]
    shown = shown.assign(name=shown["source"] + ": " + shown["model"] + ", " + shown["split"])
    names = list(dict.fromkeys(shown["name"]))
    rows = shown[shown["runs"] == "all"].set_index(["measure", "name"])
    counts = {each: [printed(each, rows.loc[(each, name)]) for name in names] for each in DRAWN}
    first, second = DRAWN
    left = [f"{name}\n({count})" for name, count in zip(names, counts[first], strict=True)]
    with figures.style():
        height = 0.95 + 0.33 * len(names)
        figure, panels = figures.panels(
            list(DRAWN.values()), figures.TWO_COLUMNS / 2, height, columns=2
        )
        for axes, measure, labels in zip(panels, DRAWN, (left, counts[second]), strict=True):
            draw_easy(axes, shown[shown["measure"] == measure], names)
            axes.set_yticks(range(len(names)), labels)
            axes.set_xlabel(AXES[measure])
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figures.save(figure, svg, pdf, png)


RELIANCE_KEYS = ["family", "setup", "cue"]
MEASURED = ("follows", "right", "margin")


def measure_reliance(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """`measure` on all held-out points and, below, on the test set alone (column `split`)."""
    measured = [
        measure(rows, draws, seed).assign(split=name)
        for name, rows in held_out_parts(frame).items()
    ]
    rows = pd.concat(measured, ignore_index=True)
    return rows[["split", *rows.columns.drop("split")]]


def measure(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per family, set-up, cue and change, shares and means over points and seeds.

    Columns: flips (share of predictions that change) with a 95% interval over points (bootstrap, or
    exact binomial where all flip, or none), follows
    and follows_after (share of predictions for the warrant that had the cue), accuracy and
    accuracy_after, margin and margin_after (that warrant's logit minus the other's), n (points),
    seeds.
    """
    frame = frame.assign(picked=picked(frame), right=right(frame), margin=margin(frame))
    frame["follows"] = (frame["picked"] == frame["side"]).astype(float)
    index = [*RELIANCE_KEYS, "seed", "id"]
    unchanged = frame[frame["change"] == "none"].set_index(index)
    rows = []
    for change in CHANGES:
        after = frame[frame["change"] == change].set_index(index).reindex(unchanged.index)
        flips = (after["picked"] != unchanged["picked"]).astype(float)
        both = unchanged.assign(flips=flips)
        for name in MEASURED:
            both[f"{name}_after"] = after[name]
        for keys, group in both.groupby(level=RELIANCE_KEYS, sort=False):
            columns = ["flips", *(name + when for name in MEASURED for when in ("", "_after"))]
            points = group.groupby(level="id")[columns].mean()
            _, low, high = bootstrap_mean(points["flips"].to_numpy(), draws, seed, INDEPENDENT)
            row = (
                dict(zip(RELIANCE_KEYS, keys, strict=True))
                | {"change": change}
                | dict(points.mean())
            )
            n, flipped = len(points), points["flips"].sum()
            if flipped in (0, n):  # bootstrap samples are all alike
                (low,), (high,) = interval([flipped], [n], LEVEL)
            row |= {"ci_low": float(low), "ci_high": float(high), "n": n}
            rows.append(row | {"seeds": group.index.get_level_values("seed").nunique()})
    renamed = {"right": "accuracy", "right_after": "accuracy_after"}
    return pd.DataFrame(rows).rename(columns=renamed)


def draw_reliance(axes: Axes, rows: pd.DataFrame, cues: list[str]) -> None:
    """One panel: for every cue the share of flips under each change, with intervals."""
    for number, (change, look) in enumerate(colours.CHANGES.items()):
        changed = rows[rows["change"] == change].set_index("cue").reindex(cues)
        at = [x + 0.22 * (number - 1) for x in range(len(cues))]
        draw_ends(axes, changed, changed["flips"], "y", at, look, elinewidth=0.8)
    n = rows.drop_duplicates("cue").set_index("cue")["n"]
    names = [f"{cue}\nn = {n[cue]}" for cue in cues]
    axes.set_xticks(range(len(cues)), names)
    axes.set_xlim(-0.5, len(cues) - 0.5)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def niven2019_reliance(
    reliance: list[Path], table: Out, svg: Out, pdf: Out, png: Out, bootstrap: int, seed: int
) -> None:
    """Write the table and draw a panel per family and set-up, of all held-out points."""
    columns = ("family", "setup", "seed", "cue", "change", "split", "id", "label", "side")
    rows = measure_reliance(tables.read_all(reliance, columns), bootstrap, seed)
    titled = rows.assign(family=rows["family"].map(FAMILIES), setup=rows["setup"].map(TITLES))
    tables.write_csv(titled, table)
    rows = rows[rows["split"] == rows["split"].iloc[0]]
    setups = [setup for setup in SETUPS if setup in set(rows["setup"])]
    panels = [(family, setup) for setup in setups for family in FAMILIES]
    cues = list(dict.fromkeys(rows["cue"]))
    with figures.style():
        inputs = {setup: ", ".join((*SETUPS[setup], "warrant")) for setup in setups}
        titles = [f"{FAMILIES[family]}: {inputs[setup]}" for family, setup in panels]
        figure, axes = figures.panels(titles, figures.TWO_COLUMNS / 3, 1.6, columns=3)
        for number, (panel, (family, setup)) in enumerate(zip(axes, panels, strict=True)):
            draw_reliance(panel, rows[(rows["family"] == family) & (rows["setup"] == setup)], cues)
            if number % 3 == 0:
                panel.set_ylabel("Predictions that flip")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        figures.save(figure, svg, pdf, png)


BETWEEN = 0.45  # inches between maps, for the colour bars
LEAST = 5  # predictions that flip, the least that full colour stands for
# Titles of the measures. The margin is the logit of the warrant with the cue minus the other's.
HEAD_MEASURES = {
    "margin": "Margin of the\nwarrant with the cue",
    "follows": "Predictions for the\nwarrant with the cue",
    "accuracy": "Accuracy",
}
# Measures that share a scale, and its unit.
SCALES = {("margin",): "Change, logits", ("follows", "accuracy"): "Change, points"}


def per_point(frame: pd.DataFrame) -> pd.DataFrame:
    """Margin, follows and accuracy of each row; NaN where no warrant alone contains the cue."""
    applicable = frame["side"] >= 0
    return frame.assign(
        margin=margin(frame).where(applicable),
        follows=100 * (picked(frame) == frame["side"]).astype(float).where(applicable),
        accuracy=100 * right(frame).astype(float),
    )


def lower(values: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
    """Margins [head, point] that are smaller by a part of their mean size, see power.Break."""
    return values - degree * np.abs(values).mean(axis=1, keepdims=True)


def missed(values: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
    """Points [head, point] of which a share is 0 with every seed, see power.Break."""
    hit = order[:, : int(np.ceil(degree * values.shape[1]))]
    broken = values.copy()
    broken[np.arange(len(values))[:, None], hit] = 0.0
    return broken


def mean_over_points(n: int) -> OfSums:
    """Means of values [head, point] over `n` points, as what heads are compared by."""
    return OfSums(lambda values: values[None], lambda sums: sums[0] / n)


def effects(frame: pd.DataFrame, draws: int, permutations: int, seed: int) -> pd.DataFrame:
    """One row per measure and head of one set-up: baseline, effect, interval, p, p_corrected, n.

    Effects are means over points and seeds of the model with the head disabled minus the intact
    one. Intervals resample points. p-values are those of randomisation.test, which swaps points
    (with all their seeds); p_corrected is corrected for the number of heads. `found` is the
    smallest loss that would have been significant with a power of 80% (power.smallest_loss).
    """
    rows = (
        per_point(frame)
        .groupby(["layer", "head", "id"], as_index=False)[list(HEAD_MEASURES)]
        .mean()
    )
    frames = []
    for name in HEAD_MEASURES:
        if rows[name].isna().all():
            continue
        wide = rows.pivot_table(index=["layer", "head"], columns="id", values=name)
        intact, disabled = wide.loc[(-1, -1)], wide.drop(index=(-1, -1))
        change = (disabled - intact).to_numpy()
        weights = stats_bootstrap.bootstrap_weights(change.shape[1], draws, seed)
        resampled = weights @ change.T / change.shape[1]
        effect = change.mean(axis=1)
        n, values = change.shape[1], (intact.to_numpy(), disabled.to_numpy())
        tested = randomisation.test(mean_over_points(n), *values, permutations, seed)
        worse = lower if name == "margin" else missed
        found = randomisation.smallest_loss(
            mean_over_points(n), *values, worse, tested.critical, seed
        )
        low, high = np.percentile(resampled, stats_bootstrap.CONFIDENCE, axis=0)
        columns = {"measure": name, "baseline": intact.mean(), "effect": effect, "ci_low": low}
        columns |= {"ci_high": high, "p": tested.p, "p_corrected": tested.corrected}
        columns |= {"found": found, "n": n}
        frames.append(disabled.index.to_frame(index=False).assign(**columns))
    return pd.concat(frames, ignore_index=True)


def measure_heads(frame: pd.DataFrame, draws: int, permutations: int, seed: int) -> pd.DataFrame:
    """The effects of every set-up, the strongest first: a column `split` and the heads' names.

    All held-out points come first, then the test set alone.
    """
    frames = []
    for split, rows in held_out_parts(frame).items():
        of_split = [
            effects(of_setup, draws, permutations, seed).assign(split=split, setup=setup)
            for setup, of_setup in rows.groupby("setup", sort=False)
        ]
        measured = pd.concat(of_split, ignore_index=True)
        measured.insert(0, "name", head_labels(measured))
        measured["seeds"] = rows["seed"].nunique()
        order = measured.assign(size=measured["effect"].abs(), title=measured["setup"].map(TITLES))
        order = order.sort_values(["title", "measure", "size"], ascending=[True, True, False])
        frames.append(measured.loc[order.index])
    return pd.concat(frames, ignore_index=True)


def limit(effects: pd.DataFrame) -> float:
    """The end of the scale of some effects: the largest, or in points at least LEAST flips.

    A flip is one point of the smallest set, with every seed.
    """
    largest = effects["effect"].abs().max()
    in_points = effects["measure"].ne("margin").any()
    return max(largest, LEAST * 100 / effects["n"].min() if in_points else 0.0)


def draw_heads(axes: Axes, effects: pd.DataFrame, end: float) -> AxesImage | None:
    """One map of the effect of every head on one measure, or a sentence where all are 0.

    Heads whose corrected p is randomisation.LEVEL or more are muted.
    """
    over = f"n = {effects['n'].iloc[0]}, {counted(effects['seeds'].iloc[0], 'seed')}"
    if (effects["effect"] == 0).all():
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set(xticks=[], yticks=[], xlabel="")
        heatmaps.note(axes, f"unchanged by any head\n({over})")
        return None
    image = heatmaps.around_zero(axes, heatmaps.grid_of(effects, "effect"), end)
    heatmaps.mute(axes, image, heatmaps.grid_of(effects, "p_corrected") >= randomisation.LEVEL)
    axes.set_xlabel(f"Head ({over})")
    return image


def niven2019_heads(
    heads: Path,
    table: Out,
    svg: Out,
    pdf: Out,
    png: Out,
    bootstrap: int,
    permutations: int,
    seed: int,
) -> None:
    """Write the table, and draw a map per set-up and measure, of all held-out points."""
    columns = ("setup", "seed", "split", "layer", "head", "id", "label", "side")
    measured = measure_heads(tables.read(heads, columns), bootstrap, permutations, seed)
    titled = measured.assign(setup=measured["setup"].map(TITLES))
    tables.write_csv(titled, table)
    shown = measured[measured["split"] == measured["split"].iloc[0]]
    setups = [setup for setup in SETUPS if setup in set(shown["setup"])]
    shape = (shown["layer"].max() + 1, shown["head"].max() + 1)
    with figures.style():
        rows = [",\n".join((*SETUPS[setup], "warrant")) for setup in setups]
        figure, panels = heatmaps.sheet(rows, list(HEAD_MEASURES.values()), shape, BETWEEN)
        for measures, unit in SCALES.items():
            of_scale = shown[shown["measure"].isin(measures)]
            columns = [list(HEAD_MEASURES).index(name) for name in measures]
            images = [
                draw_heads(panels[row, column], chosen, limit(of_scale))
                for row, setup in enumerate(setups)
                for column, measure in zip(columns, measures, strict=True)
                for chosen in [of_scale.query("setup == @setup and measure == @measure")]
                if len(chosen)  # none where the cue is in no held-out point
            ]
            drawn = [image for image in images if image]
            if drawn:
                heatmaps.bar(drawn[0], panels[:, columns].ravel(), unit, shrink=0.8)
        words = (
            f"not significant: p ≥ {randomisation.LEVEL}, corrected for {shape[0] * shape[1]} heads"
        )
        figure.legend(handles=[heatmaps.muted_key(words)], loc="outside lower center")
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run_figure(globals())
