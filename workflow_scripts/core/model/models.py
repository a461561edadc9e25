"""Models and their tokenizers: where one comes from, loading it, and the card that describes it."""

import logging
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
import transformers
from transformers import AutoModel, AutoTokenizer, PretrainedConfig, PreTrainedModel
from transformers import PreTrainedTokenizerBase as Tokenizer
from transformers import PreTrainedTokenizerFast as FastTokenizer
from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.integrity import digests
from workflow_scripts.core.model import adapters, attention, weights
from workflow_scripts.core.run import model_sources
from workflow_scripts.core.run.sources import path_of

OWN_TOKENIZER = "use the tokenizer that was saved with these weights"
USED = ("bos", "eos", "cls", "sep", "mask", "unk")  # kinds of special tokens that inputs may hold
TEXT = -1  # in place of a text among special tokens
# What loading reads: config, index and generation, the tokenizer's files of any kind, weights.
TOKENIZERS = ("*.txt", "*.model", "*.spm", "*.codes", "*.tokenizer", "*.jinja")
NO_WEIGHTS = ("*.json", *TOKENIZERS)
FILES = (*NO_WEIGHTS, "*.safetensors")
PICKLES = (*NO_WEIGHTS, "pytorch_model*.bin")
log = logging.getLogger(__name__)

transformers.utils.logging.disable_progress_bar()  # bars would fill the log


def resolve(source: dict[str, str]) -> Path:
    """The local directory or GGUF file of a model; one from the hub is downloaded once and kept.

    `source` is as in a study's config: of `path`, `package` and `hub` it has one, the last with its
    `revision` and, of a model that must be converted, the `file` of the repository.
    """
    if "hub" not in source:
        return path_of(source)
    from huggingface_hub import hf_hub_download, snapshot_download

    hub, revision, file = source["hub"], source.get("revision"), source.get("file")
    try:
        if model_sources.is_gguf(source):
            return Path(hf_hub_download(hub, file, revision=revision))
        wanted = list(PICKLES if file == model_sources.PICKLED[0] else FILES)
        found = Path(snapshot_download(hub, revision=revision, allow_patterns=wanted))
    except Exception as error:  # of any layer of the network below
        what = f"hub: {hub} at {revision or 'main'}: {file or ''}".rstrip()
        raise InputError(
            f"{what} cannot be fetched ({one_line(error)}); connect this machine, or download it "
            "elsewhere and give its path as from"
        ) from error
    adapter = (found / model_sources.ADAPTER).is_file()
    if file is None and (adapter or not any(found.glob("*.safetensors"))):
        what = "an adapter" if adapter else "no safetensors"
        needed = model_sources.ADAPTER_WEIGHTS if adapter else model_sources.PICKLED[0]
        raise InputError(
            f"hub: {hub} at {revision}: {what}; write file: {needed} next to it, from which the "
            "model is made once"
        )
    return found


def directory_of(card: dict[str, Any]) -> Path:
    """The local directory of the model that a card describes; InputError where it has changed."""
    directory = Path(card["directory"]) if "directory" in card else resolve(card["source"])
    if weights_digest(directory) != card["weights"]:
        raise InputError(
            f"{directory}: the weights, config or tokenizer are not those that the card of "
            f"{card['name']} was written for; put those back, or delete the card and run again"
        )
    return directory


def weights_by_epoch(epochs: Path, last: Path, remedy: str) -> list[Path]:
    """The weights after each epoch: those in `epochs`, then `last`; InputError where none are."""
    kept = sorted(epochs.glob("epoch-*"), key=lambda path: int(path.name.partition("-")[2]))
    if not kept:
        raise InputError(f"{epochs}: no epoch-*; {remedy}")
    return [*kept, last]


def load_tokenizer(directory: Path) -> FastTokenizer:
    """The fast tokenizer, whose character offsets tie wordpieces to words."""
    config = weights.read_config(directory)
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory, use_fast=True, trust_remote_code=False)
    except Exception as error:  # of any kind, for files of any content
        raise _no_tokenizer(directory, one_line(error)) from error
    if not isinstance(tokenizer, FastTokenizer) or len(tokenizer) <= len(
        set(tokenizer.all_special_ids)
    ):
        raise _no_tokenizer(directory, "there is no tokenizer.json or vocabulary")
    # Only a masked language model, as RoBERTa, has a padding token that its positions depend on.
    masked = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    check_vocabulary(directory, tokenizer, config, ("pad",) if masked else ())
    return tokenizer


def unreachable_capitals(tokenizer: FastTokenizer) -> int:
    """How many tokens with capitals, but special ones, a tokenizer that lower-cases has."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    if normalizer is None or not normalizer.normalize_str("A").endswith("a"):
        return 0
    added = {str(token) for token in tokenizer.added_tokens_decoder.values()}
    return sum(token.lower() != token for token in tokenizer.get_vocab().keys() - added)


def save(model: PreTrainedModel, tokenizer: Tokenizer, directory: Path) -> None:
    """Write a model with its tokenizer: the same files in any environment."""
    model.save_pretrained(directory)
    tokenizer.init_kwargs.pop("local_files_only", None)  # HF_HUB_OFFLINE would be noted
    tokenizer.backend_tokenizer.no_truncation()  # which it keeps of the last text that it read
    tokenizer.save_pretrained(directory)


def load_body(directory: Path, device: torch.device) -> PreTrainedModel:
    """The encoder or decoder without a head, float32 and in eval mode, on `device`."""
    model, _ = weights.load(AutoModel, directory)
    return model.to(device).eval()


def weights_digest(directory: Path) -> str:
    """Hex SHA-256 over the weights and all other files that loading reads, by name."""
    found = {path for pattern in FILES for path in directory.glob(pattern)}
    found |= {directory / name for name in weights.indexed(directory)}
    return digests.sha256_of_files(directory, sorted(path for path in found if path.is_file()))


def versions() -> dict[str, str]:
    """The versions of the libraries that a model's outputs depend on."""
    libraries = {"torch": torch, "transformers": transformers}
    libraries |= {"tokenizers": tokenizers, "numpy": np}
    return {name: library.__version__ for name, library in libraries.items()}


def describe(directory: Path, name: str, source: dict[str, str]) -> dict[str, Any]:
    """The model's card, after a check that its tokenizer and attention can be used.

    `bidirectional` is there, and false, only where no token attends to later ones, `n_kv_heads`
    only where heads share keys and values, `quantised` only where weights were. Raises InputError
    for a model that cannot be loaded, or whose attention cannot be watched.
    """
    tokenizer = load_tokenizer(directory)
    if n := unreachable_capitals(tokenizer):
        log.warning(
            "%s: the tokenizer lower-cases, so that no text has its %d tokens with capitals; set "
            "do_lower_case: false in tokenizer_config.json if the model is cased",
            *(name, n),
        )
    body = attention.open_attention(load_body(directory, torch.device("cpu")))
    n_heads, n_kv_heads = attention.n_heads(body), attention.n_kv_heads(body)
    card = {
        "name": name,
        "source": source,
        "architecture": body.config.model_type,
        "n_layers": attention.n_layers(body),
        "n_heads": n_heads,
        "n_kv_heads": n_kv_heads if n_kv_heads < n_heads else None,
        "hidden_size": body.config.hidden_size,
        "max_positions": max_positions(body),
        "weights": weights_digest(directory),
        "special": special_tokens(tokenizer),
        "start": start_token(tokenizer),
        "punctuation": _ids_reading(tokenizer, {".", ","}),
        "versions": versions(),
        "quantised": getattr(body.config, "quantised", None),
        "bidirectional": None if attention.is_bidirectional(body) else False,
    }
    return {key: value for key, value in card.items() if value is not None or key == "start"}


def check_vocabulary(
    directory: Path, tokenizer: Tokenizer, config: PretrainedConfig, kinds: tuple[str, ...]
) -> None:
    """Raise InputError where the vocabulary, or a special token of `kinds`, is not the model's."""
    vocabulary = tokenizer.get_vocab() | getattr(tokenizer, "lang_token_to_id", {})
    # Other special tokens, as Gemma 3's of images, are in no text: theirs is split.
    used = {getattr(tokenizer, f"{kind}_token_id") for kind in USED}
    added = tokenizer.added_tokens_decoder.items()
    unused = {number for number, token in added if token.special} - used
    read = [item for item in vocabulary.items() if item[1] not in unused]
    token, largest = max(read, key=lambda item: item[1])
    rows = getattr(config, "vocab_size", None)
    if rows is None:
        raise InputError(
            f"{directory}/config.json: no vocab_size of the whole model; use a model of text alone"
        )
    if largest >= rows:
        raise InputError(
            f"{directory}: the vocabulary is not the model's: token {token!r} has the number "
            f"{largest}, but the embedding has {rows} rows; {OWN_TOKENIZER}"
        )
    for kind in kinds:
        name = f"{kind}_token_id"
        found, expected = getattr(tokenizer, name), getattr(config, name, None)
        known = expected if isinstance(expected, list) else [expected]
        if None not in (found, expected) and found not in known:
            raise InputError(
                f"{directory}: the vocabulary is not the model's: the tokenizer's {name} is "
                f"{found}, but config.json's is {expected}; {OWN_TOKENIZER}"
            )


def special_tokens(tokenizer: FastTokenizer) -> dict[str, int | None]:
    """The numbers of cls, sep, mask and pad; None for one that the tokenizer lacks or leaves out.

    A cls begins every text and pair, a sep follows each text: else all attention to it would be 0.
    """
    kinds = ("cls", "sep", "mask", "pad")
    special = {kind: getattr(tokenizer, f"{kind}_token_id") for kind in kinds}
    frames = [_frame(tokenizer, texts) for texts in (["a"], ["a", "b"])]
    if any(frame[:1] != [special["cls"]] for frame in frames):
        special["cls"] = None
    after = [[token for text, token in pairwise(frame) if text == TEXT] for frame in frames]
    if after != [[special["sep"]], [special["sep"]] * 2]:
        special["sep"] = None
    return special


def start_token(tokenizer: FastTokenizer) -> int | None:
    """The number of the token that the tokenizer puts before a text, None where it puts none."""
    first = _frame(tokenizer, ["a"])[0]
    return None if first == TEXT else first


def _frame(tokenizer: FastTokenizer, texts: list[str]) -> list[int]:
    """The special tokens of a text or pair in their order, and TEXT for each text."""
    encoding = tokenizer(*texts, split_special_tokens=True).encodings[0]
    tokens = zip(encoding.sequence_ids, encoding.ids, strict=True)
    runs = groupby(tokens, lambda token: token if token[0] is None else token[0])
    return [run[1] if isinstance(run, tuple) else TEXT for run, _ in runs]


def max_positions(model: PreTrainedModel) -> int:
    """Maximum number of tokens of an input: of RoBERTa's 514 positions, the first two are padding.

    Raises InputError where neither the config nor the adapters bound it.
    """
    limits = "max_position_embeddings", "max_seq_len"  # the second is MPT's
    stated = next((most for name in limits if (most := getattr(model.config, name, 0))), None)
    stated = adapters.TRAINED_LENGTHS.get(model.config.model_type, stated)
    if stated is None or stated < 1:
        raise InputError(
            f"{model.config.model_type}: max_position_embeddings in config.json is {stated}; use "
            "another model"
        )
    for name, module in model.named_modules():
        if name.endswith("position_embeddings"):
            padding = getattr(module, "padding_idx", None)
            return stated if padding is None else stated - padding - 1
    return stated


def _no_tokenizer(directory: Path, why: str) -> InputError:
    return InputError(
        f"{directory}: no fast tokenizer ({why}); save one there with tokenizer.save_pretrained"
    )


def _ids_reading(tokenizer: FastTokenizer, texts: set[str]) -> list[int]:
    """Ids of the vocabulary's entries that read as one of `texts`, whatever their spacing mark."""
    return [
        index
        for token, index in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        if tokenizer.convert_tokens_to_string([token]).strip() in texts
    ]
