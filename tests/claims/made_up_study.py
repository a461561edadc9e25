"""A small study whose tables are made up, with what claims read of it."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from tests.claims.made_up import products
from workflow_scripts.arguments import argument_scores, niven2019_tables
from workflow_scripts.core.data import tables

MODEL = "made-up"
FAMILIES, TRAINED_ON = ("bert", "bov", "bilstm"), ("original", "swapped", "negated")
CARD = {"name": MODEL, "architecture": "bert", "n_layers": 4, "n_heads": 2, "hidden_size": 8}


class MadeUpStudy:
    """Writes tables with random numbers below `results`, as a finished study has them."""

    def __init__(self, results: Path, seed: int = 5) -> None:
        self.results, self.folder = results, results / MODEL
        self.random = np.random.default_rng(seed)
        (self.folder / "attention").mkdir(parents=True)
        (self.folder / "attention/model.json").write_text(json.dumps(CARD), encoding="utf-8")

    def arguments(self, seeds: Sequence[int] = (1, 2, 3)) -> None:
        """Runs on ARCT, each right on a share of its own, one in three degenerate; no C, W."""
        (self.folder / "arguments").mkdir()
        (self.results / "arguments").mkdir()
        paths = []
        for family, trained_on in product(FAMILIES, TRAINED_ON):
            runs = [self._run(family, trained_on, setup, seed)
                    for setup in ("full", "W", "RW") for seed in seeds]  # fmt: skip
            frame = pd.concat(runs, ignore_index=True)
            if family == "bert":
                for seed in seeds:
                    paths.append(self.folder / f"arguments/bert.{trained_on}.{seed}.parquet")
                    tables.write(frame[frame["seed"] == seed], paths[-1])
            else:
                paths.append(self.results / f"arguments/{family}.{trained_on}.parquet")
                tables.write(frame, paths[-1])
        scores = self.folder / "arguments/scores.parquet"
        argument_scores.main(paths, scores, {"bert": 0.8, "bov": 0, "bilstm": 0})
        (self.folder / "tables").mkdir()
        printed = [self.folder / f"tables/niven2019-table{number}.csv" for number in (1, 3, 4)]
        niven2019_tables.main(scores, self.folder / "attention/model.json", *printed, name=MODEL)
        self._cue_and_easy_points()

    def _run(self, family: str, trained_on: str, setup: str, seed: int) -> pd.DataFrame:
        """The logits of one run on 40 training, 60 development and 120 test points."""
        counts = {"train": 40, "dev": 60, "test": 120}
        degenerate = family == "bert" and seed % 3 == 0
        skill = {"train": 0.5 if degenerate else 0.95}
        parts = []
        for split, version in product(counts, ("original", "negated")):
            ids = [f"{split}{n}" for n in range(counts[split])]
            labels = self.random.integers(0, 2, len(ids))
            share = skill.get(split, self.random.uniform(0.5, 0.8))
            right = self.random.random(len(ids)) < (share if version == "original" else 1 - share)
            if split == "train":
                right = self.random.random(len(ids)) < share
            picked = np.where(right, labels, 1 - labels)
            about = {"split": split, "version": version, "id": ids, "label": labels}
            parts.append(pd.DataFrame(about | {"logit_0": 1.0 - picked, "logit_1": 1.0 * picked}))
        names = {"family": family, "trained_on": trained_on, "setup": setup, "seed": seed}
        return pd.concat(parts, ignore_index=True).assign(**names)

    def _cue_and_easy_points(self) -> None:
        rows = []
        for split, n in (("train", 1210), ("dev", 316), ("test", 444), ("all", 1970)):
            applicable = int(n * self.random.uniform(0.4, 0.8))
            about = {"data": "original", "split": split, "cue": "not", "n": n}
            productive = int(applicable * self.random.uniform(0.4, 0.8))
            rows.append(about | {"applicable": applicable, "productive": productive})
        products(self.results, niven2019_table2=rows)
        rows = []
        for source, runs in product(("this study", "Niven and Kao"), ("all", "not degenerate")):
            for model, split in product(("BERT", "BoV"), ("dev", "test")):
                middle = self.random.normal(0, 0.2) if model == "BoV" else np.nan
                about = {"source": source, "runs": runs, "model": model, "split": split, "n": 30}
                about |= {"measure": "cue among always right", "setup": "C, R, W", "n_points": 60}
                ends = {"bert_minus_low": middle - 0.1, "bert_minus_high": middle + 0.1}
                rows.append(about | {"n_runs": 3, "bert_minus": middle} | ends)
        products(self.folder, niven2019_easy=rows)
