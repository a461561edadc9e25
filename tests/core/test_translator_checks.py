"""A translation model that cannot be used: one line that states why, each."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.bad_input.refused import refused
from tests.core.tiny_models import save_bert
from tests.core.tiny_translators import KINDS, save
from workflow_scripts.core.model import translators
from workflow_scripts.core.model.translators import Languages


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    for name in ("marian", "bart", "mbart", "m2m100", "t5"):
        save(folder / name, name)
    return folder


def copied(saved: Path, folder: Path, name: str) -> Path:
    return Path(shutil.copytree(saved / name, folder / name))


def change(path: Path, **changed: Any) -> None:
    """Change keys of a JSON file; None removes one."""
    content = json.loads(path.read_text(encoding="utf-8")) | changed
    kept = {key: value for key, value in content.items() if value is not None}
    path.write_text(json.dumps(kept), encoding="utf-8")


def described(directory: Path, **given: str) -> dict[str, Any]:
    languages = KINDS[directory.name][2] if directory.name in KINDS else {}
    return translators.describe(directory, "tiny", Languages(**(languages | given)))


def test_a_model_that_is_no_encoder_decoder(tmp_path: Path) -> None:
    directory = save_bert(tmp_path / "bert")
    refused(lambda: described(directory), directory, "cannot be read", "AutoModelForSeq2SeqLM")


def test_a_vocabulary_that_is_larger_than_the_models(saved: Path, tmp_path: Path) -> None:
    directory = copied(saved, tmp_path, "marian")
    vocabulary = json.loads((directory / "vocab.json").read_text())
    change(directory / "vocab.json", **{"▁more": len(vocabulary)})
    words = f"token '▁more' has the number {len(vocabulary)}, but the embedding has"
    refused(lambda: described(directory), directory, "the vocabulary is not the model's", words)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"pad_token_id": 3}, "the tokenizer's pad_token_id is 1, but config.json's is 3"),
        ({"eos_token_id": 5}, "the tokenizer's eos_token_id is 2, but config.json's is 5"),
        (
            {"eos_token_id": [5, 0]},
            "the tokenizer's eos_token_id is 2, but config.json's is [5, 0]",
        ),
        ({"decoder_layers": None}, "the weights are not those of the model in its config.json"),
    ],
)
def test_special_tokens_that_differ(
    saved: Path, tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    directory = copied(saved, tmp_path, "bart")
    change(directory / "config.json", **changed)
    refused(lambda: described(directory), directory, words)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("mbart", {"source_lang": "en"}, ["source_lang 'en' is unknown", "ar_AR, cs_CZ"]),
        ("mbart", {"target_lang": None}, ["target_lang is needed; write one of", "(25 in all)"]),
        ("m2m100", {"target_lang": "de_DE"}, ["target_lang 'de_DE' is unknown", "af, am"]),
        ("m2m100", {"source_lang": None}, ["source_lang is needed"]),
        ("marian", {"source_lang": "en"}, ["takes no codes", "remove source_lang"]),
        ("t5", {"target_lang": "de"}, ["takes no codes", "remove target_lang"]),
        ("marian", {"prefix": ">>de<< "}, ["prefix >>de<< is unknown to the tokenizer"]),
    ],
)
def test_languages(saved: Path, name: str, given: dict[str, Any], words: list[str]) -> None:
    refused(lambda: described(saved / name, **given), saved / name, *words)


def test_a_marian_of_several_languages_needs_one(tmp_path: Path) -> None:
    make, kind, _ = KINDS["marian"]
    config, tokenizer = make(tmp_path, [">>de<<", ">>nl<<"])
    kind(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    words = ["prefix needs the target language; write one of >>de<<, >>nl<<"]
    refused(lambda: described(tmp_path), tmp_path, *words)
    refused(lambda: described(tmp_path, prefix=">>fr<< "), ">>fr<< is unknown to the tokenizer")
    card = described(tmp_path, prefix=">>nl<< ")
    search = {"beams": 1, "max_new_tokens": 5}
    translator = translators.load_translator(tmp_path, card, search, torch.device("cpu"))
    (ids,) = translators.sources_of(translator, ["the dog"])
    assert tokenizer.convert_ids_to_tokens(ids)[0] == ">>nl<<"


def test_a_prefix_that_the_config_asks_for(saved: Path, tmp_path: Path) -> None:
    directory = copied(saved, tmp_path, "t5")
    tasks = {
        "summarization": {"prefix": "summarize: "},
        "translation_en_to_de": {"prefix": "translate English to German: "},
    }
    change(directory / "config.json", task_specific_params=tasks)
    words = "prefix is needed, which names the languages; write one of 'translate English to Germ"
    refused(lambda: described(directory, prefix=""), directory, words)
    described(directory)
