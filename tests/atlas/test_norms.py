"""The norms of what heads read, against the layers' own weights."""

import json
from pathlib import Path

import numpy as np
import torch

from tests.atlas.plainly import bound
from tests.attention.builders import open_cache, write_cache
from tests.core.tiny_models import (
    ARCHITECTURES,
    enlarge,
    random_model,
    tokenizer,
    write_card,
)
from workflow_scripts.atlas import atlas_norms as norms
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.data.annotations import Example, write_records
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.head_maps import output_grams


def prepared(name: str, folder: Path) -> dict:
    """The inputs of the rule: a saved model, its card, and a cache of two texts."""
    torch.manual_seed(0)
    enlarge(random_model(ARCHITECTURES[name])).save_pretrained(folder / "model")
    tokenizer().save_pretrained(folder / "model")
    card = write_card(folder, folder / "model")
    texts = ["the king built a stone river town", "a dog saw her cat near water"]
    write_records(
        folder / "wiki.jsonl",
        [Example(f"e{k}", "d", "f", (text,)) for k, text in enumerate(texts)],
    )
    cache = write_cache(folder / "wiki.h5", card, folder / "wiki.jsonl")
    inputs = {"model": card, "attention_caches": [cache], "drawings": None}
    options = {"kinds": {"wiki": "text"}, "segments": 2, "examples": 1, "most_tokens": 40}
    return inputs | options | {"device": "cpu", "norms": folder / "norms.json"}


def test_the_file_has_the_chosen_texts(tmp_path: Path) -> None:
    inputs = prepared("bert", tmp_path)
    norms.main(**inputs)
    content = json.loads((tmp_path / "norms.json").read_text(encoding="utf-8"))
    assert list(content["norms"]) == ["wiki-0", "wiki-1"] and content["left_out"] == []
    model = norms.models.load_body(tmp_path / "model", torch.device("cpu"))
    with open_cache(inputs["attention_caches"][0]) as cache:
        opened = attention.open_attention(model)
        expected = norms.value_norms(opened, output_grams(opened), cache[1])
    entry = content["norms"]["wiki-1"]
    assert (np.abs(decode(entry) - expected) <= bound(expected, entry["largest"]) + 1e-5).all()


def test_unknown_projections_are_reported(tmp_path: Path) -> None:
    norms.main(**prepared("albert", tmp_path))
    content = json.loads((tmp_path / "norms.json").read_text(encoding="utf-8"))
    assert content["norms"] == {}
    assert content["left_out"] == ["tiny: norms, as the projections of albert are not known."]
