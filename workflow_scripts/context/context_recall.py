"""Passkeys that a decoder still finds in unseen documents while its key-value heads stream.

A key is recalled where greedy search generates all of its tokens. It does so exactly where each of
them is the likeliest after the right ones before it, which one pass over the whole text tells.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np
import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from workflow_scripts.context.context_streaming import (
    WINDOW,
    at_steps,
    by_order,
    longer_windows,
    orders,
    resampled,
    scores_of,
)
from workflow_scripts.context.documents import full_lengths, opened, sampled, token_scores
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model import models
from workflow_scripts.core.model.causal_engine import ranked_first
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import percentile_ends
from workflow_scripts.core.stats.effects import pruning_steps

STATEMENT, QUESTION = (
    "\n\nThe passkey is{}. Remember it.\n\n",
    "\n\nWhat is the passkey? The passkey is",
)
STEP = 0.25  # of the key-value heads


def with_keys(
    tokens: Sequence[Tokens],
    tokenizer: PreTrainedTokenizerFast,
    n_keys: int,
    start: int,
    last: int,
    seed: int,
) -> tuple[list[Tokens], list[int]]:
    """Each document `n_keys` times, each with a key of five digits, and the tokens of each key.

    Keys stand at even distances after the `start` first tokens and before the `last` ones, which a
    head that streams sees. The question and the key are the end of the text.
    """
    rng, texts, lengths = np.random.default_rng(seed), [], []
    for text in tokens:
        for place in np.linspace(start, len(text) - last, n_keys + 2)[1:-1].astype(int):
            key = f" {rng.integers(10_000, 100_000)}"
            hidden, asked, question = (
                tokenizer.encode(part, add_special_tokens=False)
                for part in (STATEMENT.format(key), QUESTION + key, QUESTION)
            )
            ids = np.r_[text.ids[:place], hidden, text.ids[place:], asked]
            texts.append(replace(text, ids=ids.astype(np.int32), word=ids, segment=0 * ids))
            both = takewhile(lambda pair: pair[0] == pair[1], zip(asked, question, strict=False))
            lengths.append(len(asked) - len(list(both)))
    return texts, lengths


def recalled(
    model: PreTrainedModel,
    texts: Sequence[Tokens],
    lengths: Sequence[int],
    recent: np.ndarray,
    sinks: int,
) -> np.ndarray:
    """Whether the last `lengths` tokens of each text are generated, bool [variant, text].

    `recent` is int [variant, layer, key-value head], as `token_scores` takes it.
    """
    first = token_scores(model, texts, recent, sinks, ranked_first)
    ends = [len(text) - 1 for text in texts]  # a text has one prediction less than tokens
    columns = [
        first[:, number, end - length : end].all(1)
        for number, (end, length) in enumerate(zip(ends, lengths, strict=True))
    ]
    return np.stack(columns, axis=1)


def main(
    model: Path,
    corpus: Path,
    scores: Path,
    recall: job.Out,
    n_tokens: int,
    n_documents: int,
    n_held_out: int,
    n_keys: int,
    sinks: int,
    recent: int,
    draws: int,
    bootstrap: int,
    seen: list[Path] = (),
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write a row per order and share of streaming heads."""
    card = read_card(model)
    _, tokens = sampled(card, corpus, seen, n_tokens, n_documents, n_held_out, seed)
    tokenizer = models.load_tokenizer(models.directory_of(card))
    start = max(sinks, int(card["start"] is not None))
    texts, lengths = with_keys(tokens, tokenizer, n_keys, start, sinks + recent, seed)
    decoder = opened(card, n_tokens, sinks, recent, device)
    of_heads = scores_of(scores, card["n_layers"])
    counts = pruning_steps(of_heads["exact"].size, STEP)
    found = orders(of_heads, counts, recent, draws, seed)
    full = full_lengths(decoder.config, max(map(len, texts)))
    found[WINDOW] = longer_windows(found["exact"][0], full, sinks)
    right = by_order(found, lambda each: recalled(decoder, texts, lengths, each, sinks))
    lines = []
    for name, values in right.items():
        of_documents = values.reshape(*values.shape[:2], len(tokens), n_keys).mean(3)
        means = resampled(of_documents, bootstrap, seed)
        low, high = percentile_ends(means[1:], len(tokens))
        line = {"order": name, "share": at_steps(name, counts) / counts[-1], "recall": means[0]}
        line |= {"recall_low": low, "recall_high": high, "draws": len(values)}
        lines.append(pd.DataFrame(line))
    table = pd.concat(lines, ignore_index=True)
    tables.write_csv(table.assign(n=len(tokens), keys=len(texts)), recall)


if __name__ == "__main__":
    job.run(main, globals())
