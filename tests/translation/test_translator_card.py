"""The card of a pretrained translator, from a directory, the hub or a package."""

import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.bad_input.refused import refused
from tests.core.tiny_translators import KINDS, SOURCES, save
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import models, translators
from workflow_scripts.translation import translator_card

SEARCH = {"beams": 2, "max_new_tokens": 8}


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


def test_a_model_of_the_hub_is_downloaded_with_its_sentencepiece_models(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}

    def snapshot_download(repository: str, **options: object) -> str:
        asked.update(options, repository=repository)
        return str(directory)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    source = {"hub": "some/model", "revision": "abc"}
    assert card_of(tmp_path, source)["source"] == source
    assert (asked["repository"], asked["revision"]) == ("some/model", "abc")
    wanted = [Path(name) for name in ("source.spm", "target.spm", "vocab.json", "spiece.model")]
    assert all(any(path.match(form) for form in asked["allow_patterns"]) for path in wanted)
    unwanted = [Path(name) for name in ("pytorch_model.bin", "tf_model.h5", "rust_model.ot")]
    assert not any(path.match(form) for form in asked["allow_patterns"] for path in unwanted)


def test_a_model_in_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_up_package").mkdir()
    (tmp_path / "made_up_package/__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    save(tmp_path / "made_up_package/own", "marian")
    card = card_of(tmp_path, {"package": "made_up_package/own"})
    assert card["source"] == {"package": "made_up_package/own"}
    assert "made_up_package" not in sys.modules


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


def test_a_models_own_code_is_not_run(directory: Path, tmp_path: Path) -> None:
    other, marker = save(tmp_path / "own", "marian"), tmp_path / "marker"
    code = f"import os\nos.mkdir({str(marker)!r})\n"
    (other / "modeling_own.py").write_text(code, encoding="utf-8")
    auto = {"AutoConfig": "modeling_own.C", "AutoModelForSeq2SeqLM": "modeling_own.M"}
    tokens = {"AutoTokenizer": ["modeling_own.T", None]}
    for name, own in (("tokenizer_config.json", tokens), ("config.json", auto)):
        content = json.loads((other / name).read_text()) | {"auto_map": own}
        (other / name).write_text(json.dumps(content))
        words = f"{other / name}: auto_map asks for code of the model's own"
        refused(lambda: card_of(tmp_path, {"path": str(other)}), words)
    assert not marker.exists()
