"""The documents of the chapter: some give scores of heads, others verify them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PretrainedConfig, PreTrainedModel

from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import causal_engine, models, running
from workflow_scripts.core.model.attention import n_heads, n_kv_heads
from workflow_scripts.core.model.interventions import STREAM

WINDOWED = "sliding_attention"  # transformers' name for a layer with a window


def sampled(
    card: dict[str, Any],
    corpus: Path,
    seen: Sequence[Path],
    n_tokens: int,
    n_documents: int,
    n_held_out: int,
    seed: int,
) -> tuple[list[Tokens], list[Tokens]]:
    """The first `n_tokens` of a segment of `n_documents` documents each, and of others, held out.

    Documents are sampled by `seed` from those with a segment that is long enough, and that are in
    no corpus that is `seen`. Raises InputError where there are too few.
    """
    left_out = {example.document for path in seen for example in read_examples(path)}
    examples = [each for each in read_examples(corpus) if each.document not in left_out]
    tokenizer = models.load_tokenizer(models.directory_of(card))
    texts = tokenize(examples, tokenizer, n_tokens, card["max_positions"])
    long = {}
    for example, tokens in zip(examples, texts, strict=True):
        if len(tokens) == n_tokens:
            long.setdefault(example.document, tokens)
    n = n_documents + n_held_out
    if len(long) < n:
        raise InputError(
            f"config: context: {len(long)} documents have a segment of {n_tokens} tokens, but "
            f"n_documents and n_held_out are {n}; lower n_tokens, or raise the corpus' max_tokens"
        )
    found = list(long.values())
    order = np.random.default_rng(seed).permutation(len(found))[:n]
    return [found[at] for at in order[:n_documents]], [found[at] for at in order[n_documents:]]


def opened(
    card: dict[str, Any], n_tokens: int, sinks: int, recent: int, device: str
) -> PreTrainedModel:
    """The decoder. Raises InputError where streaming hides nothing from a query that predicts."""
    if sinks + recent >= n_tokens - 1:
        raise InputError(
            f"config: context: sinks and recent are {sinks + recent} of {n_tokens} tokens, so that "
            "nothing is hidden; lower recent or raise n_tokens"
        )
    return causal_engine.load_causal(models.directory_of(card), running.pick_device(device))


def token_scores(
    model: PreTrainedModel,
    tokens: Sequence[Tokens],
    recent: np.ndarray,
    sinks: int,
    score: causal_engine.Score = causal_engine.nats,
) -> np.ndarray:
    """Nats of each predicted token, [variant, document, token - 1], of texts where heads stream.

    `recent` is int [variant, layer, key-value head]: how many last tokens a head sees, 0 for all.
    Another `score` may take the place of nats.
    """
    heads = recent.repeat(n_heads(model) // n_kv_heads(model), axis=2)
    return causal_engine.ablate(model, tokens, heads, STREAM, sinks=sinks, score=score)


def full_lengths(config: PretrainedConfig, n_tokens: int) -> np.ndarray:
    """How many of `n_tokens` tokens heads that do not stream keep, int [layer, 1]: its window's."""
    window = getattr(config, "sliding_window", None) or n_tokens
    kinds = getattr(config, "layer_types", None) or [WINDOWED] * config.num_hidden_layers
    full = [min(n_tokens, window) if kind == WINDOWED else n_tokens for kind in kinds]
    return np.array(full)[:, None]


def cache_bytes(
    recent: np.ndarray, full: np.ndarray | int, sinks: int, dim: int, of_number: int = 2
) -> np.ndarray:
    """Bytes of what heads keep, int [...], for `recent` [..., layer, head].

    `full` is how many tokens a head keeps that does not stream, as `full_lengths`. Twice `dim`,
    the size of a key, times `of_number` bytes for each token that a head keeps.
    """
    kept = np.where(recent > 0, np.minimum(full, sinks + recent), full)
    return 2 * dim * of_number * kept.sum(axis=(-2, -1))


def of_groups(values: torch.Tensor, n_kv: int) -> torch.Tensor:
    """Values of heads [head, ...] by the key-value head that they share, [kv, group, ...]."""
    return values.unflatten(0, (n_kv, -1))
