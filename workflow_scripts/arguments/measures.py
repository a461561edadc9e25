"""What the table of heads on ARCT's cue holds, and the measures of heads that it gives."""

from collections.abc import Iterator

from workflow_scripts.core.measures.forms import (
    NO_EFFECT,
    NO_INTERVAL,
    Form,
    Study,
    Table,
    Tables,
    identifier,
    state_of,
)

HEADS = Table(
    "tables/niven2019-heads.csv",
    value="effect",
    n_of="points",
    keys=("split", "setup", "measure"),
    p="p_corrected",
    **NO_EFFECT,
    better="low",
    harm="low",
    paper="niven2019",
    group="Cue",
)
# A row for each point, set-up and seed of BERT trained on the original points.
PREDICTIONS = Table(
    "arguments/bert.original.<seed>.parquet",
    value="logit_1",
    keys=("version", "id", "setup", "split", "seed"),
    **NO_INTERVAL,
)
SCORES = Table(
    "arguments/scores.parquet",
    value="accuracy",
    keys=("family", "trained_on", "setup", "seed", "split", "points", "degenerate"),
    interval="",
)
# What is measured of a point, its unit, decimals, and what it is.
CUE = {
    "margin": (
        "Margin of the cue's warrant",
        "",
        3,
        "The logit of the warrant with the cue minus that of the other,",
    ),
    "follows": (
        "Picks of the cue's warrant",
        "points",
        1,
        "The share of points where the model picks the warrant with the cue,",
    ),
    "accuracy": ("Accuracy on ARCT", "points", 1, "The share of points that the model gets right,"),
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """ARCT: what disabling a head changes in what the model makes of the cue."""
    if HEADS not in found:
        return
    frame = found[HEADS]
    frame = frame[frame["split"] == frame["split"].iloc[0]]  # all held-out points
    for row in frame.drop_duplicates(["setup", "measure"]).to_dict("records"):
        setup, measure = row["setup"], row["measure"]
        title, unit, decimals, what = CUE[measure]
        yield HEADS.form(
            f"cue.{identifier(setup.replace(', ', ''))}.{measure}",
            f"{title}, input {setup}",
            f"{what} with the head disabled; minus that of the intact model, "
            f"{row['baseline']:.3g}. The model reads {setup} (C claim, R reason, W warrant). "
            f"Points of {row['split']}, mean over seeds ({row['seeds']}).{study.note('arct')} "
            "Interval: 95%, bootstrap over points; p: randomisation test, corrected for the number "
            "of heads.",
            {"split": row["split"], "setup": setup, "measure": measure},
            unit=unit,
            decimals=decimals,
            task="arct",
            state=state_of("arct"),
        )
