"""What a trained model does when a cue is taken out of a warrant or changes sides."""

import logging
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import torch

from workflow_scripts.arguments import runs
from workflow_scripts.arguments.argument_cues import LEVEL
from workflow_scripts.arguments.argument_training import Family
from workflow_scripts.arguments.setups import CHANGES, WARRANTS
from workflow_scripts.arguments.wording import (
    Cue,
    exchanged,
    forms,
    grams,
    without,
    without_another,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import held_out

log = logging.getLogger(__name__)


def sides(frame: pd.DataFrame, cue: Cue, same: Mapping[str, str]) -> list[int]:
    """The warrant, 0 or 1, that alone has the cue; -1 where none does."""
    found = []
    for pair in zip(*(frame[name] for name in WARRANTS), strict=True):
        has = [cue in grams(forms(text, same), [len(cue)]) for text in pair]
        found.append(has.index(True) if sum(has) == 1 else -1)
    return found


def changed(
    frame: pd.DataFrame, cue: Cue, same: Mapping[str, str], change: str, seed: int
) -> pd.DataFrame:
    """The points, each with its cue changed; the column `side` says which warrant had it alone."""
    rows = []
    for row in frame.to_dict("records"):
        name, other = WARRANTS[row["side"]], WARRANTS[1 - row["side"]]
        if change == "removed":
            new = {name: without(row[name], cue, same)}
        elif change == "exchanged":
            new = dict(zip((name, other), exchanged(row[name], row[other], cue, same), strict=True))
        else:
            rng = random.Random(f"{seed}-{row['id']}-{cue}")
            new = {name: without_another(row[name], cue, same, rng)}
        rows.append(row | new)
    return pd.DataFrame(rows)


def cues_to_change(cues: pd.DataFrame, cue: str, most: int) -> list[Cue]:
    """The study's own cue and those of the training set that are furthest from chance."""
    train = cues[(cues["data"] == "original") & (cues["split"] == "train")]
    beyond = train[train["p_corrected"] < LEVEL].sort_values("p", kind="stable")["cue"]
    names = list(dict.fromkeys([cue.lower(), *beyond]))[:most]
    return [tuple(name.split()) for name in names]


def measure(
    family: Family,
    weights: Sequence[Path],
    setups: Sequence[str],
    frame: pd.DataFrame,
    cues: Sequence[Cue],
    same: Mapping[str, str],
    device: torch.device,
    seed: int,
) -> pd.DataFrame:
    """Logits of every held-out original point that a cue is applicable to, unchanged and changed.

    One row per model (set-up and `seed`, from the names of its `weights`), cue, change (`none`
    and CHANGES) and point: setup, seed, cue, change, id, label, side, logit_0, logit_1.
    """
    points, encode, found = pd.concat(held_out(frame), ignore_index=True), runs.Encoder(family), []
    texts = {cue: versions_of(points, cue, same, seed) for cue in cues}
    for named, model in runs.kept_models(family, weights, setups, device):
        for cue in cues:
            for change, its in texts[cue].items():
                logits = runs.predict(family, model, encode, its, named["setup"])
                about = {"cue": " ".join(cue), "change": change, "side": its["side"]}
                found.append(logits.assign(**named, **about))
    return pd.concat(found, ignore_index=True).assign(family=family.name)


def versions_of(
    points: pd.DataFrame, cue: Cue, same: Mapping[str, str], seed: int
) -> dict[str, pd.DataFrame]:
    """The points that a cue is applicable to, unchanged (`none`) and under each of CHANGES.

    A point whose warrant is nothing but the cue is left out, and the log says so.
    """
    known = points.assign(side=sides(points, cue, same))
    known = known[known["side"] >= 0].reset_index(drop=True)
    if not len(known):
        log.info("%s: applicable to no held-out point", " ".join(cue))
        return {}
    left = [without(row[WARRANTS[row["side"]]], cue, same) for _, row in known.iterrows()]
    if "" in left:
        n = left.count("")
        log.info("%s: %d points left out, the cue is all of a warrant", " ".join(cue), n)
    known = known[[text != "" for text in left]].reset_index(drop=True)
    return {"none": known} | {how: changed(known, cue, same, how, seed) for how in CHANGES}


def read_changed(cues: Path, cue: str, most: int) -> list[Cue]:
    """`cues_to_change` of a table of cues."""
    columns = ("data", "split", "cue", "p", "p_corrected")
    return cues_to_change(tables.read(cues, columns), cue, most)
