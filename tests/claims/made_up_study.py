"""A small study whose tables are made up, with what claims read of it."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.atlas.made_up_tables import MadeUpModel
from tests.claims import made_up_decoders, made_up_kovaleva, made_up_michel
from tests.claims.made_up import products
from workflow_scripts.arguments import argument_scores, niven2019_tables
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card

MODEL, DECODER = "made-up", "decoder"
FAMILIES, TRAINED_ON = ("bert", "bov", "bilstm"), ("original", "swapped", "negated")
RELATIONS = "all prep pobj det nn nsubj amod dobj advmod aux poss auxpass ccomp mark prt".split()
VALUES = (
    "accuracy",
    "score",
    "difference",
    "entropy",
    "ratio",
    "value",
)  # whose ends have names of their own
DIRECTIONS = ("dependent_to_head", "head_to_dependent")
PROBES = "distances-and-words random-attention-and-words attention-only attention-and-words"


def made_up_study(folder: Path, seeds: Sequence[int]) -> Path:
    """The results of a study of these seeds, made up below the folder."""
    study = MadeUpStudy(folder / "results", seeds)
    study.everything()
    return study.results


class MadeUpStudy(MadeUpModel):
    """Writes tables with random numbers below `results`, as a finished study has them.

    Of each model that it trains there is one of each of `seeds`.
    """

    def __init__(self, results: Path, seeds: Sequence[int]) -> None:
        super().__init__(results, MODEL, (6, 4))
        card = {"name": MODEL, "architecture": "bert", "hidden_size": 8}
        write_card(card | {"n_layers": 6, "n_heads": 4}, self.card)
        self.results, self.seeds = results, seeds

    def rows(self, axes: Mapping[str, Sequence], *numbers: str, **same: Any) -> pd.DataFrame:
        """As it is made up elsewhere, but with every number between the ends of its interval."""
        frame = super().rows(axes, *numbers, **same)
        for value, low, high in zip(numbers, numbers[1:], numbers[2:], strict=False):
            if low.endswith("low"):
                frame[low] = frame[value] - 0.1 * frame[low]
                frame[high] = frame[value] + 0.1 * frame[high]
        return frame

    def everything(self) -> None:
        """All that the second computation reads."""
        self.clark()
        self.arguments()
        made_up_kovaleva.write(self, self.number)
        made_up_michel.classifiers(self)
        made_up_michel.translators(self)
        decoder = MadeUpModel(self.results, DECODER)
        card = {"name": DECODER, "architecture": "gpt2", "hidden_size": 8}
        write_card(card | {"n_layers": 4, "n_heads": 6}, decoder.card)
        made_up_decoders.write(decoder.folder, self.rng)

    def number(self, name: str, least: float = 0.0, most: float = 100.0) -> dict[str, float]:
        """A random number, called `name`, with its interval."""
        value, half = self.rng.uniform(least, most), self.rng.uniform(0, (most - least) / 10)
        low, high = ("ci_low", "ci_high") if name in VALUES else (f"{name}_low", f"{name}_high")
        return {name: value, low: value - half, high: value + half}

    def by_norm(self) -> None:
        """Special tokens and relations by norm."""
        axes = {"target": ("cls", "sep")}
        rows = self.rows(axes, "attention", "ci_low", "ci_high", n=40)
        self.write("mixing/special_tokens.parquet", rows)
        both = [
            {"relation": name, "same": bool(k % 3), "surely_another": k % 6 == 0, "n": 60}
            for k, name in enumerate(RELATIONS)
        ]
        mixing = [{"method": "norm", "layer": layer, "n": 90} | self.number("ratio")
                  for layer in ("1", "all")]  # fmt: skip
        zeroed = [{"measure": of, "layer": "all", "n": 50} | self.number("value", 0, 1)
                  for of in ("top_weights", "top_norms")]  # fmt: skip
        products(
            self.folder,
            kobayashi2020_table1=both,
            kobayashi2021_mixing=mixing,
            mohebbi2023_zeroing=zeroed,
        )

    def modes(self) -> None:
        """Pairs of modes, and each head's verdicts by mode, on two tasks and both measures."""
        pairs, heads = [], []
        for task, of, seed in product(("mrpc", "sst2"), ("loss", "score"), self.seeds):
            labels = {"task": task, "seed": seed, "of": of, "n": 90, "n_documents": 90}
            for modes in (("uniform", "zero"), ("zero", "resample")):
                row = labels | dict(zip(("one", "other"), modes, strict=True)) | {"n_heads": 12}
                low, value, high = np.sort(self.rng.uniform(0, 0.8, 3))
                row |= {"rho": value, "rho_low": low, "rho_high": high}
                row |= {"halves_one": self.rng.uniform(-0.1, 0.9), "halves_other": 0.6}
                both = int(self.rng.integers(2, 12))
                pairs.append(row | {"both_nominal": both, "opposite_nominal": both // 3})
            for head in range(12):
                verdicts = ("in all modes", "depends on the mode", "no effect shown")
                verdict = "in some modes" if head == 4 else verdicts[head % 3]
                row = labels | {"layer": 0, "head": head, "verdict": verdict}
                row |= {"low_zero": 0.1, "high_zero": 0.3}
                heads.append(row | {"low_uniform": head * 0.01 - 0.02, "high_uniform": 0.3})
        products(self.folder, ablation_modes=pairs, ablation_mode_heads=heads)

    def attribution(self) -> None:
        """Attribution and importance against exact effects, on two tasks."""
        rows = []
        for task, seed in product(("mrpc", "sst2"), self.seeds):
            for estimate in ("zero", "resample", "importance", "importance size"):
                name, _, size = estimate.partition(" ")
                row = {"task": task, "seed": seed, "estimate": name, "n": 90, "top": 4}
                row |= {"against": size or "effect"}
                row |= {"n_documents": 90, "n_heads": 36, "first": 9}
                for name, most in (("rho", 1), ("top_missed", 4)):
                    low, value, high = np.sort(self.rng.uniform(0, most, 3))
                    row |= {name: value, f"{name}_low": low, f"{name}_high": high}
                rows.append(row)
        products(self.folder, ablation_attribution=rows)

    def clark(self) -> None:
        """Heads, relations, antecedents, probes and clusters."""
        self.surface()
        axes = {"direction": DIRECTIONS, "relation": RELATIONS}
        self.write("syntax/scores.parquet", self.rows(axes, "accuracy", "ci_low", "ci_high", n=40))
        self.clusters()
        self.by_norm()
        self.modes()
        self.attribution()
        table1 = [
            {"relation": name, "head": "1-1", "offset": 1, "n": 500, "split_words": 8.0}
            | {"baseline": self.rng.uniform(0, 100), "held_out_gain_p": self.rng.uniform(0, 0.02)}
            | {"with_special_median_change": -abs(self.rng.normal(0, 2))}
            | self.number("accuracy")
            | self.number("held_out_gain", -20, 30)
            for name in RELATIONS
        ]
        systems = "nearest mention", "head word match", "four sieves", "best head"
        table2 = [
            {"compared": compared, "type": kind, "system": system, "n": 300, "head": "1-2"}
            | {"held_out_head": "1-2", "held_out_accuracy": 40.0, "held_out_n": 300}
            | self.number("accuracy")
            | self.number("gain_head_match", -20, 20)
            | self.number("gain_rules", -20, 20)
            for compared in (True, False)
            for kind in ("all", "pronoun", "proper", "nominal")
            for system in systems
        ]
        probes = ["right-branching", *PROBES.split(), "structural"]
        table3 = [{"probe": probe, "measure": "UAS", "n": 900} | self.number("score")
                  for probe in probes]  # fmt: skip
        pairs = [
            {"measure": measure, "probe": one, "other": other, "n": 900, "n_documents": 30}
            | self.number("difference", -20, 20)
            for measure in ("UAS", "UUAS")
            for number, one in enumerate(probes)
            for other in probes[number + 1 :]
        ]
        shuffled = {"shuffled_low": -0.02, "shuffled_high": 0.03, "p": 0.01}
        clusters = [{"layer": "all", "difference": 0.04, "between": 0.4} | shuffled]
        broad = [{"head": f"1-{n}", "n": 100} | self.number("entropy", 0, 1)
                 | self.number("at_most_tenth", 0, 1) for n in range(3)]  # fmt: skip
        tables_of = {"table1": table1, "table2": table2, "table3": table3, "broad": broad}
        tables_of |= {"probe_pairs": pairs, "clusters": clusters}
        printed = {f"clark2019_{name}": rows for name, rows in tables_of.items()}
        products(self.folder, **printed)

    def arguments(self) -> None:
        """Runs on ARCT, each right on a share of its own, one in three degenerate.

        Only from original points is there C, W.
        """
        (self.folder / "arguments").mkdir()
        (self.results / "arguments").mkdir()
        paths = []
        for family, trained_on in product(FAMILIES, TRAINED_ON):
            setups = ("full", "W", "RW", "CW")[: 4 if trained_on == "original" else 3]
            runs = [self._run(family, trained_on, setup, seed)
                    for setup in setups for seed in self.seeds]  # fmt: skip
            frame = pd.concat(runs, ignore_index=True)
            if family == "bert":
                for seed in self.seeds:
                    paths.append(self.folder / f"arguments/bert.{trained_on}.{seed}.parquet")
                    tables.write(frame[frame["seed"] == seed], paths[-1])
            else:
                paths.append(self.results / f"arguments/{family}.{trained_on}.parquet")
                tables.write(frame, paths[-1])
        scores = self.folder / "arguments/scores.parquet"
        argument_scores.main(paths, scores, {"bert": 0.8, "bov": 0, "bilstm": 0})
        (self.folder / "tables").mkdir(exist_ok=True)
        printed = [self.folder / f"tables/niven2019-table{number}.csv" for number in (1, 3, 4)]
        niven2019_tables.main(scores, self.card, *printed, name=MODEL)
        self._cue_and_easy_points()

    def _run(self, family: str, trained_on: str, setup: str, seed: int) -> pd.DataFrame:
        """The logits of one run on 40 training, 60 development and 120 test points."""
        counts = {"train": 40, "dev": 60, "test": 120}
        degenerate = family == "bert" and seed % 3 == 0
        skill = {"train": 0.5 if degenerate else 0.95}
        parts = []
        for split, version in product(counts, ("original", "negated")):
            ids = [f"{split}{n}" for n in range(counts[split])]
            labels = self.rng.integers(0, 2, len(ids))
            share = skill.get(split, self.rng.uniform(0.5, 0.8))
            right = self.rng.random(len(ids)) < (share if version == "original" else 1 - share)
            if split == "train":
                right = self.rng.random(len(ids)) < share
            picked = np.where(right, labels, 1 - labels)
            about = {"split": split, "version": version, "id": ids, "label": labels}
            parts.append(pd.DataFrame(about | {"logit_0": 1.0 - picked, "logit_1": 1.0 * picked}))
        names = {"family": family, "trained_on": trained_on, "setup": setup, "seed": seed}
        return pd.concat(parts, ignore_index=True).assign(**names)

    def _cue_and_easy_points(self) -> None:
        rows = []
        for split, n in (("train", 1210), ("dev", 316), ("test", 444), ("all", 1970)):
            applicable = int(n * self.rng.uniform(0.4, 0.8))
            about = {"data": "original", "split": split, "cue": "not", "n": n}
            productive = int(applicable * self.rng.uniform(0.4, 0.8))
            rows.append(about | {"applicable": applicable, "productive": productive})
        products(self.results, niven2019_table2=rows)
        rows = []
        for source, runs in product(("this study", "Niven and Kao"), ("all", "not degenerate")):
            for model, split in product(("BERT", "BoV"), ("dev", "test")):
                middle = self.rng.normal(0, 0.2) if model == "BoV" else np.nan
                about = {"source": source, "runs": runs, "model": model, "split": split, "n": 30}
                about |= {"measure": "cue among always right", "setup": "C, R, W", "n_points": 60}
                ends = {"bert_minus_low": middle - 0.1, "bert_minus_high": middle + 0.1}
                about["n_runs"] = len(self.seeds)
                rows.append(about | {"bert_minus": middle} | ends)
        products(self.folder, niven2019_easy=rows)
