"""The card of a pretrained translator, from a directory, the hub or a package."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.bad_input.refused import refused
from tests.core.tiny_translators import KINDS, SOURCES, save
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import models, translators
from workflow_scripts.translation import translator_card

SEARCH = {"beams": 2, "length_penalty": 1.0, "max_new_tokens": 8}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("saved") / "marian", "marian")


def card_of(folder: Path, source: dict) -> dict:
    translator_card.main(folder / "card.json", source, "pretrained")
    return read_card(folder / "card.json")


def test_a_card_leads_back_to_the_model(directory: Path, tmp_path: Path) -> None:
    card = card_of(tmp_path, {"path": str(directory), "prefix": ""})
    assert card["source"] == {"path": str(directory)}
    assert (card["name"], card["architecture"], card["prefix"]) == ("pretrained", "marian", "")
    assert card["weights"] == models.weights_digest(directory)
    translator = translators.translator_of(card, SEARCH, torch.device("cpu"))
    assert translator.model.dtype == torch.float32
    assert not translator.model.training


def test_what_the_study_states_about_languages_is_in_the_card(tmp_path: Path) -> None:
    directory = save(tmp_path / "m2m100", "m2m100")
    languages = KINDS["m2m100"][2]
    card = card_of(tmp_path, {"path": str(directory), "prefix": "", **languages})
    assert {key: card[key] for key in languages} == languages
    assert card["source"] == {"path": str(directory)}
    refused(lambda: card_of(tmp_path, {"path": str(directory)}), "source_lang is needed")


def test_weights_as_older_versions_saved_them(directory: Path, tmp_path: Path) -> None:
    """With copies of shared tensors, with or without positions, which are computed."""
    other = save(tmp_path / "older", "marian")
    state = load_file(other / "model.safetensors")
    shared = state.pop("model.shared.weight")
    positions = translators.AutoModelForSeq2SeqLM.from_pretrained(
        other, trust_remote_code=False
    ).model.encoder
    state |= {
        f"{name}.weight": shared.clone()
        for name in ("lm_head", "model.encoder.embed_tokens", "model.decoder.embed_tokens")
    }
    state |= {"model.shared.weight": shared}
    state["model.encoder.embed_positions.weight"] = positions.embed_positions.weight.clone()
    del state["final_logits_bias"]
    save_file(state, other / "model.safetensors", metadata={"format": "pt"})
    made = []
    for model in (directory, other):
        card = card_of(tmp_path, {"path": str(model)})
        translator = translators.translator_of(card, SEARCH, torch.device("cpu"))
        given = translators.pad_sources(translator, translators.sources_of(translator, SOURCES))
        made.append(translator.model.generate(**given).tolist())
    assert made[0] == made[1]
