"""Whether a translation model, its tokenizer and the languages that a study names fit together."""

import re
from pathlib import Path
from typing import Any

from transformers import (
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    GenerationConfig,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers import PreTrainedTokenizerBase as Tokenizer

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import vocabulary

KINDS = "a Marian, BART, mBART, M2M100 or T5"
CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]+")  # as en_XX of mBART and eng_Latn of NLLB
SHOWN = 8  # language codes or prefixes in an error


def check_kind(directory: Path, config: PretrainedConfig) -> None:
    """Raise InputError where a config is that of no encoder-decoder of texts."""
    encoder_decoder = getattr(config, "is_encoder_decoder", False)
    if not encoder_decoder or type(config) not in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        raise InputError(
            f"{directory}: {config.model_type} is no encoder-decoder that translates texts; name "
            f"{KINDS} as the translator"
        )


def check_vocabulary(directory: Path, tokenizer: Tokenizer, config: PretrainedConfig) -> None:
    """Raise InputError where the tokenizer's vocabulary is not the model's.

    It has a token that the model's embedding has no row for, or other tokens that pad and end a
    sentence; or a decoder would not know with which token to start.
    """
    vocabulary.check_vocabulary(directory, tokenizer, config, ("pad", "eos"))
    start = getattr(config, "decoder_start_token_id", None)
    if start is None and not takes_languages(tokenizer):
        raise InputError(
            f"{directory}: config.json has no decoder_start_token_id, with which a translation "
            "starts; add the one that the model was trained with"
        )


def takes_languages(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer marks texts with the codes of their languages, as mBART's does."""
    return hasattr(tokenizer, "set_src_lang_special_tokens")


def set_languages(
    directory: Path, tokenizer: Tokenizer, source_lang: str | None, target_lang: str | None
) -> None:
    """Let the tokenizer mark texts with these codes.

    Raises InputError for a code that it does not know or does not take, and for one that it needs.
    """
    given = {"source_lang": source_lang, "target_lang": target_lang}
    if not takes_languages(tokenizer):
        for key, code in given.items():
            if code is not None:
                raise InputError(
                    f"{directory}: the tokenizer takes no codes of languages; remove "
                    f"{key} next to the model"
                )
        return
    known = _codes(tokenizer)
    for key, code in given.items():
        if code not in known:
            lack = "is needed" if code is None else f"{code!r} is unknown to the tokenizer"
            raise InputError(f"{directory}: {key} {lack}; write one of {_some(known)}")
    tokenizer.src_lang, tokenizer.tgt_lang = source_lang, target_lang


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
    if not takes_languages(tokenizer) or target_lang is None:
        return None
    return tokenizer.convert_tokens_to_ids(_codes(tokenizer)[target_lang])


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
