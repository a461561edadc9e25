"""The figures of ARCT: cues, set-ups, easy points, changed cues, heads that carry the cue."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from workflow_scripts.arguments.argument_cues import LEVEL, interval
from workflow_scripts.arguments.argument_easy import KEYS
from workflow_scripts.arguments.argument_scores import margin, picked, right
from workflow_scripts.arguments.wording import CHANGES, FAMILIES, SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tasks import held_out_parts, last_split
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.plots.colours import Look
from workflow_scripts.core.plots.figures import counted
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.bootstrap import (
    CONFIDENCE,
    INDEPENDENT,
    bootstrap_mean,
    observed_and_resampled,
)

# As printed for "not". The public files give other numbers.
PAPER = {
    "productivity": {"train": 0.65, "dev": 0.62, "test": 0.52, "all": 0.61},
    "coverage": {"train": 0.66, "dev": 0.44, "test": 0.77, "all": 0.64},
}
SHOWN = ["data", "split", "cue", "productive", "applicable", "n", "productivity", "coverage"]
SHOWN += ["ci_low", "ci_high", "p_corrected", "tested"]
SETS = {"train": "training set", "dev": "development set", "test": "test set", "all": "all sets"}
COVERAGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)  # ticks
WITHIN_CHANCE = Look("no evidence against 50%", colours.GREY)
BEYOND_CHANCE = Look("different from 50% (the most frequent are named)", colours.HIGHLIGHT, "s")
MAX_NAMED = 7  # maximum number of cues that are named in a panel


def one_cue(cues: pd.DataFrame, counts: pd.DataFrame, cue: str) -> pd.DataFrame:
    """A row per set and split of one cue, with the paper's numbers where it prints them.

    `following` is the accuracy of choosing the warrant with the cue where one alone contains it,
    and guessing elsewhere. Planted counts, if any, are next to those measured.
    """
    rows = cues[cues["cue"] == cue][SHOWN].reset_index(drop=True)
    guessed = (rows["n"] - rows["applicable"]) / 2
    rows.insert(8, "following", (rows["productive"] + guessed) / rows["n"])
    original = rows["data"] == "original"
    for name, printed in PAPER.items():
        rows[f"paper_{name}"] = rows["split"].map(printed).where(original & (cue == "not"))
    for measure in ("productive", "applicable"):
        planted = counts[counts["what"] == f"planted {measure}"].set_index("split")["n"]
        if len(planted):
            rows[f"planted_{measure}"] = rows["split"].map(planted).where(original)
    return rows


def draw_cues(axes: Axes, rows: pd.DataFrame) -> None:
    """One panel: productivity of every cue, with its interval where it is beyond chance."""
    axes.axhline(0.5, color=colours.BLACK, linewidth=0.8, linestyle=":")
    beyond = rows["p_corrected"] < LEVEL
    for chosen, look, alpha in ((~beyond, WITHIN_CHANCE, 0.5), (beyond, BEYOND_CHANCE, 1)):
        cues, style = rows[chosen], {"alpha": alpha, "markersize": 3}
        style["elinewidth"] = 0.6 if look is BEYOND_CHANCE else 0
        ends = cues["ci_low"], cues["ci_high"]
        figures.intervals(axes, "y", cues["productivity"], ends, cues["coverage"], look, **style)
    axes.set_xscale("log")
    axes.set_xlim(0.85 * rows["coverage"].min(), 1.15)
    axes.set_ylim(-0.02, 1.02)
    axes.xaxis.set_major_locator(FixedLocator(COVERAGES))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("Coverage, % of the points")


@figures.drawn
def niven2019_cues(cues: Path, counts: Path, table2: Out, all_cues: Out, cue: str) -> Figure:
    """Productivity of the cues: a panel for each original split, one for the adversarial set."""
    frame = tables.read(cues)
    tables.write_csv(one_cue(frame, tables.read_csv(counts), cue.lower()), table2)
    beyond = frame["p_corrected"] < LEVEL
    tables.write_csv(frame.assign(beyond_chance=beyond)[[*SHOWN, "beyond_chance"]], all_cues)
    original, adversarial = (frame[frame["data"] == data] for data in ("original", "negated"))
    shown = {SETS[split]: rows for split, rows in original.groupby("split", sort=False)}
    if len(adversarial):
        last = adversarial["split"].iloc[-1]
        shown["adversarial set"] = adversarial[adversarial["split"] == last]
    titles = [f"{name}, {rows['n'].iloc[0]} points" for name, rows in shown.items()]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 2.1, columns=3)
    for axes, rows in zip(panels, shown.values(), strict=True):
        draw_cues(axes, rows)
    for axes in panels[::3]:
        axes.set_ylabel("Productivity,\n% of applicable points")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    for axes, rows in zip(panels, shown.values(), strict=True):
        beyond = rows[rows["p_corrected"] < LEVEL].nlargest(MAX_NAMED, "applicable")
        points, named = (each[["coverage", "productivity"]].to_numpy() for each in (rows, beyond))
        figures.write_names(axes, list(map(tuple, named)), beyond["cue"], points)
    return figure


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
                style = {"markerfacecolor": fill, "markeredgecolor": look.colour}
                axes.plot(x[chosen], runs["accuracy"][chosen], look.marker, **style)
            median, middle = runs["accuracy"].median(), column + shift
            axes.hlines(median, middle - 0.1, middle + 0.1, look.colour)
    axes.axhline(0.5, color=colours.BLACK, linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(setups)), [TITLES[setup] for setup in setups])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


@figures.drawn
def niven2019_runs(scores: Path) -> Figure:
    """The accuracy of every run, in the panels that the study has runs for."""
    frame = tables.read(scores)
    frame = frame[frame["split"] == last_split(frame)]
    parts = {
        title: frame[(frame["trained_on"] == trained) & (frame["points"] == points)]
        for title, (trained, points) in PANELS.items()
    }
    parts = {title: rows for title, rows in parts.items() if len(rows)}
    frame = pd.concat(parts.values())
    setups = [setup for setup in SETUPS if setup in set(frame["setup"])]
    width = figures.TWO_COLUMNS / max(3, len(parts))
    figure, panels = figures.panels(list(parts), width, 2.3, columns=4)
    for axes, rows in zip(panels, parts.values(), strict=True):
        draw_runs(axes, rows, setups)
        axes.set_xlabel(f"Input ({rows['n'].max()} points)")
        axes.set_ylim(frame["accuracy"].min() - 0.03, frame["accuracy"].max() + 0.03)
    panels[0].set_ylabel("Accuracy")
    shown = [
        Line2D([], [], marker=look.marker, color=look.colour, ls="", label=look.name)
        for look in colours.FAMILIES.values()
    ]
    hollow = {"marker": "o", "ls": "", "markerfacecolor": "none", "color": colours.NEUTRAL}
    shown.append(Line2D([], [], label="degenerate run", **hollow))
    shown.append(Line2D([], [], label="median", color=colours.NEUTRAL, linewidth=1.2))
    shown.append(Line2D([], [], label="chance", color=colours.BLACK, linewidth=0.8, linestyle=":"))
    figure.legend(handles=shown, loc="outside lower center", ncols=6)
    return figure


RIGHT, EITHER = ["cue_in_right"], ["cue_in_right", "cue_in_wrong"]  # warrants with the cue
# Measures, each a share: what is counted at a point, and out of what, see `easy_per_point`; where
# the cue is of points whose share among all a model would have that is right at random.
EASY_MEASURES = {
    "always right": ("always", "one", []),
    "always right, with the cue": ("always_cue", "one", []),
    "cue among always right": ("always_cue", "always", RIGHT),
    "cue in either warrant among always right": ("always_either", "always", EITHER),
    "follows the cue": ("n_follow", "n_applicable", []),
}
DRAWN = {
    "cue among always right": "Points right in every run:\nthose with the cue in the right warrant",
    "follows the cue": "Points with the cue in one warrant alone:\npredictions for this warrant",
}
AXES = {"cue among always right": "Share of points", "follows the cue": "Share of predictions"}
RUNS = {
    "not degenerate": Look("runs not degenerate", colours.SKY, "o"),
    "all": Look("all runs", colours.NEUTRAL, "s"),
}
WITHIN = ["source", "setup", "split", "runs"]  # models that answer the same points


def easy_per_point(frame: pd.DataFrame) -> pd.DataFrame:
    """What every measure counts at a point: the columns that EASY_MEASURES names."""
    always = frame["n_right"] == frame["n_runs"]
    columns = {"always": always, "always_cue": always & frame["cue_in_right"], "one": True}
    columns |= {"always_either": always & frame[EITHER].any(axis=1)}
    applicable = frame["side"] >= 0
    columns |= {"n_applicable": frame["n_runs"] * applicable}
    columns |= {"n_follow": frame["n_follow"] * applicable}
    return pd.DataFrame(columns).astype(float)


def measure_easy(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per model, set-up, split, choice of runs and measure, with 95% intervals.

    They are exact binomial where a point counts once, and from bootstrap samples of the points for
    predictions of several runs, if these differ, and for differences. `among_all` is the share of
    all points that hold the cue in the same way, `n` what the share is out of, `bert_minus` BERT's
    share minus this model's, on the same points and samples.
    """
    rows = []
    for keys, within in frame.groupby(WITHIN, sort=False):
        models = [points for _, points in within.groupby("model", sort=False)]
        models.sort(key=lambda points: points["family"].iloc[0] != "bert")
        for measure, (numerator, denominator, cue) in EASY_MEASURES.items():
            reference = None
            for points in models:
                points = points.sort_values("id", kind="stable")
                per_point = easy_per_point(points)[[numerator, denominator]].to_numpy()
                totals = observed_and_resampled(len(points), draws, seed) @ per_point
                known = np.where(totals[:, 1] > 0, totals[:, 1], np.nan)
                sampled, (counted, n) = totals[:, 0] / known, totals[0].astype(int)
                first, n_runs = points.iloc[0], int(points["n_runs"].max())
                row = dict(zip(WITHIN, keys, strict=True)) | first[["model", "family"]].to_dict()
                row |= {"measure": measure, "share": sampled[0], "n": n}
                row |= {"among_all": points[cue].any(axis=1).mean() if cue else np.nan}
                row |= {"n_points": len(points), "n_runs": n_runs}
                if measure == "follows the cue" and 0 < counted < n:
                    row["ci_low"], row["ci_high"] = _ends(sampled)
                elif n:
                    # Predictions of one point are no independent ones: a point counts once.
                    runs = n_runs if measure == "follows the cue" else 1
                    ends = interval([counted // runs], [n // runs], LEVEL)
                    (row["ci_low"],), (row["ci_high"],) = ends
                if first["family"] == "bert":
                    reference = sampled if reference is None else reference
                elif reference is not None:
                    row["bert_minus"] = reference[0] - sampled[0]
                    row["bert_minus_low"], row["bert_minus_high"] = _ends(reference - sampled)
                rows.append(row)
    columns = [*KEYS, "measure", "share", "ci_low", "ci_high", "among_all", "n", "n_points"]
    columns += ["n_runs", "bert_minus", "bert_minus_low", "bert_minus_high"]
    return pd.DataFrame(rows).reindex(columns=columns)


def _ends(sampled: np.ndarray) -> tuple[float, float]:
    """The ends of a percentile interval; samples without any point to count are left out."""
    known = sampled[1:][np.isfinite(sampled[1:])]
    return tuple(np.percentile(known, CONFIDENCE)) if len(known) else (np.nan, np.nan)


def draw_easy(axes: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """One panel: a measure of every model; the dashed line is the share among all points."""
    for number, (runs, look) in enumerate(RUNS.items()):
        chosen = rows[rows["runs"] == runs].set_index("name").reindex(names)
        if chosen["share"].isna().all():
            continue
        at = np.arange(len(names)) + 0.14 * (2 * number - 1)
        ends = chosen["ci_low"], chosen["ci_high"]
        figures.intervals(axes, "x", chosen["share"], ends, at, look, elinewidth=0.8)
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


@figures.drawn
def niven2019_easy(easy: Path, table: Out, bootstrap: int, seed: int) -> Figure:
    """Shares of points that are always right, of the full input, each source on its last split."""
    measured = measure_easy(tables.read(easy), bootstrap, seed)
    tables.write_csv(measured.assign(setup=measured["setup"].map(TITLES)), table)
    setup = next(setup for setup in SETUPS if setup in set(measured["setup"]))
    shown = measured[measured["setup"] == setup]
    last = shown.groupby("source")["split"].transform("max")  # dev, or test where there is one
    shown = shown[shown["split"] == last]
    shown = shown.assign(name=shown["source"] + ": " + shown["model"] + ", " + shown["split"])
    names = list(dict.fromkeys(shown["name"]))
    height, width = 0.95 + 0.33 * len(names), figures.TWO_COLUMNS / 2
    figure, panels = figures.panels(list(DRAWN.values()), width, height, columns=2)
    for axes, measure in zip(panels, DRAWN, strict=True):
        rows = shown[shown["measure"] == measure]
        draw_easy(axes, rows, names)
        of_all = rows[rows["runs"] == "all"].set_index("name")
        labels = [printed(measure, of_all.loc[name]) for name in names]
        if measure == next(iter(DRAWN)):
            labels = [f"{name}\n({count})" for name, count in zip(names, labels, strict=True)]
        axes.set_yticks(range(len(names)), labels)
        axes.set_xlabel(AXES[measure])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


RELIANCE_KEYS = ["family", "setup", "cue"]
MEASURED = ("follows", "right", "margin")


def measure(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per family, set-up, cue and change, shares and means over points and seeds.

    `flips` is the share of predictions that change, with a 95% interval over points (bootstrap, or
    exact binomial where all flip, or none), `follows` that of predictions for the warrant that had
    the cue, `margin` that warrant's logit minus the other's.
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
            n, flipped = len(points), points["flips"].sum()
            if flipped in (0, n):  # bootstrap samples are all alike
                (low,), (high,) = interval([flipped], [n], LEVEL)
            row = dict(zip(RELIANCE_KEYS, keys, strict=True)) | {"change": change}
            row |= dict(points.mean()) | {"ci_low": float(low), "ci_high": float(high), "n": n}
            rows.append(row | {"seeds": group.index.get_level_values("seed").nunique()})
    renamed = {"right": "accuracy", "right_after": "accuracy_after"}
    return pd.DataFrame(rows).rename(columns=renamed)


def draw_reliance(axes: Axes, rows: pd.DataFrame, cues: list[str]) -> None:
    """One panel: for every cue the share of flips under each change, with intervals."""
    for number, (change, look) in enumerate(colours.CHANGES.items()):
        changed = rows[rows["change"] == change].set_index("cue").reindex(cues)
        at = [x + 0.22 * (number - 1) for x in range(len(cues))]
        ends = changed["ci_low"], changed["ci_high"]
        figures.intervals(axes, "y", changed["flips"], ends, at, look, elinewidth=0.8)
    n = rows.drop_duplicates("cue").set_index("cue")["n"]
    names = [f"{cue}\nn = {n[cue]}" for cue in cues]
    axes.set_xticks(range(len(cues)), names)
    axes.set_xlim(-0.5, len(cues) - 0.5)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


@figures.drawn
def niven2019_reliance(reliance: list[Path], table: Out, bootstrap: int, seed: int) -> Figure:
    """A panel per family and set-up: predictions that flip, of all held-out points."""
    parts = held_out_parts(tables.read_all(reliance))
    measured = pd.concat(
        [measure(rows, bootstrap, seed).assign(split=name) for name, rows in parts.items()]
    )
    titled = {"family": measured["family"].map(FAMILIES), "setup": measured["setup"].map(TITLES)}
    columns = ["split", *measured.columns.drop("split")]
    tables.write_csv(measured.assign(**titled)[columns], table)
    shown = measured[measured["split"] == next(iter(parts))]
    setups = [setup for setup in SETUPS if setup in set(shown["setup"])]
    pairs = [(family, setup) for setup in setups for family in FAMILIES]
    titles = [f"{FAMILIES[of]}: {', '.join((*SETUPS[setup], 'warrant'))}" for of, setup in pairs]
    cues = list(dict.fromkeys(shown["cue"]))
    width = figures.TWO_COLUMNS / 3
    figure, panels = figures.panels(titles, width, 1.6, columns=3)
    for axes, (family, setup) in zip(panels, pairs, strict=True):
        draw_reliance(axes, tables.where(shown, family=family, setup=setup), cues)
    for axes in panels[::3]:
        axes.set_ylabel("Predictions that flip")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


# Titles of the measures. The margin is the logit of the warrant with the cue minus the other's.
HEAD_MEASURES = {
    "margin": "Margin of the warrant with the cue",
    "follows": "Predictions for the warrant with the cue",
    "accuracy": "Accuracy",
}
UNITS = {"margin": "logits", "follows": "points", "accuracy": "points"}


def lower(values: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
    """Margins [head, point] that are smaller by a part of their mean size, see power.Break."""
    return values - degree * np.abs(values).mean(axis=1, keepdims=True)


def missed(values: np.ndarray, order: np.ndarray, degree: float) -> np.ndarray:
    """Points [head, point] of which a share is 0 with every seed, see power.Break."""
    hit = order[:, : int(np.ceil(degree * values.shape[1]))]
    broken = values.copy()
    broken[np.arange(len(values))[:, None], hit] = 0.0
    return broken


def effects(frame: pd.DataFrame, draws: int, permutations: int, seed: int) -> pd.DataFrame:
    """One row per measure and head of one set-up: baseline, effect, interval, p, p_corrected, n.

    Effects are means over points and seeds of the model with the head disabled minus the intact
    one. Intervals resample points, tests swap them, with all their seeds. `found` is the smallest
    loss that would have been significant with a power of 80%.
    """
    applicable = frame["side"] >= 0  # elsewhere no warrant alone contains the cue
    follows = 100 * (picked(frame) == frame["side"]).astype(float).where(applicable)
    shown = {"margin": margin(frame).where(applicable), "follows": follows}
    frame = frame.assign(**shown, accuracy=100 * right(frame).astype(float))
    groups = frame.groupby(["layer", "head", "id"], as_index=False)
    rows = groups[list(HEAD_MEASURES)].mean()
    frames = []
    for name in HEAD_MEASURES:
        if rows[name].isna().all():
            continue
        wide = rows.pivot_table(index=["layer", "head"], columns="id", values=name)
        intact, disabled = wide.loc[(-1, -1)], wide.drop(index=(-1, -1))
        change = (disabled - intact).to_numpy()
        effect, low, high = bootstrap_mean(change.T, draws, seed, INDEPENDENT)
        n = change.shape[1]
        means = randomisation.OfSums(lambda values: values[None], lambda sums, n=n: sums[0] / n)
        compared = means, intact.to_numpy(), disabled.to_numpy()
        tested = randomisation.test(*compared, permutations, seed)
        worse = lower if name == "margin" else missed
        found = randomisation.smallest_loss(*compared, worse, tested.critical, seed)
        columns = {"measure": name, "baseline": intact.mean(), "effect": effect, "ci_low": low}
        columns |= {"ci_high": high} | tested.columns | {"found": found, "n": n}
        frames.append(disabled.index.to_frame(index=False).assign(**columns))
    return pd.concat(frames, ignore_index=True)


def measure_heads(frame: pd.DataFrame, draws: int, permutations: int, seed: int) -> pd.DataFrame:
    """The effects of every set-up, the strongest first: all held-out points, then the test set."""
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


@figures.drawn
def niven2019_heads(
    heads: list[Path], table: Out, bootstrap: int, permutations: int, seed: int
) -> Figure:
    """Every head's effects with intervals: a panel per set-up and measure, of held-out points.

    Measures without a significant effect are left out, unless none has any.
    """
    measured = measure_heads(tables.read_all(heads), bootstrap, permutations, seed)
    tables.write_csv(measured.assign(setup=measured["setup"].map(TITLES)), table)
    shown = measured[measured["split"] == measured["split"].iloc[0]]
    cells = dict(list(shown.groupby(["setup", "measure"])))
    # A measure is missing where the cue is in no point.
    every = [key for key in product(SETUPS, HEAD_MEASURES) if key in cells]
    keys = [key for key in every if (cells[key]["p_corrected"] < randomisation.LEVEL).any()]
    keys = keys or every
    titles = []
    for setup, measure in keys:
        rows = cells[setup, measure]
        over = f"n = {rows['n'].iloc[0]}, {counted(rows['seeds'].iloc[0], 'seed')}"
        texts = ", ".join((*SETUPS[setup], "warrant"))
        titles.append(f"{HEAD_MEASURES[measure]}\n{texts}\n{over}")
    measures = len({measure for _, measure in keys})
    columns = measures if measures > 1 else 3
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / 3, 2.1, columns)
    for axes, key in zip(panels, keys, strict=True):
        axes.axhline(0, color=colours.GUIDE, linewidth=0.6, zorder=1)
        axes.set_ylabel(f"Change, {UNITS[key[1]]}")
        axes.title.set_fontsize(7)
    dots = [(axes, cells[key]) for axes, key in zip(panels, keys, strict=True)]
    figures.ranked(figure, dots, "effect", randomisation.LEVEL)
    return figure


if __name__ == "__main__":
    job.run_figure(globals())
