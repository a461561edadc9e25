"""Whether what heads score agrees: rank correlations over heads.

Of induction with the eigenvalue score, with copying by behaviour and with retrieval, and with what
disabling each head alone costs on running text.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.bootstrap import CONFIDENCE, document_weights
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


def by_head(roles: pd.DataFrame, copying: pd.DataFrame, *others: pd.DataFrame) -> pd.DataFrame:
    """One row per head: each role's score, `copying` (top), `eigenvalue` and those of `others`."""
    frame = roles.pivot(index=KEYS, columns="role", values="score")
    frame = frame.join(copying.set_index(KEYS)[["top", "eigenvalue"]])
    frame = frame.rename(columns={"top": "copying"})
    return frame.join([other.set_index(KEYS) for other in others])


def rank_correlations(frame: pd.DataFrame, shared: int, draws: int, seed: int) -> pd.DataFrame:
    """Spearman's correlation, over heads, of each of PAIRS that is there, with 95% intervals.

    Each `shared` heads of a layer have their keys and values in common, so that their scores are
    alike; the intervals resample these groups. `frame` is indexed by layer and head.
    """
    heads = frame.index.to_frame()
    groups = heads["layer"].astype(str) + "." + (heads["head"] // shared).astype(str)
    weights = document_weights(groups, draws, seed)
    all_heads = np.ones((1, len(frame)), dtype=int)
    rows = []
    for one, other in PAIRS:
        if {one, other} <= set(frame):
            values = weighted_scores(
                "spearman",
                frame[one].to_numpy(),
                frame[other].to_numpy()[None],
                np.concatenate([all_heads, weights]),
            )[:, 0]
            low, high = np.percentile(values[1:], CONFIDENCE)
            ends = {"rho": values[0], "ci_low": low, "ci_high": high}
            counts = {"n": len(frame), "n_groups": groups.nunique()}
            rows.append({"of": one, "with": other} | ends | counts)
    return pd.DataFrame(rows)


def read_retrieval(retrieval: list[Path]) -> list[pd.DataFrame]:
    """The score of each head: layer, head, retrieval."""
    frames = [tables.read(path, (*KEYS, "score")) for path in retrieval]
    return [each.rename(columns={"score": "retrieval"})[[*KEYS, "retrieval"]] for each in frames]


def read_damage(ablation: list[Path]) -> list[pd.DataFrame]:
    """What disabling each head alone (mode zero) costs on running text: layer, head, damage."""
    frames = [tables.read(path, (*KEYS, "unit", "mode", "effect")) for path in ablation]
    kept = [each[(each["unit"] == "head") & (each["mode"] == "zero")] for each in frames]
    return [rows.rename(columns={"effect": "damage"})[[*KEYS, "damage"]] for rows in kept]


def main(
    model: Path,
    roles: Path,
    copying: Path,
    table: Out,
    bootstrap: int,
    retrieval: list[Path] = (),
    ablation: list[Path] = (),
    seed: int = 1,
) -> None:
    """Write the correlations; those with retrieval and damage only where the study has these."""
    scores = tables.read(roles, (*KEYS, "role", "score"))
    copied = tables.read(copying, (*KEYS, "top", "eigenvalue"))
    frame = by_head(scores, copied, *read_retrieval(retrieval), *read_damage(ablation))
    card = read_card(model)
    shared = card["n_heads"] // card.get("n_kv_heads", card["n_heads"])
    tables.write_csv(rank_correlations(frame, shared, bootstrap, seed), table)


if __name__ == "__main__":
    job.run(main, globals())
