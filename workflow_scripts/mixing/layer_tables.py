"""The texts whose attention blocks are measured, and the tables of measures by layer."""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.sampling import sample
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.model import models
from workflow_scripts.core.stats.intervals import bootstrap_mean


def by_layer(
    values: dict[str, np.ndarray], name: str, number: str, draws: int, seed: int, documents: list
) -> pd.DataFrame:
    """A row per entry (column `name`) and layer, and for all layers: `number` with its interval.

    `values` are [text, layer]; whole documents are resampled. Layers count from 1.
    """
    rows = []
    for entry, per_text in values.items():
        with_all = np.concatenate([per_text, np.nanmean(per_text, 1, keepdims=True)], 1)
        ends = bootstrap_mean(with_all, draws, seed, documents)
        layers = [*map(str, range(1, per_text.shape[1] + 1)), "all"]
        for layer, value, low, high in zip(layers, *ends, strict=True):
            rows.append(
                {name: entry, "layer": layer, number: value, "ci_low": low, "ci_high": high}
            )
    return pd.DataFrame(rows).assign(n=len(documents), n_documents=len(set(documents)))


def chosen_texts(
    card: dict, corpus: Path, n_segments: int, max_tokens: int, seed: int
) -> tuple[list[Tokens], list[str]]:
    """Sampled segments of a corpus as tokens, of two or more, and the document of each."""
    examples = sample(read_examples(corpus), n_segments, seed)
    tokenizer = models.load_tokenizer(models.directory_of(card))
    tokens = tokenize(examples, tokenizer, max_tokens, card["max_positions"])
    kept = [k for k, text in enumerate(tokens) if len(text) > 1]
    return [tokens[k] for k in kept], [examples[k].document for k in kept]
