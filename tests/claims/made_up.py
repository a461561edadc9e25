"""Tables made up for tests of claims."""

import math
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from tests.atlas.made_up_tables import MadeUpModel, declared
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card

Rows = list[dict[str, Any]]
Range = tuple[float, float] | tuple[float, float, str]


class MadeUpTables(MadeUpModel):
    """Writes tables with random numbers for a model below `results`, as a finished study has them.

    Of each classifier that the study trains there is one of each of `seeds`.
    """

    def __init__(
        self, results: Path, name: str, shape: tuple[int, int], seeds: Iterable[int]
    ) -> None:
        super().__init__(results, name, shape)
        card = {"name": name, "architecture": "bert", "hidden_size": 8}
        write_card(card | {"n_layers": shape[0], "n_heads": shape[1]}, self.card)
        self.results, self.seeds = results, list(seeds)

    def number(self, name: str, least: float, most: float, of: str = "") -> dict[str, float]:
        """A random number within its interval, whose ends are called after it or after `of`."""
        value, half = self.rng.uniform(least, most), self.rng.uniform(0, (most - least) / 8)
        ends = {f"{of or name}_low": value - half, f"{of or name}_high": value + half}
        return {name: value, f"{name}_sd": half / 3, **ends}

    def made(self, axes: Mapping[str, Iterable], same: Mapping[str, Any], **of: Range) -> Rows:
        """A row for each combination of values of `axes`, with the numbers `of` these ranges.

        Several names, separated by a space, take the parts of a value.
        """
        rows = []
        for values in product(*axes.values()):
            row = dict(same)
            for name, value in zip(axes, values, strict=True):
                row |= dict(zip(name.split(), value, strict=True)) if " " in name else {name: value}
            for name, ends in of.items():
                row |= self.number(name, *ends)
            rows.append(row)
        return rows

    def heads(self, axes: Mapping[str, Iterable], same: Mapping[str, Any], **of: Range) -> Rows:
        """The same for each head, too."""
        every = {"layer": range(self.shape[0]), "head": range(self.shape[1])}
        return self.made({**axes, **every}, same, **of)

    def table(self, name: str, rows: Rows, study: bool = False) -> None:
        """Write a table, printed where the name has no folder, of the model or of the `study`.

        Columns that the table's declaration names and the rows lack are empty.
        """
        file = f"{name}.parquet" if "/" in name else f"tables/{name}.csv"
        wanted = {column for table in declared() if table.at(file) for column in table.columns}
        frame = pd.DataFrame(rows)
        frame = frame.assign(**dict.fromkeys(sorted(wanted - {*frame})))
        path = (self.results if study else self.folder) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        writer = tables.write_csv if path.suffix == ".csv" else tables.write
        writer(frame, path)

    def norms(self, targets: Iterable[str], method: str) -> None:
        """Special tokens by norm, mixing and value zeroing."""
        ends = {"attention": (0, 1, "ci")}
        rows = pd.DataFrame(self.heads({"target": targets}, {"n": 40, "n_documents": 9}, **ends))
        rows = self.by_unit(rows, "attention").to_dict("records")
        self.table("mixing/special_tokens", rows)
        rows = self.made({"layer": ("1", "all")}, {"method": method, "n": 90}, ratio=(0, 99, "ci"))
        self.table("kobayashi2021-mixing", rows)
        axes = {"measure": ("top_weights", "top_norms"), "layer": ("1", "2", "all")}
        self.table("mohebbi2023-zeroing", self.made(axes, {"n": 50}, value=(0, 1, "ci")))

    def modes(self, prefix: str, tasks: Iterable[str], *pairs: tuple[str, str]) -> None:
        """Pairs of modes, each head's verdicts by mode, and attribution against exact effects."""
        axes = {"task": tasks, "seed": self.seeds}
        same = {"n": 90, "n_documents": 80, "n_heads": 24}
        rows = self.made({**axes, "of": ("loss", "score"), "one other": pairs}, same, rho=(0, 0.8))
        for row in rows:
            one, both = self.rng.uniform(0.2, 0.9), int(self.rng.integers(0, 12))
            row |= {"reliability_one": one, "reliability_other": 0.6, "n_needed": round(30 / one)}
            row |= {"too_noisy": one < 0.3, "both": both, "opposite": both // 3}
            if one < 0.3:
                row |= dict.fromkeys(("rho", "rho_low", "rho_high"), math.nan)
        self.table(f"{prefix}-modes", rows)
        rows = self.heads({**axes, "of": ("loss", "score")}, {}, zero=(0.1, 0.3))
        verdicts = ("in all modes", "depends on the mode", "no effect shown", "in some modes")
        rows = [
            {name: value for name, value in row.items() if "zero" not in name}
            | {"low_zero": row["zero_low"], "high_zero": 0.3, "low_mean": k % 7 - 1}
            | {"high_mean": 9, "verdict": verdicts[k % 4], "effects": f"zero {k}"}
            for k, row in enumerate(rows)
        ]  # fmt: skip
        self.table(f"{prefix}-mode-heads", rows)
        axes |= {"estimate": ("zero", "resample", "importance"), "against": ("effect", "size")}
        same |= {"top": 4, "first": 9, "reliability": 0.5}
        rows = self.made(axes, same, rho=(-0.5, 1), top_missed=(0, 4))
        self.table(f"{prefix}-attribution", rows)
