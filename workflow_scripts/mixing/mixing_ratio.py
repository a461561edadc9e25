"""How much of a token comes from other tokens (Kobayashi et al. 2021, mixing ratio)."""

from pathlib import Path

import torch

from workflow_scripts.core.data import tables
from workflow_scripts.core.model.head_maps import output_maps
from workflow_scripts.core.run import job
from workflow_scripts.mixing.block_parts import Block, blocks, by_layer, opened


@torch.no_grad()
def ratios(block: Block) -> dict[str, float]:
    """||mixing|| / (||mixing|| + ||preserving||) in percent, mean over tokens, by method.

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
        found[method] = 100 * float((one / (one + other)).double().mean())
    return found


def main(
    model: Path,
    corpus: Path,
    table: job.Out,
    n_segments: int,
    max_tokens: int,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write the mixing ratios of each layer and method, in percent."""
    body, texts, documents = opened(model, corpus, n_segments, max_tokens, seed, device)
    maps, found = output_maps(body), []
    for text in job.progress(texts, len(texts), "mixing ratios"):
        found.append([ratios(block) for block in blocks(body, maps, text)])
    tables.write_csv(by_layer(found, "method", "ratio", bootstrap, seed, documents), table)


if __name__ == "__main__":
    job.run(main, globals())
