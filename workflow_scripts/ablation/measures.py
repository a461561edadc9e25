"""What the tables of disabled heads hold, and the measures and badges of heads that they give."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.measures.forms import (
    NO_EFFECT,
    NO_INTERVAL,
    OVER_DOCUMENTS,
    OVER_EXAMPLES,
    Badge,
    Form,
    Study,
    Table,
    Tables,
    identifier,
    run_titles,
    state_of,
    task_title,
    variants,
)

PAPER = "kovaleva2019"
MODE_HEADS = Table(
    "tables/ablation-mode-heads.csv",
    value="verdict",
    **NO_INTERVAL,
    keys=("task", "seed", "of"),
    categories=("in all modes", "depends on the mode", "in some modes", "no effect shown"),
    label="effects",
    paper="beyond",
    group="Ways of disabling",
)
NEXT_TOKEN_MODE_HEADS = replace(MODE_HEADS, file="tables/next-token-mode-heads.csv")
ATTRIBUTION = Table(
    "tables/ablation-attribution-heads.csv",
    value="attribution",
    n_of="examples",
    interval="attribution",
    keys=("task", "seed", "estimate"),
    **NO_EFFECT,
    decimals=4,
    harm="high",
    paper="beyond",
    group="Attribution",
)
NEXT_TOKEN_ATTRIBUTION = replace(
    ATTRIBUTION, file="tables/next-token-attribution-heads.csv", unit="nats", n_of="segments"
)
SCORES = Table(
    "ablation/<task>.finetuned.<seed>.scores.parquet",
    value="effect",
    n_of="examples",
    keys=("unit", "mode", "split", "metric"),
    p="p_corrected",
    **NO_EFFECT,
    factor=100,
    unit="points",
    decimals=1,
    harm="low",
)
HEADS = Table(
    "tables/kovaleva2019-heads.csv",
    value="stratum",
    **NO_INTERVAL,
    paper=PAPER,
    group="What disabling shows",
)
VERDICTS = ("loss", "gain", "equivalent", "cannot tell")
# Of a key-value group, `head` is the key-value head.
NEXT_TOKEN = Table(
    "ablation/next_token.scores.parquet",
    value="effect",
    n_of="segments",
    keys=("unit", "mode"),
    p="p_corrected",
    **NO_EFFECT,
    unit="nats",
    decimals=3,
    harm="high",
)
# The paper of each way to disable a head, what the head does then, and what several are.
MODES = {
    "uniform": ("kovaleva2019", "attends to all tokens equally", "made uniform"),
    "zero": ("michel2019", "gives no output", "zeroed"),
    "mean": ("beyond", "gives its mean output", "at their mean"),
    "position": ("beyond", "gives its mean output at each position", "at their mean by position"),
    "resample": ("beyond", "gives its output on another text", "of another text"),
}
UNITS = {
    "head": ("One head disabled", "Head disabled ({mode})", "with the head disabled: it"),
    "all-but-one": (
        "All other heads in the layer disabled",
        "All other heads in the layer disabled ({mode})",
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


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    if HEADS in found:
        yield from verdicts(found, study)
    for table, title, run in run_titles(found.each(SCORES)):
        yield from disabling(found, table, title, run, study)
    if NEXT_TOKEN in found:
        yield from next_token(found, study)
    yield from mode_forms(found, study)
    yield from attribution_forms(found, study)


def set_name(task: str, split: str) -> str:
    """The name of a task's development set in printed tables."""
    return "matched" if (task, split) == ("mnli", "dev") else split.removeprefix("dev_")


def set_title(task: str, split: str) -> str:
    """The task's title and the name of its development set."""
    return f"{TASKS[task].title} {set_name(task, split)}"


def seed_title(task: str, seed: int) -> str:
    """The name of one of a task's seeds in printed tables."""
    return f"{TASKS[task].title} seed {seed}"


def split_titles(task: str, splits: list[str]) -> dict[str, str]:
    """What each development set adds to the task's title."""
    titles = {split: f", {set_name(task, split)}" for split in splits}
    return titles if "dev_mismatched" in splits else titles | {"dev": ""}


def disabling(
    found: Tables, table: Table, title: str, run: dict[str, Any], study: Study
) -> Iterator[Form]:
    """The change of the score without the head, or with it alone, on every development set."""
    task, seed = table.names["task"], table.names["seed"]
    frame = found[table]
    frame = frame[frame["metric"] == TASKS[task].main_metric]
    titles = split_titles(task, list(frame["split"].unique()))
    for row, title_of, how, form in variants(frame, UNITS, MODES, "split", "metric"):
        unit, mode, split = (row[key] for key in ("unit", "mode", "split"))
        on = f"{title}{titles[split]}"
        yield table.form(
            f"disabling.{task}.{seed}.{unit}.{mode}.{identifier(split)}",
            f"{title_of}, {on}",
            f"{METRICS[row['metric']].capitalize()} on development examples of {on}, {how}; minus "
            f"that of the intact model, {100 * row['baseline']:.1f}. Model fine-tuned with seed "
            f"{seed}.{study.note(task)} {OVER_EXAMPLES} p: paired randomisation test, corrected "
            "for the number of heads.",
            better="low" if unit == "head" else "high",
            **form,
            **run,
        )


def next_token(found: Tables, study: Study) -> Iterator[Form]:
    """The change of a language model's loss without the head, or with it alone in its layer."""
    for row, title, how, form in variants(found[NEXT_TOKEN], UNITS, MODES):
        yield NEXT_TOKEN.form(
            f"nats.{row['unit']}.{row['mode']}",
            f"{title}, nats per token",
            "Nats per token of running text that is predicted (by a decoder the next, by an "
            "encoder a masked one), or for the label of a word by a classifier of tokens, "
            f"{how}; minus those of the intact model, "
            f"{row['baseline']:.2f}. Above 0 is a loss.{study.note('text')} {OVER_DOCUMENTS} p: "
            "paired randomisation test that swaps documents, corrected for the number of heads.",
            better="high" if row["unit"] == "head" else "low",
            **form,
        )


def verdicts(found: Tables, study: Study) -> Iterator[Form]:
    """What disabling a head shows, by the task."""
    runs = found.each(SCORES)
    for column in found[HEADS].filter(like="verdict_").columns:
        task = str(column).removeprefix("verdict_")
        seeds = [run.names["seed"] for run in runs if run.names["task"] == task]
        title = task_title(task)
        yield replace(HEADS, value=str(column), categories=VERDICTS).form(
            f"verdict.{task}",
            f"What disabling shows, {title}",
            "Making the head's attention uniform is a loss or a gain if the corrected test is "
            "significant, and equivalent if two one-sided tests bound the change of the score; "
            "otherwise the data cannot tell. On development examples of "
            f"{title}, mean over seeds.{study.note(task)}",
            task=task,
            state=state_of(task, seeds[0] if len(seeds) == 1 else None),
        )


def mode_forms(found: Tables, study: Study) -> Iterator[Form]:
    """The verdict over modes on each task's loss."""
    for table in filter(found.__contains__, (MODE_HEADS, NEXT_TOKEN_MODE_HEADS)):
        frame = found[table]
        modes = [name.removeprefix("verdict_") for name in frame.filter(like="verdict_").columns]
        runs = frame.loc[frame["of"] == "loss", ["task", "seed"]].drop_duplicates()
        for task, seed in runs.itertuples(index=False):
            title, run = _run(task, seed)
            yield table.form(
                f"modes.{task}.{seed}",
                f"Consistent ablation effect on the loss ({title})",
                f"Whether ablating the head changes the loss on {title} with all ablation methods "
                f"({', '.join(modes)}), with some or with none: p below .05, corrected for all "
                "heads. “Depends on the mode”: two methods' effects differ, paired by example. A "
                "card has changes of the loss with 90% intervals for all heads together."
                f"{study.note(task)}",
                {"task": task, "seed": seed, "of": "loss"},
                **run,
            )


def attribution_forms(found: Tables, study: Study) -> Iterator[Form]:
    """The attribution of each mode, and importance on the same examples."""
    for table in filter(found.__contains__, (ATTRIBUTION, NEXT_TOKEN_ATTRIBUTION)):
        runs = found[table].drop_duplicates(["task", "seed", "estimate"])
        for row in runs.to_dict("records"):
            task, seed, estimate = (row[key] for key in ("task", "seed", "estimate"))
            text, (title, run) = task == "text", _run(task, seed)
            agrees = f"{row['rho']:.2f} ({row['rho_low']:.2f} to {row['rho_high']:.2f})"
            how = f"the first-order change of the loss in mode {estimate}"
            if estimate == "importance":
                how = "the mean size of the attributions of mode zero (Michel et al. 2019)"
            yield table.form(
                f"attribution.{'nats' if text else f'{task}.{seed}'}.{estimate}",
                f"Attribution ({estimate}), {title}",
                f"What one backward pass estimates of the effect of disabling the head: {how}, on "
                f"{title}. Spearman's correlation with the exact effect on the loss, over heads: "
                f"{agrees}.{study.note(task)} {OVER_DOCUMENTS if text else OVER_EXAMPLES}",
                {"task": task, "seed": seed, "estimate": estimate},
                **run,
            )


def _run(task: str, seed: int) -> tuple[str, dict[str, Any]]:
    """The title of a run, and the fields of its forms."""
    if task == "text":
        return "running text", {}
    return f"{task_title(task)}, seed {seed}", {"task": task, "state": state_of(task, seed)}


def badges(found: Tables) -> Iterator[Badge]:
    """Heads without which a task's score is shown to fall in each mode, and in one alone."""
    tasks: dict[str, dict[str, list[str]]] = {}  # the measures of each mode, one for each seed
    for table in found.each(SCORES):
        frame = found[table]
        rows = frame[(frame["unit"] == "head") & (frame["split"] == "dev")]
        task, seed = table.names["task"], table.names["seed"]
        for mode in rows["mode"].unique():
            measures = tasks.setdefault(task, {}).setdefault(mode, [])
            measures.append(f"disabling.{task}.{seed}.head.{mode}.dev")
    for task, modes in sorted(tasks.items()):
        score = METRICS[TASKS[task].main_metric]
        yield from harmful(task, f"{task_title(task)}: {score} falls", modes)
    if NEXT_TOKEN in found:
        rows = found[NEXT_TOKEN]
        modes = rows.loc[rows["unit"] == "head", "mode"].unique()
        of_mode = {mode: [f"nats.head.{mode}"] for mode in modes}
        yield from harmful("text", "Running text: loss rises", of_mode)


def harmful(task: str, title: str, modes: dict[str, list[str]]) -> Iterator[Badge]:
    """Badges of the heads that every measure of all `modes` shows, and of others by mode."""
    every = [measure for of_mode in modes.values() for measure in of_mode]
    names, n = ", ".join(modes), len(every) // len(modes)
    seeds = f" and with each of {n} seeds" if n > 1 else ""
    ways = {"all": (f"in all modes ({names})", every, [])} if len(modes) > 1 else {}
    for mode, measures in modes.items():
        unless = every if len(modes) > 1 else []
        ways[mode] = f"({mode})", measures, unless
    for way, (mode, measures, unless) in ways.items():
        yield Badge(
            f"harm.{task}.{way}",
            f"{title} {mode}",
            "With this head alone disabled: paired randomisation test, p below .05, corrected for "
            f"the number of heads, in {'each' if way == 'all' else 'this'} mode{seeds}"
            f"{', but not in all modes' if unless else ''}.",
            measure=measures[0],
            harm=tuple(measures),
            unless=tuple(unless),
        )
