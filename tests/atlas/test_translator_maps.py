"""Stored maps of translators equal their attention in transformers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from tests.atlas.plainly import bound
from tests.core.tiny_translators import HEADS, KINDS, LAYERS, SOURCES, TARGETS, save
from workflow_scripts.atlas import translator_maps
from workflow_scripts.atlas.texts import decode
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.model import translators
from workflow_scripts.core.model.translators import Languages

SEARCH = {"beams": 2, "length_penalty": 1.0, "max_new_tokens": 12}
NAMES = {"encoder": "encoder", "encoder-decoder": "cross", "decoder": "decoder"}


def made(folder: Path, kind: str, **changes: Any) -> dict[str, Any]:
    """The maps of a tiny translator on some of its pairs, as the rule writes them."""
    directory = save(folder / kind, kind)
    card = translators.describe(directory, "1", Languages(**KINDS[kind][2]))
    write_card(card | {"source": {"path": str(directory)}}, folder / "1.card.json")
    rows = [
        {"split": split, "id": f"{split}-{k}", "source": source, "target": target}
        for split in ("train", "test")
        for k, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True), start=1)
    ]
    tables.write(pd.DataFrame(rows), folder / "pairs.parquet")
    given = {"generation": SEARCH}
    given |= {"examples": 2, "most_words": 5, "generated": False}
    translator_maps.main(
        folder / "1.card.json",
        folder / "pairs.parquet",
        folder / "1.maps.json",
        **(given | {"device": "cpu"} | changes),
    )
    return json.loads((folder / "1.maps.json").read_text(encoding="utf-8"))


def inputs_of(folder: Path, kind: str, segment: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The model as transformers loads it, and its inputs for a segment, by its tokenizer."""
    model = AutoModelForSeq2SeqLM.from_pretrained(
        folder / kind, attn_implementation="eager", trust_remote_code=False
    )
    tokenizer = translators.load_tokenizer(folder / kind, Languages(**KINDS[kind][2]))
    place = int(segment["id"].rpartition("-")[2]) - 1
    text = KINDS[kind][2].get("prefix", "") + SOURCES[place]
    inputs = tokenizer([text], text_target=[TARGETS[place]], return_tensors="pt")
    return model.eval(), dict(inputs)


def assert_stored(content: dict[str, Any], name: str, weights: np.ndarray) -> None:
    entry = content["maps"][name]
    assert entry["shape"] == list(weights.shape)
    off = np.abs(decode(entry).astype(np.float64) - weights)
    assert (off <= bound(weights, entry["largest"]) + 1e-6).all()


@pytest.mark.parametrize("kind", KINDS)
def test_maps_are_the_models_attention(tmp_path: Path, kind: str) -> None:
    content = made(tmp_path, kind)
    assert len(content["segments"]) == 2
    for segment in content["segments"]:
        model, inputs = inputs_of(tmp_path, kind, segment)
        with torch.inference_mode():
            outputs = model(**inputs, output_attentions=True)
        queries = {"encoder": len(segment["tokens"])}
        for kind_of, name in segment["maps"]["trained"].items():
            weights = torch.stack(outputs[f"{NAMES[kind_of]}_attentions"])[:, 0].double().numpy()
            assert_stored(content, name, weights)
            n_queries = queries.get(kind_of, len(segment["target"]["tokens"]))
            n_keys = len((segment["target"] if kind_of == "decoder" else segment)["tokens"])
            assert weights.shape == (LAYERS, HEADS, n_queries, n_keys)


def test_the_decoder_reads_the_reference_shifted_by_one(tmp_path: Path) -> None:
    for segment in made(tmp_path, "marian")["segments"]:
        model, inputs = inputs_of(tmp_path, "marian", segment)
        tokenizer = translators.load_tokenizer(tmp_path / "marian", Languages())
        ids = [model.config.decoder_start_token_id, *inputs["labels"][0, :-1].tolist()]
        plain = [token.strip("▁") or token for token in tokenizer.convert_ids_to_tokens(ids)]
        assert segment["target"]["tokens"] == plain
        assert segment["target"]["tokens"][0] == "<pad>" and segment["target"]["word"][0] == -1
        assert segment["tokens"][-1] == "</s>" and segment["word"][-1] == -1


def test_words_are_counted_by_their_marks(tmp_path: Path) -> None:
    """The dog sees a cat: five words and the full stop, which has no mark of its own."""
    content = made(tmp_path, "nllb", examples=3, most_words=50)
    assert len(content["segments"]) == 3
    for segment in content["segments"]:
        assert segment["word"][0] == -1 and -1 not in segment["word"][1:-1]
    tokenizer = translators.load_tokenizer(tmp_path / "nllb", Languages(**KINDS["nllb"][2]))
    texts = tokenizer.convert_ids_to_tokens(tokenizer(SOURCES[1])["input_ids"])
    (segment,) = [each for each in content["segments"] if each["id"].endswith("-2")]
    starts = [text.startswith("▁") for text in texts]
    counted = [word for word in segment["word"] if word >= 0]
    assert max(counted) + 1 == sum(starts) and counted == sorted(counted)
