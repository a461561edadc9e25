"""Made-up runs on ARCT and tables that the claims of Niven and Kao read."""

from itertools import product

import numpy as np
import pandas as pd

from tests.claims.made_up import MadeUpTables
from workflow_scripts.arguments import argument_scores, niven2019_tables
from workflow_scripts.core.data import tables

FAMILIES, TRAINED_ON = ("bert", "bov", "bilstm"), ("original", "swapped", "negated")


def write(study: MadeUpTables) -> None:
    """Runs on ARCT, each right on a share of its own, one in three degenerate.

    Only from original points is there C, W.
    """
    (study.folder / "arguments").mkdir()
    (study.results / "arguments").mkdir()
    paths = []
    for family, trained_on in product(FAMILIES, TRAINED_ON):
        setups = ("full", "W", "RW", "CW")[: 4 if trained_on == "original" else 3]
        runs = [_run(study, family, trained_on, setup, seed)
                for setup in setups for seed in study.seeds]  # fmt: skip
        frame = pd.concat(runs, ignore_index=True)
        if family == "bert":
            for seed in study.seeds:
                paths.append(study.folder / f"arguments/bert.{trained_on}.{seed}.parquet")
                tables.write(frame[frame["seed"] == seed], paths[-1])
        else:
            paths.append(study.results / f"arguments/{family}.{trained_on}.parquet")
            tables.write(frame, paths[-1])
    scores = study.folder / "arguments/scores.parquet"
    argument_scores.main(paths, scores, {"bert": 0.8, "bov": 0, "bilstm": 0})
    (study.folder / "tables").mkdir(exist_ok=True)
    printed = [study.folder / f"tables/niven2019-table{number}.csv" for number in (1, 3, 4)]
    niven2019_tables.main(scores, study.card, *printed, name=study.name)
    _cue_and_easy_points(study)


def _run(study: MadeUpTables, family: str, trained_on: str, setup: str, seed: int) -> pd.DataFrame:
    """The logits of one run on 40 training, 60 development and 120 test points."""
    counts = {"train": 40, "dev": 60, "test": 120}
    degenerate = family == "bert" and seed % 3 == 0
    skill = {"train": 0.5 if degenerate else 0.95}
    parts = []
    for split, version in product(counts, ("original", "negated")):
        ids = [f"{split}{n}" for n in range(counts[split])]
        labels = study.rng.integers(0, 2, len(ids))
        share = skill.get(split, study.rng.uniform(0.5, 0.8))
        right = study.rng.random(len(ids)) < (share if version == "original" else 1 - share)
        if split == "train":
            right = study.rng.random(len(ids)) < share
        picked = np.where(right, labels, 1 - labels)
        about = {"split": split, "version": version, "id": ids, "label": labels}
        parts.append(pd.DataFrame(about | {"logit_0": 1.0 - picked, "logit_1": 1.0 * picked}))
    names = {"family": family, "trained_on": trained_on, "setup": setup, "seed": seed}
    return pd.concat(parts, ignore_index=True).assign(**names)


def _cue_and_easy_points(study: MadeUpTables) -> None:
    rows = []
    for split, n in (("train", 1210), ("dev", 316), ("test", 444), ("all", 1970)):
        applicable = int(n * study.rng.uniform(0.4, 0.8))
        about = {"data": "original", "split": split, "cue": "not", "n": n}
        productive = int(applicable * study.rng.uniform(0.4, 0.8))
        rows.append(about | {"applicable": applicable, "productive": productive})
    study.table("niven2019-table2", rows, study=True)
    axes = {"source": ("this study", "Niven and Kao"), "runs": ("all", "not degenerate")}
    axes |= {"model": ("BERT", "BoV"), "split": ("dev", "test")}
    same = {"measure": "cue among always right", "setup": "C, R, W", "n": 30, "n_points": 60}
    rows = study.made(axes, same | {"n_runs": len(study.seeds)}, bert_minus=(-0.4, 0.4))
    none = dict.fromkeys(("bert_minus", "bert_minus_low", "bert_minus_high"), np.nan)
    rows = [row | (none if row["model"] == "BERT" else {}) for row in rows]
    study.table("niven2019-easy", rows)
