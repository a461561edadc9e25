"""Whether what heads score agrees, also with what disabling each costs: rank correlations."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import document_weights, percentile_ends
from workflow_scripts.core.stats.metrics import weighted_scores

KEYS = ["layer", "head"]
PAIRS = (
    ("induction", "eigenvalue"),
    ("induction", "copying"),
    ("eigenvalue", "copying"),
    ("induction", "retrieval"),
    ("induction", "damage"),
    ("previous", "damage"),
    ("duplicate", "damage"),
)


def rank_correlations(frame: pd.DataFrame, shared: int, draws: int, seed: int) -> pd.DataFrame:
    """Spearman's correlation, over heads, of each of PAIRS that is there, with 95% intervals.

    Each `shared` heads of a layer have their keys and values in common, so that their scores are
    alike; the intervals resample these groups. `frame` is indexed by layer and head.
    """
    heads = frame.index.to_frame()
    groups = heads["layer"].astype(str) + "." + (heads["head"] // shared).astype(str)
    all_heads = np.ones((1, len(frame)), dtype=int)
    weights, rows = np.concatenate([all_heads, document_weights(groups, draws, seed)]), []
    for one, other in PAIRS:
        if {one, other} <= set(frame):
            values = frame[one].to_numpy(), frame[other].to_numpy()[None]
            values = weighted_scores("spearman", *values, weights)[:, 0]
            low, high = percentile_ends(values[1:], groups.nunique())
            ends = {"rho": values[0], "ci_low": low, "ci_high": high}
            counts = {"n": len(frame), "n_groups": groups.nunique()}
            rows.append({"of": one, "with": other} | ends | counts)
    return pd.DataFrame(rows)


def main(
    model: Path,
    roles: Path,
    copying: Path,
    table: job.Out,
    bootstrap: int,
    retrieval: list[Path] = (),
    ablation: list[Path] = (),
    seed: int = 1,
) -> None:
    """Write the correlations; those with retrieval and damage only where the study has these."""
    scores = tables.read(roles)
    copied = tables.read(copying).set_index(KEYS)
    frame = scores.pivot(index=KEYS, columns="role", values="score")
    frame = frame.join(copied[["top", "eigenvalue"]]).rename(columns={"top": "copying"})
    for path in retrieval:
        found = tables.read(path).set_index(KEYS)
        frame = frame.join(found["score"].rename("retrieval"))
    for path in ablation:
        effects = tables.read(path).set_index(KEYS)
        alone = effects[(effects["unit"] == "head") & (effects["mode"] == "zero")]
        frame = frame.join(alone["effect"].rename("damage"))
    card = read_card(model)
    shared = card["n_heads"] // card.get("n_kv_heads", card["n_heads"])
    tables.write_csv(rank_correlations(frame, shared, bootstrap, seed), table)


if __name__ == "__main__":
    job.run(main, globals())
