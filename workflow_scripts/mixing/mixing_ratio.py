"""How much of a token comes from other tokens (Kobayashi et al. 2021, mixing ratio)."""

from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.model.head_maps import output_maps
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.mixing.block_parts import Block, blocks, by_layer, opened


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


def ratios_of_texts(model: PreTrainedModel, texts: list[Tokens]) -> dict[str, np.ndarray]:
    """The ratios of each text and layer, [text, layer], by method; of an opened body."""
    maps, rows = output_maps(model), []
    for text in job.progress(texts, len(texts), "mixing ratios"):
        rows.append([ratios(block) for block in blocks(model, maps, text)])
    return {
        method: np.array([[layer[method] for layer in text] for text in rows])
        for method in rows[0][0]
    }


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
    body, texts, documents = opened(model, corpus, n_segments, max_tokens, seed, device)
    found = ratios_of_texts(body, texts)
    scaled = {method: 100 * values for method, values in found.items()}
    tables.write_csv(by_layer(scaled, "method", "ratio", bootstrap, seed, documents), table)


if __name__ == "__main__":
    job.run(main, globals())
