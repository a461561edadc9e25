"""Translation models: checked against their tokenizer and languages, loaded, and applied."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    GenerationConfig,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers import PreTrainedTokenizerBase as Tokenizer

from workflow_scripts.core.data.tokens import IGNORED
from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.model import models, weights
from workflow_scripts.core.model.attention import n_heads, open_attention, sublayers
from workflow_scripts.core.model.running import stack

CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]+")  # as en_XX of mBART and eng_Latn of NLLB
SHOWN = 8  # language codes or prefixes in an error


@dataclass(frozen=True)
class Languages:
    """What the model gets with the source: a prefix (T5), codes (mBART, M2M100)."""

    prefix: str = ""
    source_lang: str | None = None
    target_lang: str | None = None


@dataclass(frozen=True)
class Translator:
    """A model in eval mode whose attention is open, its tokenizer, and its languages."""

    model: PreTrainedModel
    tokenizer: Tokenizer
    languages: Languages


def translator_of(
    card: dict[str, Any], generation: dict[str, Any], device: torch.device
) -> Translator:
    """The translator that a card describes; raises InputError where its weights have changed."""
    return load_translator(models.directory_of(card), card, generation, device)


def load_translator(
    directory: Path, card: dict[str, Any], generation: dict[str, Any], device: torch.device
) -> Translator:
    """The translator in `directory`, such as an epoch's, with the languages that `card` names."""
    languages = Languages(**{key: card[key] for key in Languages.__dataclass_fields__})
    model, tokenizer = _checked_parts(directory, languages, device)
    most, positions = generation["max_new_tokens"], positions_of(model)
    if positions is not None and most > positions:
        raise InputError(
            f"{directory}: generation.max_new_tokens is {most}, but the decoder has {positions} "
            f"positions; set it to {positions} or less"
        )
    settings = {"num_beams": generation["beams"], "length_penalty": generation["length_penalty"]}
    settings["max_new_tokens"] = most
    code = code_of(tokenizer, languages.target_lang)
    model.generation_config = search_config(model, tokenizer, code, **settings)
    return Translator(model, tokenizer, languages)


def load_tokenizer(directory: Path, languages: Languages) -> Tokenizer:
    """The tokenizer in a model's directory, fast or slow, set to the languages."""
    config = weights.read_config(directory)
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory, trust_remote_code=False)
    except Exception as error:  # of any kind, for files of any content
        raise InputError(
            f"{directory}: the tokenizer cannot be read ({one_line(error)}); save it "
            "there with tokenizer.save_pretrained"
        ) from error
    models.check_vocabulary(directory, tokenizer, config, ("pad", "eos"))
    check_prefix(directory, tokenizer, config, languages.prefix)
    set_languages(directory, tokenizer, languages)
    return tokenizer


def describe(directory: Path, name: str, languages: Languages) -> dict[str, Any]:
    """The card of the translator; `layers` are the sublayers of each type of attention."""
    model, tokenizer = _checked_parts(directory, languages, torch.device("cpu"))
    return {
        "name": name,
        "architecture": model.config.model_type,
        "layers": dict(Counter(sublayer.type for sublayer in sublayers(model))),
        "n_heads": n_heads(model),
        "hidden_size": model.config.d_model,
        "vocabulary": len(tokenizer),
        "max_positions": positions_of(model),
        "weights": models.weights_digest(directory),
        **asdict(languages),
        "versions": models.versions(),
    }


def positions_of(model: PreTrainedModel) -> int | None:
    """Maximum number of tokens that encoder and decoder read; None where there is no bound."""
    return getattr(model.config, "max_position_embeddings", None)


def sources_of(translator: Translator, texts: Sequence[str]) -> list[list[int]]:
    """What the encoder reads of each text; InputError for one longer than the positions."""
    given = [translator.languages.prefix + text for text in texts]
    return _checked(translator, texts, translator.tokenizer(given)["input_ids"])


def targets_of(translator: Translator, texts: Sequence[str]) -> list[list[int]]:
    """The labels of each text, with its end; InputError for one longer than the positions."""
    ids = translator.tokenizer(text_target=list(texts))["input_ids"]
    return _checked(translator, texts, ids)


def texts_of(translator: Translator, ids: Sequence[Sequence[int]]) -> list[str]:
    """The texts of generated tokens, without special tokens, detokenised."""
    # A special token, but not every tokenizer of M2M100 knows.
    code = code_of(translator.tokenizer, translator.languages.target_lang)
    shown = [[token for token in row if token != code] for row in ids]
    decoded = translator.tokenizer.batch_decode(shown, skip_special_tokens=True)
    return [text.strip() for text in decoded]


def pad_sources(
    translator: Translator, sources: Sequence[Sequence[int]]
) -> dict[str, torch.Tensor]:
    """The inputs of a batch, int64 [batch, token], on the model's device."""
    padding = translator.model.config.pad_token_id
    inputs = {
        "input_ids": stack(sources, padding),
        "attention_mask": stack([[1] * len(source) for source in sources], 0),
    }
    return {name: value.to(translator.model.device) for name, value in inputs.items()}


def pad_targets(translator: Translator, targets: Sequence[Sequence[int]]) -> torch.Tensor:
    """The labels of a batch, int64 [batch, token], IGNORED at padding, on the model's device."""
    return stack(targets, IGNORED).to(translator.model.device)


def _checked_parts(
    directory: Path, languages: Languages, device: torch.device
) -> tuple[PreTrainedModel, Tokenizer]:
    """The model in eval mode, its attention open, and its tokenizer; both set to the languages."""
    # Before the tokenizer: an architecture that cannot be watched is refused by its name.
    model, _ = weights.load(AutoModelForSeq2SeqLM, directory, whole=True)
    model = open_attention(model.to(device).eval())
    return model, load_tokenizer(directory, languages)


def _checked(translator: Translator, texts: Sequence[str], ids: list[list[int]]) -> list[list[int]]:
    """The token ids as they are; raises InputError for one too long."""
    most = positions_of(translator.model)
    for text, tokens in zip(texts, ids, strict=True):
        if most is not None and len(tokens) > most:
            raise InputError(
                f"translation: {text[:60]!r}... has {len(tokens)} tokens, the model's positions "
                f"are {most}; shorten or leave out this sentence"
            )
    return ids


def set_languages(directory: Path, tokenizer: Tokenizer, languages: Languages) -> None:
    """Let a tokenizer that takes codes of languages, as mBART's does, mark texts with them."""
    known = _codes(tokenizer)
    for key in ("source_lang", "target_lang"):
        code = getattr(languages, key)
        if known and code not in known:
            lack = "is needed" if code is None else f"{code!r} is unknown to the tokenizer"
            raise InputError(f"{directory}: {key} {lack}; write one of {_some(known)}")
        if code is not None and not known:
            raise InputError(
                f"{directory}: the tokenizer takes no codes of languages; remove "
                f"{key} next to the model"
            )
    if known:
        tokenizer.src_lang, tokenizer.tgt_lang = languages.source_lang, languages.target_lang


def check_prefix(
    directory: Path, tokenizer: Tokenizer, config: PretrainedConfig, prefix: str
) -> None:
    """Raise InputError where a source needs a prefix that names the languages.

    T5's config lists its prefixes; a Marian with several target languages has a code for each.
    """
    codes = getattr(tokenizer, "supported_language_codes", [])
    code = prefix.partition("<<")[0] + "<<" if prefix.startswith(">>") else ""
    if code not in codes if code else len(codes) > 1:
        lack = f"{code} is unknown to the tokenizer" if code else "needs the target language"
        raise InputError(f"{directory}: prefix {lack}; write one of {_some(codes)}")
    tasks = getattr(config, "task_specific_params", None) or {}
    prefixes = [task.get("prefix", "") for task in tasks.values() if isinstance(task, dict)]
    translating = [each for each in prefixes if each.startswith("translate ")]
    if translating and not prefix:
        raise InputError(
            f"{directory}: prefix is needed, which names the languages; write "
            f"one of {_some([repr(each) for each in translating])}, or another that the model was "
            "trained with"
        )


def code_of(tokenizer: Tokenizer, target_lang: str | None) -> int | None:
    """The token that marks a text of the target language; None where no token does."""
    token = _codes(tokenizer).get(target_lang)
    return None if token is None else tokenizer.convert_tokens_to_ids(token)


def search_config(
    model: PreTrainedModel, tokenizer: Tokenizer, code: int | None, **search: Any
) -> GenerationConfig:
    """What `generate` does: `search` and what the model's tokens are, nothing else of its own.

    A translation starts as the labels of a teacher-forced pass do: mBART's decoder reads the target
    language's `code` first and is not asked for it, those of mBART-50 and M2M100 have to output it
    first. An output that is cut off does not end.
    """
    own = model.generation_config
    first = tokenizer(text_target="")["input_ids"][0]
    start = model.config.decoder_start_token_id
    forced = own.forced_bos_token_id if code is None else code if code == first else None
    return GenerationConfig(
        pad_token_id=model.config.pad_token_id,
        eos_token_id=model.config.eos_token_id,
        decoder_start_token_id=start if code in (None, first) else code,
        forced_bos_token_id=forced,
        bad_words_ids=own.bad_words_ids,  # Opus-MT's are never to pad
        do_sample=False,
        **search,
    )


def _codes(tokenizer: Tokenizer) -> dict[str, str]:
    """The codes of languages that a tokenizer knows, each with its token."""
    tokens = getattr(tokenizer, "lang_code_to_token", None)  # M2M100's, which writes __en__
    if tokens is not None:
        return dict(tokens)
    special = tokenizer.all_special_tokens
    return {token: token for token in special if CODE.fullmatch(token)}


def _some(names: list[str] | dict[str, str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:SHOWN]) + (f" ({len(shown)} in all)" if len(shown) > SHOWN else "")
