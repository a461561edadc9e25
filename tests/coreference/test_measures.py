"""Which heads count as coreference heads, against the rule in plain loops."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workflow_scripts.core.data import tables
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.coreference import measures

KINDS = ("all", "pronoun", "other_word")
# Of the normal distribution, to four places: at 0.975, and at 1 - 0.025 / 4 heads.
Z, Z_CORRECTED = 1.9600, 2.4977


def written(folder: Path, accuracy: dict[str, list[float]], rules: dict[str, list[float]], n: int):
    """Tables of four heads, 1-1 to 2-2; `rules` are nearest and head_match by type."""
    heads = [
        {"candidates": among, "type": kind, "layer": i // 2, "head": i % 2, "accuracy": value,
         "ci_low": value - 0.03, "ci_high": value + 0.03, "n": n}
        for among in ("words", "mentions")
        for kind, values in accuracy.items()
        for i, value in enumerate(values if among == "words" else [0.99] * 4)
    ]  # fmt: skip
    systems = [
        {"system": system, "type": kind, "accuracy": value}
        for kind, values in rules.items()
        for system, value in zip(("nearest", "head_match", "rules"), [*values, 0.999], strict=True)
    ]
    paths = []
    for name, rows in {"scores": heads, "rules": systems}.items():
        paths.append(folder / "coreference" / f"{name}.parquet")
        paths[-1].parent.mkdir(exist_ok=True)
        tables.write(pd.DataFrame(rows), paths[-1])
    return TableSet(paths)


def plainly(accuracy: list[float], rules: list[float], n: int) -> set[int]:
    """The best head, if the corrected interval of its gain is above 0."""
    best, baseline = max(accuracy), max(rules)
    error = math.hypot(0.03 / Z, math.sqrt(baseline * (1 - baseline) / n))
    return {accuracy.index(best)} if best - Z_CORRECTED * error > baseline else set()


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_in_plain_loops(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    accuracy = {kind: rng.uniform(0.3, 0.6, 4).tolist() for kind in KINDS}
    rules = {kind: rng.uniform(0.3, 0.5, 2).tolist() for kind in KINDS}
    found = measures.columns(written(tmp_path, accuracy, rules, 300), {"fewest": 1})
    assert found is not None
    expected = plainly(accuracy["other_word"], rules["other_word"], 300)
    heads = found[found["coreference_head"]]
    assert set(2 * heads["layer"] + heads["head"]) == expected
