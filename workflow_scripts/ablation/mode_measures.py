"""What the tables of modes hold: the measure of the atlas, and its badges."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.badges import Badge
from workflow_scripts.core.measures.forms import Form, Study, Table, task_title
from workflow_scripts.core.measures.tables import Tables

MODE_HEADS = Table(
    "tables/ablation-mode-heads.csv",
    "what disabling a head shows in each mode, and in all of them together",
    value="verdict",
    low="",
    high="",
    n="",
    keys=("task", "seed", "of"),
    categories=("in all modes", "depends on the mode", "no effect shown"),
    ids=("modes.<task>.<seed>",),
)
NEXT_TOKEN_MODE_HEADS = replace(MODE_HEADS, file="tables/next-token-mode-heads.csv")
BADGES = (
    ("in-all-modes", "A", "Matters in all modes", "in all modes", "in every mode of disabling"),
    ("mode-dependent", "M", "Depends on the mode", "depends on the mode", "in some modes alone"),
)


def mode_forms(found: Tables, study: Study) -> Iterator[Form]:
    """The verdict over modes on each task's loss."""
    for table in (MODE_HEADS, NEXT_TOKEN_MODE_HEADS):
        if table not in found:
            continue
        frame = found[table]
        modes = [name.removeprefix("verdict_") for name in frame.filter(like="verdict_").columns]
        runs = frame.loc[frame["of"] == "loss", ["task", "seed"]].drop_duplicates()
        for task, seed in runs.itertuples(index=False):
            title = "running text" if task == "text" else f"{task_title(task)}, seed {seed}"
            yield table.form(
                f"modes.{task}.{seed}",
                f"Effect in all modes of disabling, {title}",
                f"Whether a loss or a gain of the loss on {title} (p below .05, corrected for all "
                f"heads) shows in all modes ({', '.join(modes)}), in some, or in none."
                f"{study.note(task)}",
                {"task": task, "seed": seed, "of": "loss"},
                paper="beyond",
                group="Modes of disabling",
            )


def mode_badges(found: Tables, study: Study) -> Iterator[Badge]:
    """Heads with an effect on the loss in all modes, or in some, on any task."""
    for table in (MODE_HEADS, NEXT_TOKEN_MODE_HEADS):
        if table in found:
            for id_, mark, title, verdict, where in BADGES:
                about = (
                    f"The loss with the head disabled differs from the intact model's {where}, on "
                    "at least one task: p below .05, corrected for all heads."
                )
                wanted = {"of": "loss", "verdict": verdict}
                yield Badge(id_, mark, title, about, table, wanted)
