"""The measurement of speed: which batches are run, and what the table states about them."""

from pathlib import Path

import pandas as pd

from tests.ablation.builders import checkpoint_in
from tests.core.tiny_models import HEADS, LAYERS, random_tokens
from workflow_scripts.core.data import tables
from workflow_scripts.core.run.job import call
from workflow_scripts.pruning import michel2019_table4
from workflow_scripts.pruning.michel2019_table4 import whole_batches


def test_batches_are_full() -> None:
    tokens = random_tokens((4, 5, 6, 7, 8))
    assert whole_batches(tokens, 1) == [[text] for text in tokens]
    assert whole_batches(tokens, 4) == [tokens[:4], [tokens[4], *tokens[:3]]]
    assert whole_batches(tokens, 12) == [[*tokens, *tokens, *tokens[:2]]]


def test_the_table_states_what_was_run(tmp_path: Path) -> None:
    arguments = checkpoint_in(tmp_path)
    axes = {"layer": range(LAYERS), "head": range(HEADS)}
    order = tables.tidy(axes).assign(step=lambda frame: frame["head"], strategy="importance")
    tables.write(order, tmp_path / "order")
    settings = {"share": 0.5, "examples": 6, "repeats": 2}
    wanted = ("card", "checkpoint", "table", "task", "sample_seed", "max_tokens", "device")
    inputs = {name: arguments[name] for name in wanted} | {"order": tmp_path / "order"}
    call(michel2019_table4.main, inputs | settings | {"speed": tmp_path / "speed.csv"})
    speed = pd.read_csv(tmp_path / "speed.csv")
    assert speed["batch_size"].tolist() == [1, 4, 16, 64]
    assert speed["examples"].tolist() == [6, 8, 16, 64]
    assert (speed["distinct"] == 6).all()
    # The gains that the paper prints: 1.9, 2.7, 17.5 and 17.5%.
    assert speed["paper_speedup"].tolist() == [1.019, 1.027, 1.175, 1.175]
    assert (speed[["original", "pruned", "speedup"]] > 0).all(axis=None)
