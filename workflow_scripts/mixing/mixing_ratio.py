"""How much of a token comes from other tokens (Kobayashi et al. 2021, mixing ratio)."""

from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.examples import read_examples
from workflow_scripts.core.data.sampling import sample
from workflow_scripts.core.data.tokens import Tokens, tokenize
from workflow_scripts.core.model import attention, devices, models
from workflow_scripts.core.model.value_norms import output_maps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats.intervals import bootstrap_mean
from workflow_scripts.mixing.block_parts import Block, blocks

# What is counted as preserving a token, next to what heads read from the token itself.
METHODS = ("attention", "residual", "norm")


@torch.no_grad()
def ratios(block: Block) -> dict[str, float]:
    """||mixing|| / (||mixing|| + ||preserving||), mean over tokens, by method.

    Mixing is what heads read from other tokens. Preserving is what they read from the token itself
    (`attention`), with the residual stream (`residual`), both after the layer norm (`norm`, of
    encoders).
    """
    parts = {"attention": (block.context, block.own)}
    parts["residual"] = (block.context, block.own + block.entering)
    if block.norm is not None:
        parts["norm"] = tuple(map(block.normed, parts["residual"]))
    found = {}
    for method, (mixing, preserving) in parts.items():
        one, other = mixing.norm(dim=-1), preserving.norm(dim=-1)
        found[method] = float((one / (one + other)).double().mean())
    return found


def of_texts(model: PreTrainedModel, texts: list[Tokens]) -> dict[str, np.ndarray]:
    """The ratios of each text and layer, [text, layer], by method; of an opened body."""
    maps, rows = output_maps(model), []
    for text in job.progress(texts, len(texts), "mixing ratios"):
        rows.append([ratios(block) for block in blocks(model, maps, text)])
    return {
        method: np.array([[layer[method] for layer in text] for text in rows])
        for method in METHODS
        if method in rows[0][0]
    }


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


def main(
    model: Path,
    corpus: Path,
    table: Out,
    n_segments: int,
    max_tokens: int,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
    files: list[Path] = (),
) -> None:
    """Write the mixing ratios of each layer and method, in percent."""
    card = read_card(model)
    texts, documents = chosen_texts(card, corpus, n_segments, max_tokens, seed)
    body = models.load_body(models.directory_of(card), devices.pick(device))
    found = of_texts(attention.open_attention(body), texts)
    scaled = {method: 100 * values for method, values in found.items()}
    tables.write_csv(by_layer(scaled, "method", "ratio", bootstrap, seed, documents), table)


if __name__ == "__main__":
    job.run(main, globals())
