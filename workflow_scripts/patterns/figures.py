"""The figures and tables of Kovaleva et al. 2019, section 4.1."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.data.tasks import TASKS, present_tasks
from workflow_scripts.core.plots import colours, figures, heatmaps
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import (
    CONFIDENCE,
    bootstrap_weights,
    document_weights,
    percentile_ends,
    wilson,
)
from workflow_scripts.patterns.annotated_maps import CLASSES, STAGES, read_annotations

TOP = 0.5  # the weight from which on the colour is the darkest
PANEL = 1.22  # inches of a map


@figures.drawn
def kovaleva2019_fig1(maps: Path) -> Figure:
    """Typical maps: a column for each class and a row for each place, all on one scale."""
    frame = tables.read(maps)
    n = frame["place"].max() + 1
    figure, cells = figures.new(figures.TWO_COLUMNS, 0.45 + (PANEL + 0.2) * n, len(CLASSES), n)
    for axes, (place, of) in zip(cells, product(range(n), CLASSES), strict=True):
        chosen = (frame["class"] == of) & (frame["place"] == place)
        rows = frame[chosen].sort_values(["query", "key"])
        if not len(rows):
            axes.axis("off")
            continue
        weights = rows["weight"].to_numpy().reshape(rows["query"].max() + 1, -1)
        image = axes.imshow(weights, cmap=colours.MORE, vmin=0, vmax=TOP, interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
        first = rows.iloc[0]
        name = f"head {head_label(first['layer'], first['head'])}, {first['stage']}"
        axes.set_xlabel(name, fontsize=figures.SMALL, labelpad=2)
        if place == 0:
            axes.set_title(colours.CLASSES[of].name.capitalize())
    figure.supxlabel("Keys, from [CLS] on the left", fontsize=7)
    figure.supylabel("Queries, from [CLS] at the top", fontsize=7)
    heatmaps.bar(image, cells, "Attention weight", shrink=0.5, extend="max")
    return figure


def legend_title(frame: pd.DataFrame, model: str) -> str:
    """For another model than the annotated one, that it is another; else nothing."""
    annotated = frame["annotated_model"].iloc[0]
    if model in annotated.split(","):
        return ""
    return f"maps of {model}, classified by\na network of {annotated}'s maps"


@figures.drawn
def kovaleva2019_fig2(shares: Path, model: str) -> Figure:
    """A panel per task, a line per class: its share before and after, the mean over seeds."""
    frame = tables.read(shares)
    frame = frame[frame["method"] == "network"]
    names = present_tasks(frame)
    titles = [TASKS[name].title for name in names]
    figure, panels = figures.panels(titles, figures.TWO_COLUMNS / max(2, min(3, len(names))), 1.1)
    figure.set_figheight(figure.get_figheight() + 0.8)
    at = np.arange(len(CLASSES))
    for axes, name in zip(panels, names, strict=True):
        rows = frame[frame["task"] == name]
        means = (
            100 * rows.pivot_table(index="class", columns="stage", values="share").loc[[*CLASSES]]
        )
        axes.hlines(at, means.min(axis=1), means.max(axis=1), colours.NEUTRAL, linewidth=0.8)
        for stage, fill in (("pretrained", colours.WHITE), ("fine-tuned", colours.NEUTRAL)):
            style = {"color": colours.NEUTRAL, "markerfacecolor": fill, "label": stage}
            axes.plot(means[stage], at, "o", clip_on=False, zorder=3, **style)
        axes.set_yticks(at, [colours.CLASSES[of].name for of in CLASSES])
        axes.set(xlim=(0, 100), ylim=(len(CLASSES) - 0.5, -0.5))
        axes.grid(axis="y", color=colours.FAINT)
        axes.label_outer()
    tuned = frame[frame["stage"] == "fine-tuned"]
    over = figures.sample(tuned, "examples of each task")
    figure.supxlabel(f"Share of maps, %\n{over}", fontsize=7)
    legend = {"title": legend_title(frame, model), "title_fontsize": 7, "ncols": 2}
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", **legend)
    return figure


PAPER_F1 = 0.86  # the paper's network, on the paper's maps, which are of fine-tuned models
METHODS = ("network", "rules")
UNTRAINED = "untrained"  # the stage of copies with random weights


def macro_f1(labels: np.ndarray, given: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Macro F1 of each sample, [draw], of classes [map] and weights [draw, map].

    Over the classes among the labels, without those that a sample neither has nor is given.
    """
    weights, scores = weights.astype(float), []
    for name in np.unique(labels):
        true, positive = labels == name, given == name
        either = weights @ (true.astype(float) + positive)
        right = 2 * weights @ (true & positive)
        scores.append(np.divide(right, either, out=np.full(len(right), np.nan), where=either > 0))
    return np.nanmean(scores, axis=0)


def scores_of(maps: pd.DataFrame, draws: int, seed: int) -> dict[str, float]:
    """Macro F1 and accuracy of the maps' classes, with 95% intervals that resample examples."""
    labels, given = maps["label"].to_numpy(), maps["given"].to_numpy()
    resampled = document_weights(maps["group"].to_numpy(), draws, seed)
    row, n = dict[str, float](), maps["group"].nunique()
    both = np.ones((1, len(maps))), resampled
    f1 = [macro_f1(labels, given, weights) for weights in both]
    accuracy = [weights @ (labels == given) / weights.sum(axis=1) for weights in both]
    for name, (once, scores) in {"macro_f1": f1, "accuracy": accuracy}.items():
        row[name] = float(once[0])
        row[f"{name}_low"], row[f"{name}_high"] = percentile_ends(scores, n)
    return row | {"n": len(maps), "n_examples": n}


def classifier_table(predictions: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """One row per method and kind of maps: all, pretrained, fine-tuned, as far as there are any."""
    rows = []
    for method, of_method in predictions.groupby("method", sort=False):
        stages = [stage for stage in STAGES if (of_method["stage"] == stage).any()]
        for name in ("all", *stages) if len(stages) > 1 else stages:
            maps = of_method if name == "all" else of_method[of_method["stage"] == name]
            compared = method == "network" and name == STAGES[1]
            row = {"method": method, "maps": name} | scores_of(maps, draws, seed)
            rows.append(row | {"paper": PAPER_F1 if compared else None})
    return pd.DataFrame(rows)


def shares_table(shares: pd.DataFrame) -> pd.DataFrame:
    """One row per task, stage and class: its share of all maps, in percent, by both methods.

    `both` is the share of maps that both give the class, `agreement` that share of the maps that
    either gives it.
    """
    keys = ["task", "stage", "class", "annotated_model", "annotated_stage"]
    percent = 100 * shares.groupby([*keys, "method"], sort=False)[["share", "both"]].mean()
    frame = percent["share"].unstack("method")[list(METHODS)]
    frame["both"] = percent["both"].unstack("method")[METHODS[0]]  # in the rows of either method
    either = frame["network"] + frame["rules"] - frame["both"]
    frame["agreement"] = 100 * frame["both"] / either.where(either > 1e-9)
    rank = {name: number for number, name in enumerate((*TASKS, UNTRAINED, *STAGES, *CLASSES))}
    order = frame.reset_index().sort_values(
        keys[:3], key=lambda names: names.map(rank), kind="stable"
    )
    columns = ["task", "stage", "class", *METHODS, "both", "agreement", *keys[3:]]
    titles = {name: task.title for name, task in TASKS.items()}
    return order[columns].assign(task=order["task"].map(titles)).rename_axis(columns=None)


def kovaleva2019_patterns(
    predictions: Path,
    shares: Path,
    classifier: job.Out,
    table: job.Out,
    bootstrap: int,
    seed: int,
    untrained: list[Path] = (),
) -> None:
    """Write both tables; `untrained` are the shares of copies with random weights."""
    frame = tables.read(predictions)
    tables.write_csv(classifier_table(frame, bootstrap, seed), classifier)
    copies = [tables.read(path).assign(stage=UNTRAINED) for path in untrained]
    frame = pd.concat([tables.read(shares), *copies], ignore_index=True)
    tables.write_csv(shares_table(frame).round(1), table)


def agreement(labels: np.ndarray, draws: int, seed: int) -> pd.DataFrame:
    """Share of maps with equal classes, with Wilson's interval: all, and by the first's class.

    For all also Cohen's kappa, with a 95% bootstrap interval over maps. `labels` is [2, map].
    """
    from sklearn.metrics import cohen_kappa_score  # takes seconds to import, for one figure

    one, other = labels
    rows = []
    for name in ("all", *CLASSES):
        chosen = np.full(len(one), True) if name == "all" else one == CLASSES.index(name)
        n, equal = int(chosen.sum()), int((one == other)[chosen].sum())
        row = {"class": name, "n": n}
        if n:
            low, high = wilson(equal, n)
            row |= {"agreement": equal / n, "ci_low": low, "ci_high": high}
        instead = np.bincount(other[chosen & (one != other)], minlength=len(CLASSES))
        if name != "all" and instead.any():
            row["instead"] = CLASSES[int(instead.argmax())]
        rows.append(row)
    kappas = [
        cohen_kappa_score(one, other, sample_weight=weights)
        for weights in bootstrap_weights(len(one), draws, seed)
    ]
    rows[0]["kappa"] = cohen_kappa_score(one, other)
    rows[0]["kappa_low"], rows[0]["kappa_high"] = np.percentile(kappas, CONFIDENCE)
    return pd.DataFrame(rows)


def kovaleva2019_agreement(
    first: Path, second: Path, table: job.Out, bootstrap: int, seed: int
) -> None:
    """Write the agreement on the maps of the file `second`."""
    label_of = {each.key: each.label for each in read_annotations(first)}
    labels = [(label_of[each.key], each.label) for each in read_annotations(second)]
    tables.write_csv(agreement(np.array(labels).T, bootstrap, seed), table)


if __name__ == "__main__":
    job.run_figure(globals())
