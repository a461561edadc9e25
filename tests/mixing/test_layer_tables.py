"""The tables by layer: by hand, as both scripts write them, and the names that pages give them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.core.tiny_decoders import LAYERS, save_llama
from tests.core.tiny_models import write_card
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example, write_examples
from workflow_scripts.core.plots import colours
from workflow_scripts.mixing import mixing_ratio, value_zeroing
from workflow_scripts.mixing.block_parts import by_layer

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/chapters/mixing.md"
TEXTS = ["the river and the old town", "a dog saw the boat", "people walk to the bank"]
SETTINGS = {"n_segments": 0, "max_tokens": 12, "bootstrap": 100, "device": "cpu", "seed": 1}
ALL_LAYERS = [*map(str, range(1, LAYERS + 1)), "all"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The card of a tiny decoder, and a corpus of three segments of two documents."""
    folder = tmp_path_factory.mktemp("study")
    write_card(folder, save_llama(folder / "llama"))
    examples = [
        Example(str(at), "one" if at < 2 else "two", "f:1", (text,))
        for at, text in enumerate(TEXTS)
    ]
    write_examples(folder / "corpus.jsonl", examples)
    return folder


def written(script: Any, study: Path) -> pd.DataFrame:
    """The table that a script's `main` writes; its layers are text."""
    table = study / f"{script.__name__}.csv"
    script.main(study / "model.json", study / "corpus.jsonl", table, **SETTINGS)
    return tables.read_csv(table, dtype={"layer": str})


@pytest.mark.parametrize(
    ("script", "name", "number", "entries"),
    [
        (mixing_ratio, "method", "ratio", ["attention", "residual"]),  # no norm in a decoder
        (value_zeroing, "measure", "value", list(value_zeroing.MEASURES)),
    ],
)
def test_a_script_writes_its_table(
    study: Path, script: Any, name: str, number: str, entries: list[str]
) -> None:
    frame = written(script, study)
    assert list(frame) == [name, "layer", number, "ci_low", "ci_high", "n", "n_documents"]
    rows = [(entry, layer) for entry in entries for layer in ALL_LAYERS]
    assert list(zip(frame[name], frame["layer"], strict=True)) == rows
    assert (frame["n"] == 3).all() and (frame["n_documents"] == 2).all()
    assert frame[number].between(frame["ci_low"], frame["ci_high"]).all()
    assert frame[number].abs().max() <= (100 if number == "ratio" else 1)
    for _, of_entry in frame.groupby(name):
        layers, (mean,) = of_entry[number].iloc[:-1], of_entry[number].iloc[-1:]
        assert layers.mean() == pytest.approx(mean, rel=1e-4)


def test_layers_and_their_mean_by_hand() -> None:
    """One document has two of the three texts; a text without a number has no part in it."""
    values = {"x": np.array([[1.0, 5.0], [3.0, np.nan], [8.0, 6.0]])}
    found = by_layer(values, "measure", "value", 200, 1, ["a", "a", "b"])
    assert found["layer"].tolist() == ["1", "2", "all"]
    assert found["value"].tolist() == pytest.approx([4, 5.5, 13 / 3])
    assert found[["n", "n_documents"]].to_numpy().tolist() == [[3, 2]] * 3
    assert found.loc[0, ["ci_low", "ci_high"]].tolist() == pytest.approx([2, 8])


def test_each_measure_of_value_zeroing_stands_in_its_caption_and_page() -> None:
    (caption,) = (ROOT / "report").glob("*zeroing*.rst")
    named = set(re.findall(r"\*(\w+)\*", caption.read_text(encoding="utf-8")))
    assert named - {"all"} == set(value_zeroing.MEASURES)
    section = PAGE.read_text(encoding="utf-8").split("### Value zeroing")[1].split("\n## ")[0]
    assert set(value_zeroing.MEASURES) <= set(re.findall(r"`(\w+)`", section))


def test_each_method_of_mixing_ratios_has_a_look_and_stands_in_the_page() -> None:
    assert set(mixing_ratio.METHODS) == set(colours.PRESERVING)
    section = PAGE.read_text(encoding="utf-8").split("### Mixing ratio")[1].split("\n### ")[0]
    assert set(mixing_ratio.METHODS) <= set(re.findall(r"`(\w+)`", section))
