"""Niven and Kao 2019, section 8: the cue in the points that are always right, table and figure."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from workflow_scripts.arguments.argument_cues import LEVEL, interval
from workflow_scripts.arguments.argument_easy import KEYS
from workflow_scripts.arguments.setups import SETUPS, TITLES
from workflow_scripts.core.data import tables
from workflow_scripts.core.plots import colours, figures
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.resampling import CONFIDENCE, observed_and_resampled

# Measures, each a share: what is counted at a point, and out of what.
MEASURES = {
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


def per_point(frame: pd.DataFrame) -> pd.DataFrame:
    """What every measure counts at a point: the columns that MEASURES names."""
    always = frame["n_right"] == frame["n_runs"]
    applicable = frame["side"] >= 0
    either = frame["cue_in_right"] | frame["cue_in_wrong"]
    columns = {"always": always, "always_cue": always & frame["cue_in_right"], "one": True}
    columns |= {"always_either": always & either}
    columns |= {"n_applicable": frame["n_runs"].where(applicable, 0)}
    columns |= {"n_follow": frame["n_follow"].where(applicable, 0)}
    return pd.DataFrame(columns).astype(float)


def shares(frame: pd.DataFrame, measure: str, draws: int, seed: int) -> np.ndarray:
    """The share of a measure, of the points and of bootstrap samples of them, [1 + draw]."""
    counted, out_of = (per_point(frame)[name].to_numpy() for name in MEASURES[measure])
    weights = observed_and_resampled(len(frame), draws, seed)
    total = weights @ out_of
    return np.divide(weights @ counted, total, out=np.full(len(total), np.nan), where=total > 0)


def measure_all(frame: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
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
        for measure in MEASURES:
            reference = None
            for model in ordered:
                points = models[model].sort_values("id", kind="stable")
                sampled = shares(points, measure, draws, seed)
                family = points["family"].iloc[0]
                row = dict(zip(WITHIN, keys, strict=True)) | {"model": model, "family": family}
                counted, n = per_point(points)[list(MEASURES[measure])].sum().astype(int)
                row |= {"measure": measure, "share": sampled[0], "n": n}
                row |= {"among_all": _among_all(points, measure)}
                n_runs = int(points["n_runs"].max())
                row |= {"n_points": len(points), "n_runs": n_runs}
                if measure == "follows the cue" and 0 < counted < n:
                    low, high = _ends(sampled)
                else:
                    # Predictions of one point are no independent ones: a point counts once.
                    runs = n_runs if measure == "follows the cue" else 1
                    low, high = _exact(counted // runs, n // runs)
                row |= {"ci_low": low, "ci_high": high}
                if family == "bert":
                    reference = sampled if reference is None else reference
                elif reference is not None:
                    low, high = _ends(reference - sampled)
                    row |= {"bert_minus": reference[0] - sampled[0]}
                    row |= {"bert_minus_low": low, "bert_minus_high": high}
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


def draw(axes: Axes, rows: pd.DataFrame, names: list[str]) -> None:
    """One panel: a measure of every model, of all runs and of those not degenerate.

    The dashed line is the share among all points.
    """
    for number, (runs, look) in enumerate(RUNS.items()):
        chosen = rows[rows["runs"] == runs].set_index("name").reindex(names)
        if chosen["share"].isna().all():
            continue
        share = chosen["share"]
        axes.errorbar(
            share,
            np.arange(len(names)) + 0.14 * (2 * number - 1),
            xerr=[share - chosen["ci_low"], chosen["ci_high"] - share],
            fmt=look.marker,
            color=look.colour,
            elinewidth=0.8,
            label=look.name,
        )
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


def main(easy: Path, table: Out, svg: Out, pdf: Out, png: Out, bootstrap: int, seed: int) -> None:
    """Write the table and draw the full input, each source on its last split."""
    measured = measure_all(tables.read(easy, (*KEYS, "id", "n_runs")), bootstrap, seed)
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
            draw(axes, shown[shown["measure"] == measure], names)
            axes.set_yticks(range(len(names)), labels)
            axes.set_xlabel(AXES[measure])
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figures.save(figure, svg, pdf, png)


if __name__ == "__main__":
    job.run(main, globals())
