"""The made-up atlas keeps to the format, and holds every form that a page must show."""

import base64
import json
import re
import zlib
from typing import Any

import numpy as np
import pytest

from tests.atlas.made_up import HOSTILE, made_up
from tests.atlas.made_up_maps import encoded
from tests.atlas.test_schema import SCHEMA


@pytest.fixture(scope="module")
def atlas() -> dict[str, Any]:
    """Two models, whose second segments differ."""
    return made_up(3, 4, n_models=2)


def test_it_is_valid(atlas: dict[str, Any]) -> None:
    SCHEMA.validate(atlas)
    SCHEMA.validate(made_up(1, 1, tokens=9, states=("pretrained",), hostile=False))


def test_lists_are_as_long_as_the_model_has_heads(atlas: dict[str, Any]) -> None:
    for measure in atlas["measures"]:
        for part in ("value", "low", "high", "n", "p", "label", "null"):
            assert not isinstance(measure[part], list) or len(measure[part]) == 12, part
    assert {name: len(entry["value"]) for name, entry in atlas["distances"].items()} == {
        "tiny": 66,
        "tiny-2": 66,
    }


def test_ids_are_plain_and_unique(atlas: dict[str, Any]) -> None:
    ids = [(measure["model"], measure["id"]) for measure in atlas["measures"]]
    assert len(set(ids)) == len(ids)
    for _, name in ids + [("", segment["id"]) for segment in atlas["segments"]]:
        assert re.fullmatch(r"[A-Za-z0-9._-]+", name)


def test_every_form_is_there(atlas: dict[str, Any]) -> None:
    measures = atlas["measures"]
    assert {measure["scale"] for measure in measures} == {"sequential", "diverging", "category"}
    assert {type(measure["null"]) for measure in measures} == {type(None), float, list}
    assert {type(measure["n"]) for measure in measures} == {type(None), int, list}
    for part in ("low", "p", "label", "categories", "task", "better"):
        assert {measure[part] is None for measure in measures} == {True, False}, part
    gone = [measure["value"].count(None) for measure in measures]
    assert 0 in gone and 12 in gone and set(gone) - {0, 12}
    first, second = ([s for s in atlas["segments"] if s["model"] == m] for m in ("tiny", "tiny-2"))
    assert first[0]["tokens"] == second[0]["tokens"]
    assert first[1]["tokens"] != second[1]["tokens"]
    for segment in atlas["segments"]:
        assert len(segment["tokens"]) == len(segment["word"])
        names = [*segment["maps"].values(), *segment["norms"].values()]
        shapes = [atlas["maps"][name]["shape"] for name in names]
        length = len(segment["tokens"])
        assert shapes == [[3, 4, length, length]] * 2 + [[3, 4, length]]
    assert set(HOSTILE) <= set(atlas["segments"][0]["tokens"])


def test_maps_come_back_as_they_were() -> None:
    weights = np.random.default_rng(1).dirichlet([0.1] * 9, (2, 3, 9))
    entry = encoded(weights)
    levels = np.frombuffer(zlib.decompress(base64.b64decode(entry["data"])), np.uint8)
    found = entry["largest"] * (levels.reshape(entry["shape"]) / 255) ** 2
    # Half a step of the root is at most 2 * root * (0.5 / 255) of the weight.
    assert np.abs(found - weights).max() <= entry["largest"] / 255 + 1e-6


def test_it_is_json_and_always_the_same() -> None:
    text = json.dumps(made_up(2, 2, tokens=9), allow_nan=False)
    assert text == json.dumps(made_up(2, 2, tokens=9))
    assert "onerror" not in json.dumps(made_up(2, 2, hostile=False))
