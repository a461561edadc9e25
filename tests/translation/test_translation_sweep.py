"""The table of a sweep: every variant, split and sentence, as the engine translates them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from tests.core.tiny_models import uniform_heads
from tests.core.tiny_translators import HEADS, LAYERS, SOURCES, TARGETS, save
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.data.heads import ATTENTION_TYPES
from workflow_scripts.core.model import translators
from workflow_scripts.core.model.attention import sublayers, watching
from workflow_scripts.core.model.translators import Languages, pad_sources
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.translation_metrics import COLUMNS, statistics
from workflow_scripts.translation import translation_sweep
from workflow_scripts.translation.decoding import forced_losses

SEARCH = {"beams": 2, "length_penalty": 1.0, "max_new_tokens": 6}
SPLITS = {"train": 3, "validation": 3, "test": 2, "medical": 3}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny translator's card, and pairs of all splits and a domain."""
    folder = tmp_path_factory.mktemp("sweep")
    directory = save(folder / "model", "marian")
    card = translators.describe(directory, "1", Languages())
    write_card(card | {"source": {"path": str(directory)}}, folder / "card.json")
    rows = [
        (split, f"{split}-{number + 1}", SOURCES[number], TARGETS[number])
        for split, n in SPLITS.items()
        for number in range(n)
    ]
    frame = pd.DataFrame(rows, columns=["split", "id", "source", "target"])
    frame.to_parquet(folder / "pairs.parquet")
    return {"card": folder / "card.json", "pairs": folder / "pairs.parquet", "model": directory}


def swept(inputs: dict[str, Path], path: Path, modes: list[str], sentences: int) -> pd.DataFrame:
    values = {"card": inputs["card"], "pairs": inputs["pairs"], "sweep": path, "run": "1"}
    values |= {"generation": SEARCH, "sentences": sentences, "modes": modes, "pass_rows": 60}
    job.call(translation_sweep.main, values | {"sample_seed": 4, "device": "cpu"})
    return pd.read_parquet(path)


@pytest.fixture(scope="module")
def frame(inputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    path = tmp_path_factory.mktemp("swept") / "1.sweep.parquet"
    return swept(inputs, path, ["zero", "uniform"], 0)


def test_every_head_of_every_type_on_every_split_but_training(frame: pd.DataFrame) -> None:
    heads = [
        (kind, layer, head)
        for kind in ATTENTION_TYPES
        for layer in range(LAYERS)
        for head in range(HEADS)
    ]
    for split, n in SPLITS.items():
        rows = frame[frame["split"] == split]
        if split == "train":
            assert rows.empty
            continue
        assert len(rows) == n * (1 + 4 * len(heads))
        for unit in ("head", "all-but-one"):
            for mode in ("zero", "uniform"):
                chosen = rows[(rows["unit"] == unit) & (rows["mode"] == mode)]
                found = chosen[["type", "layer", "head"]].drop_duplicates()
                assert list(found.itertuples(index=False, name=None)) == heads
        plain = rows[rows["unit"] == "none"]
        assert plain["id"].tolist() == [f"{split}-{number + 1}" for number in range(n)]
        assert set(plain["mode"]) == {""}
        assert set(plain["layer"]) == set(plain["head"]) == {-1}


def test_a_variant_is_what_the_model_translates_with_its_heads_disabled(
    frame: pd.DataFrame, inputs: dict[str, Path]
) -> None:
    card = translators.describe(inputs["model"], "1", Languages())
    loaded = translators.load_translator(inputs["model"], card, SEARCH, torch.device("cpu"))
    sources = translators.sources_of(loaded, SOURCES)
    order = [(each.type, each.layer) for each in sublayers(loaded.model)]
    place, head = order.index(("encoder-decoder", 1)), 2
    for unit, heads in (("head", [head]), ("all-but-one", [0, 1, 3])):
        rows = frame[
            (frame["split"] == "validation")
            & (frame["unit"] == unit)
            & (frame["mode"] == "uniform")
            & (frame["type"] == "encoder-decoder")
            & (frame["layer"] == 1)
            & (frame["head"] == head)
        ]
        with watching(loaded.model, uniform_heads(loaded.model, [(place, each) for each in heads])):
            made = [
                loaded.model.generate(**pad_sources(loaded, [source]))[0, 1:].tolist()
                for source in sources
            ]
        texts = translators.texts_of(loaded, made)
        assert rows["translation"].tolist() == texts
        assert rows["length"].tolist() == [len(tokens) for tokens in made]
        assert rows["capped"].tolist() == [tokens[-1] != 0 for tokens in made]
        assert (rows[list(COLUMNS)].to_numpy() == statistics(texts, TARGETS)).all()
        targets = translators.targets_of(loaded, TARGETS)
        assert rows["tokens"].tolist() == [len(target) for target in targets]
        masks = np.zeros((1, len(order), HEADS), bool)
        masks[0, place, heads] = True
        losses = forced_losses(loaded, sources, targets, masks, 100, "uniform")
        np.testing.assert_allclose(rows["loss"], losses[0], rtol=1e-5)
