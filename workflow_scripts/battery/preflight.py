"""What the preflight looks at of the battery: its lengths against each decoder and the corpus."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workflow_scripts.battery.needles import haystacks, make_needles
from workflow_scripts.battery.repeated_sequences import check_length, ordinary_tokens, start_token
from workflow_scripts.battery.texts import encode
from workflow_scripts.core.data.examples import Example
from workflow_scripts.core.data.gguf_sources import is_gguf
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import gguf_files, models, unloaded, weights
from workflow_scripts.core.run.config import source_of
from workflow_scripts.core.run.findings import Findings

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


class Decoder(NamedTuple):
    """A decoder's tokenizer, and how many tokens it states that it reads."""

    name: str
    tokenizer: "PreTrainedTokenizerFast"
    positions: int


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Hold every length against each decoder that takes the chapter, and its haystacks' corpus."""
    battery, seed = config["battery"], config["seed"]
    corpus = battery["corpus"]
    for name, entry in config["models"].items():
        if entry["kind"] != "decoder" or "battery" not in entry.get("chapters", ["battery"]):
            continue
        decoder = found.look(f"battery, {name}", partial(opened, name, source_of(entry), network))
        if decoder is None:
            continue
        found.look(f"battery.length, {name}", partial(repeats, battery["length"], decoder))
        for key, n_tokens, more in lengths(battery, decoder, seed):
            found.look(f"battery.{key}, {name}", partial(fits, key, n_tokens, more, decoder))
        start = found.read.get(f"corpora.text.{corpus}")
        if start and "retrieval" in battery["tests"]:
            limit = config["corpora"]["text"][corpus]["n_segments"]
            whole = start.whole or limit <= len(start.examples)
            check = partial(haystack, battery, start.examples[:limit], whole, decoder)
            found.look(f"battery.retrieval.n_needles, {name}", check)


def opened(name: str, source: dict[str, Any], network: Network) -> tuple[Decoder | None, str]:
    """The decoder, where its tokenizer and positions can be read without its weights."""
    try:
        if is_gguf(source):
            origin = models.Source.from_config(source)
            if origin.hub is not None and not gguf_files.is_cached(origin):
                return None, "lengths are not looked at: the GGUF file is not downloaded yet"
            header = gguf_files.read_header(gguf_files.find(origin))
            tokenizer, config = header.tokenizer, header.config
        else:
            directory, _ = unloaded.find(source, network)
            tokenizer, config = models.load_tokenizer(directory), weights.read_config(directory)
    except InputError:
        return None, f"lengths are not looked at before models.{name} can be read"
    positions = getattr(config, "max_position_embeddings", None)
    if not positions:
        return None, "lengths are not looked at: the config states no max_position_embeddings"
    return Decoder(name, tokenizer, positions), f"{positions} positions"


def repeats(length: int, decoder: Decoder) -> tuple[None, str]:
    """Random tokens, twice after a start token."""
    start, _ = start_token(decoder.tokenizer, models.start_token(decoder.tokenizer))
    n_ordinary = len(np.setdiff1d(ordinary_tokens(decoder.tokenizer), start))
    check_length(length, n_ordinary, {"name": decoder.name, "max_positions": decoder.positions})
    return None, f"{1 + 2 * length} tokens"


def lengths(battery: dict[str, Any], decoder: Decoder, seed: int) -> Iterator[tuple[str, int, int]]:
    """The key of each length of text that is read, its value, and how many tokens are added."""
    tests = set(battery["tests"])
    if tests & {"sinks", "causal"}:
        yield "sinks.n_tokens", battery["sinks"]["n_tokens"], 0
    if "causal" in tests:
        yield "causal.n_tokens", battery["causal"]["n_tokens"], 0
    if "retrieval" in tests:
        made = make_needles(battery["retrieval"]["n_needles"], seed)
        first = models.start_token(decoder.tokenizer)
        hay = [Example("", "", "", ("a",))] * len(made)
        start = [] if first is None else [first]
        longest = max(len(text.ids) for text in haystacks(hay, made, decoder.tokenizer, 1, start))
        yield "retrieval.n_tokens", battery["retrieval"]["n_tokens"], longest - 1


def fits(key: str, n_tokens: int, more: int, decoder: Decoder) -> tuple[None, str]:
    """Running text, with what is added."""
    added = f" and {more} of a needle and its question" if more else ""
    if n_tokens + more > decoder.positions:
        raise InputError(
            f"config: battery.{key}: {n_tokens} tokens{added}, but {decoder.name} has "
            f"{decoder.positions} positions; lower it"
        )
    return None, f"{n_tokens + more} tokens"


def haystack(
    battery: dict[str, Any], examples: list[Example], whole: bool, decoder: Decoder
) -> tuple[None, str]:
    """The texts that take needles, each of segments of its own; `whole` if there are no others."""
    n_needles, n_tokens = battery["retrieval"]["n_needles"], battery["retrieval"]["n_tokens"]
    filled = tokens = 0
    for example in examples:
        tokens += len(encode("\n".join(filter(None, example.texts)) + "\n", decoder.tokenizer))
        if tokens >= n_tokens:
            filled, tokens = filled + 1, 0
    of = f"segments of {battery['corpus']} hold {filled} texts of {n_tokens} tokens"
    if whole and filled < n_needles:
        raise InputError(
            f"config: battery.retrieval.n_needles: {n_needles}, but for {decoder.name} the "
            f"{len(examples)} {of}; lower n_needles or n_tokens, or raise the corpus' n_segments"
        )
    return None, f"the first {len(examples)} {of}"
