"""What a head matters to a task: disabled, left alone, and by its gate's gradient.

Kovaleva et al. (2019, section 4.6), Michel et al. (2019, sections 3 and 4), and ARCT's cue.
"""

from collections.abc import Iterator

from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.measures.forms import (
    OVER_EXAMPLES,
    Form,
    Rows,
    Study,
    identifier,
    run_titles,
    seed_of,
    state_of,
    task_of,
)
from workflow_scripts.core.measures.tables import Tables

CORRECTED = {"low": "ci_low", "high": "ci_high", "n": "n", "p": "p_corrected"}
ARCT_HEADS = "tables/niven2019-heads.csv"
# The paper of each way to disable a head, and what the head does then.
MODES = {
    "uniform": ("kovaleva2019", "attends to all tokens alike"),
    "zero": ("michel2019", "gives no output"),
    "mean": ("beyond", "gives its mean output"),
}
UNITS = {
    "head": ("Disabling a head", "Effect of disabling", "with the head disabled: it"),
    "all-but-one": (
        "One head left in a layer",
        "Effect of leaving one head",
        "with all other heads of its layer disabled: each",
    ),
}
METRICS = {
    "f1": "F1",
    "accuracy": "accuracy",
    "matthews": "Matthews' correlation",
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's correlation",
}
# ARCT: what is measured of a point, its unit, decimals, and what it is.
CUE = {
    "margin": (
        "Margin of the cue's warrant",
        "",
        3,
        "The logit of the warrant that alone contains the cue, minus the other's,",
    ),
    "follows": (
        "Picks of the cue's warrant",
        "points",
        1,
        "The share of points whose warrant with the cue the model picks,",
    ),
    "accuracy": ("Accuracy on ARCT", "points", 1, "The share of points that are right,"),
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    for name, title in run_titles(found.matching("ablation/*.scores.parquet")).items():
        yield from disabling(found, name, title, study)
    for name, title in run_titles(found.matching("pruning/*.importance.parquet")).items():
        yield from importance(found, name, title, study)
    if ARCT_HEADS in found:
        yield from cue(found, study)


def split_titles(task: str, splits: list[str]) -> dict[str, str]:
    """What each development set adds to the task's title."""
    titles = {split: f", {split.removeprefix('dev_')}" for split in splits}
    return titles | {"dev": ", matched" if "dev_mismatched" in splits else ""}


def disabling(found: Tables, name: str, title: str, study: Study) -> Iterator[Form]:
    """The change of the score without the head, or with it alone, on every development set."""
    task, seed = task_of(name), seed_of(name)
    frame = found[name]
    frame = frame[(frame["metric"] == TASKS[task].main_metric) & frame["unit"].isin(UNITS)]
    titles = split_titles(task, list(frame["split"].unique()))
    chosen = frame.drop_duplicates(["unit", "mode", "split"])
    order = chosen.sort_values(["unit", "mode"], ascending=[False, False], kind="stable")
    for row in order.to_dict("records"):
        unit, mode, split, metric = (row[key] for key in ("unit", "mode", "split", "metric"))
        paper, does = MODES[mode]
        group, effect, how = UNITS[unit]
        where = {"unit": unit, "mode": mode, "split": split, "metric": metric}
        on = f"{title}{titles[split]}"
        yield Form(
            f"disabling.{task}.{seed}.{unit}.{mode}.{identifier(split)}",
            f"{effect} ({mode}), {on}",
            f"{METRICS[metric].capitalize()} on development examples of {on}, {how} {does}; minus "
            f"that of the intact model, {100 * row['baseline']:.1f}. Model fine-tuned with seed "
            f"{seed}.{study.note(task)} {OVER_EXAMPLES} p: paired randomisation test, corrected "
            "for the number of heads.",
            Rows(name, "effect", where, 100, CORRECTED),
            unit="points",
            scale="diverging",
            decimals=1,
            better="low" if unit == "head" else "high",
            null=0,
            null_title="no effect",
            paper=paper,
            group=f"{group}, {mode}",
            task=task,
            state=state_of(task, seed),
        )


def importance(found: Tables, name: str, title: str, study: Study) -> Iterator[Form]:
    """The gradient of the loss by the head's gate, plain and over its layer's norm."""
    task, seed = task_of(name), seed_of(name)
    place = {"paper": "michel2019", "group": "Importance", "task": task}
    place["state"] = state_of(task, seed)
    over = f"Mean over training examples of {title}.{study.note(task)}"
    where = {"variant": "paper"}
    yield Form(
        f"importance.{task}.{seed}",
        f"Importance, {title}",
        f"|dL/d gate|: how much an example's loss changes with the head's gate. {over} "
        f"{OVER_EXAMPLES}",
        Rows(name, "importance", where),
        decimals=4,
        better="high",
        **place,
    )
    yield Form(
        f"importance.{task}.{seed}.normalised",
        f"Importance in its layer, {title}",
        f"Importance over the l2 norm of its layer, by which heads are pruned. {over} No interval.",
        Rows(name, "normalised", where, beside={"n": "n"}),
        decimals=3,
        better="high",
        **place,
    )


def cue(found: Tables, study: Study) -> Iterator[Form]:
    """ARCT: what disabling a head changes in what the model makes of the cue."""
    frame = found[ARCT_HEADS]
    frame = frame[frame["split"] == frame["split"].iloc[0]]  # all held-out points
    for row in frame.drop_duplicates(["setup", "measure"]).to_dict("records"):
        setup, measure = row["setup"], row["measure"]
        title, unit, decimals, what = CUE[measure]
        where = {"split": row["split"], "setup": setup, "measure": measure}
        yield Form(
            f"cue.{identifier(setup.replace(', ', ''))}.{measure}",
            f"{title}, input {setup}",
            f"{what} with the head disabled; minus that of the intact model, "
            f"{row['baseline']:.3g}. The model reads {setup} (C claim, R reason, W warrant). "
            f"Points of {row['split']}, mean over {row['seeds']} seeds.{study.note('arct')} "
            "Interval: 95%, bootstrap over points; p: randomisation test, corrected for the number "
            "of heads.",
            Rows(ARCT_HEADS, "effect", where, 1, CORRECTED),
            unit=unit,
            scale="diverging",
            decimals=decimals,
            better="low",
            null=0,
            null_title="no effect",
            paper="niven2019",
            group="Cue",
            task="arct",
            state=state_of("arct"),
        )
