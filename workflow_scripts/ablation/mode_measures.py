"""What the tables of modes and attributions hold: measures of the atlas, and badges."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.badges import Badge
from workflow_scripts.core.measures.forms import (
    OVER_DOCUMENTS,
    OVER_EXAMPLES,
    Form,
    Study,
    Table,
    task_title,
)
from workflow_scripts.core.measures.tables import Tables

MODE_HEADS = Table(
    "tables/ablation-mode-heads.csv",
    "what disabling a head shows in each mode, and in all of them together",
    value="verdict",
    low="",
    high="",
    n="",
    keys=("task", "seed", "of"),
    categories=("in all modes", "depends on the mode", "in some modes", "no effect shown"),
    ids=("modes.<task>.<seed>",),
)
NEXT_TOKEN_MODE_HEADS = replace(MODE_HEADS, file="tables/next-token-mode-heads.csv")
ATTRIBUTION = Table(
    "tables/ablation-attribution-heads.csv",
    "what one backward pass estimates of the effect of disabling the head on the loss",
    value="attribution",
    low="attribution_low",
    high="attribution_high",
    keys=("task", "seed", "estimate"),
    null=0,
    null_title="no effect",
    decimals=4,
    scale="diverging",
    ids=("attribution.<task>.<seed>.<estimate>",),
)
NEXT_TOKEN_ATTRIBUTION = replace(
    ATTRIBUTION,
    file="tables/next-token-attribution-heads.csv",
    unit="nats",
    ids=("attribution.nats.<estimate>",),
)
BADGES = (
    (
        "in-all-modes",
        "A",
        "Matters in all modes",
        "in all modes",
        "The loss with the head disabled differs from the intact model's, in the same direction in "
        "every mode of disabling: p below .05 in each, corrected for all heads.",
    ),
    (
        "mode-dependent",
        "M",
        "Depends on the mode",
        "depends on the mode",
        "The loss with the head disabled in one mode differs from that in another: p below .05, "
        "corrected for all heads and pairs of modes.",
    ),
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
                f"Whether disabling the head changes the loss on {title} (p below .05, corrected "
                f"for all heads) in all modes ({', '.join(modes)}), in some, or in none, and "
                "whether its effects in two modes differ (then it depends on the mode)."
                f"{study.note(task)}",
                {"task": task, "seed": seed, "of": "loss"},
                paper="beyond",
                group="Modes of disabling",
            )


def attribution_forms(found: Tables, study: Study) -> Iterator[Form]:
    """The attribution of each mode, and importance on the same examples."""
    for table in (ATTRIBUTION, NEXT_TOKEN_ATTRIBUTION):
        if table not in found:
            continue
        runs = found[table].drop_duplicates(["task", "seed", "estimate"])
        for row in runs.to_dict("records"):
            task, seed, estimate = (row[key] for key in ("task", "seed", "estimate"))
            text = task == "text"
            title = "running text" if text else f"{task_title(task)}, seed {seed}"
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
                paper="beyond",
                group="Attribution",
            )


def mode_badges(found: Tables, study: Study) -> Iterator[Badge]:
    """Heads whose effects on the loss show in all modes, or depend on it, on any task."""
    for table in (MODE_HEADS, NEXT_TOKEN_MODE_HEADS):
        if table in found:
            for id_, mark, title, verdict, about in BADGES:
                wanted = {"of": "loss", "verdict": verdict}
                about = f"{about} On at least one task."
                yield Badge(id_, mark, title, about, table, wanted)
