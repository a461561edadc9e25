"""Translators of every architecture: what they read and write, and which are refused."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.bad_input.refused import refused
from tests.core.tiny_models import save_bert
from tests.core.tiny_translators import HEADS, KINDS, LAYERS, POSITIONS, SOURCES, TARGETS, save
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import translators
from workflow_scripts.core.model.translators import Languages, Translator

CPU = torch.device("cpu")
SEARCH = {"beams": 2, "length_penalty": 1.0, "max_new_tokens": 12}
# The tokens around those of a text: before and after the source, before and after the target.
AROUND = {
    "marian": ([], ["</s>"], [], ["</s>"]),
    "bart": (["<s>"], ["</s>"], ["<s>"], ["</s>"]),
    "mbart": ([], ["</s>", "en_XX"], [], ["</s>", "de_DE"]),
    "mbart50": (["en_XX"], ["</s>"], ["de_DE"], ["</s>"]),
    "m2m100": (["__en__"], ["</s>"], ["__de__"], ["</s>"]),
    "nllb": (["eng_Latn"], ["</s>"], ["deu_Latn"], ["</s>"]),
    "t5": ([], ["</s>"], [], ["</s>"]),
}


@pytest.fixture(scope="module", params=KINDS)
def directory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("translators") / request.param, request.param)


@pytest.fixture(scope="module")
def card(directory: Path) -> dict[str, Any]:
    return translators.describe(directory, "tiny", Languages(**KINDS[directory.name][2]))


@pytest.fixture(scope="module")
def translator(directory: Path, card: dict[str, Any]) -> Translator:
    return translators.load_translator(directory, card, SEARCH, CPU)


def test_the_card(directory: Path, card: dict[str, Any]) -> None:
    name = directory.name
    assert card["layers"] == dict.fromkeys(("encoder", "encoder-decoder", "decoder"), LAYERS)
    assert card["n_heads"] == HEADS
    assert card["max_positions"] == (None if name == "t5" else POSITIONS)
    assert {key: card[key] for key in KINDS[name][2]} == KINDS[name][2]


def test_texts_come_back_from_what_the_model_reads(directory: Path, translator: Translator) -> None:
    name = directory.name
    sources = translators.sources_of(translator, SOURCES)
    targets = translators.targets_of(translator, TARGETS)
    names = translator.tokenizer.convert_ids_to_tokens
    for ids, (before, after) in ((sources, AROUND[name][:2]), (targets, AROUND[name][2:])):
        for row in ids:
            tokens = names(row)
            assert tokens[: len(before)] == before
            assert tokens[-len(after) :] == after
            assert max(row) < translator.model.config.vocab_size
            assert translator.tokenizer.unk_token_id not in row
    assert translators.texts_of(translator, targets) == TARGETS
    # As often as the tokenizer marks them, the source's words are there, after the prefix.
    read = translator.tokenizer.decode(sources[0], skip_special_tokens=True)
    assert read.endswith(KINDS[name][2].get("prefix", "") + SOURCES[0])
    again = translators.sources_of(translator, SOURCES)
    assert again == sources  # targets leave the tokenizer set to sources


def test_generate_starts_as_the_labels_do(directory: Path, translator: Translator) -> None:
    """Of the tokens that the model is given, none has to be guessed or differs from training."""
    name = directory.name
    targets = translators.targets_of(translator, TARGETS)
    sources = translators.pad_sources(translator, translators.sources_of(translator, SOURCES))
    labels = translators.pad_targets(translator, targets)
    seen = []
    embed = translator.model.get_decoder().embed_tokens
    hook = embed.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.inference_mode():
        loss = translator.model(**sources, labels=labels).loss
    hook.remove()
    assert loss.isfinite()
    forced = seen[-1]
    with torch.inference_mode():
        made = translator.model.generate(**sources)
    assert made.shape[1] <= 1 + SEARCH["max_new_tokens"]
    n_given = 2 if AROUND[name][2] and name != "bart" else 1  # what every translation starts with
    assert made[:, :n_given].tolist() == forced[:, :n_given].tolist()


def test_a_cut_off_translation_does_not_end(translator: Translator) -> None:
    """An end that is forced would hide that a translation was cut off."""
    sources = translators.pad_sources(translator, translators.sources_of(translator, SOURCES))
    end = translator.model.config.eos_token_id
    with torch.no_grad():
        bias = torch.zeros(translator.model.config.vocab_size)
        bias[end] = -1e4
        head = translator.model.lm_head
        hook = head.register_forward_hook(lambda *given: given[-1] + bias)
        made = translator.model.generate(**sources)
        hook.remove()
    assert made.shape[1] == 1 + SEARCH["max_new_tokens"]
    assert end not in made[:, 2:]


def test_settings_of_the_model_are_not_the_studys(tmp_path: Path) -> None:
    """Only what the tokens are, and Opus-MT's never to pad, comes from generation_config.json."""
    directory = save(tmp_path, "marian")
    model = KINDS["marian"][1].from_pretrained(directory, trust_remote_code=False)
    model.generation_config.update(
        min_new_tokens=9, no_repeat_ngram_size=2, num_beams=7, bad_words_ids=[[2]]
    )
    model.generation_config.save_pretrained(directory)
    card = translators.describe(directory, "tiny", Languages())
    config = translators.load_translator(directory, card, SEARCH, CPU).model.generation_config
    assert (config.num_beams, config.length_penalty, config.max_new_tokens) == (2, 1.0, 12)
    assert (config.min_new_tokens, config.no_repeat_ngram_size) == (None, None)
    assert config.bad_words_ids == [[2]]


def test_a_text_too_long_is_one_line(directory: Path, translator: Translator) -> None:
    name = directory.name
    texts = ["the dog " * POSITIONS]
    if name == "t5":
        assert len(translators.sources_of(translator, texts)[0]) > POSITIONS
        return
    for read in (translators.sources_of, translators.targets_of):
        with pytest.raises(InputError, match=f"the model's positions are {POSITIONS}; shorten"):
            read(translator, texts)


def test_translations_longer_than_the_decoder_are_one_line(
    directory: Path, card: dict[str, Any]
) -> None:
    most = SEARCH | {"max_new_tokens": POSITIONS}
    translators.load_translator(directory, card, most, CPU)
    most["max_new_tokens"] += 1
    if card["max_positions"] is None:
        translators.load_translator(directory, card, most, CPU)
        return
    with pytest.raises(InputError, match=f"max_new_tokens is 65, but .* {POSITIONS} positions"):
        translators.load_translator(directory, card, most, CPU)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    for name in ("marian", "mbart", "m2m100"):
        save(folder / name, name)
    return folder


def described(directory: Path, **given: str) -> dict[str, Any]:
    languages = KINDS[directory.name][2] if directory.name in KINDS else {}
    return translators.describe(directory, "tiny", Languages(**(languages | given)))


def test_a_model_that_is_no_encoder_decoder(tmp_path: Path) -> None:
    directory = save_bert(tmp_path / "bert")
    refused(lambda: described(directory), directory, "cannot be read", "AutoModelForSeq2SeqLM")


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("mbart", {"target_lang": None}, ["target_lang is needed; write one of", "(25 in all)"]),
        ("m2m100", {"target_lang": "de_DE"}, ["target_lang 'de_DE' is unknown", "af, am"]),
        ("marian", {"source_lang": "en"}, ["takes no codes", "remove source_lang"]),
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
    translator = translators.load_translator(tmp_path, card, SEARCH, CPU)
    (ids,) = translators.sources_of(translator, ["the dog"])
    assert tokenizer.convert_ids_to_tokens(ids)[0] == ">>nl<<"
