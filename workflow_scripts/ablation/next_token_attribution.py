"""Attributions of the heads of a language model, on the running text of its sweep."""

from collections.abc import Sequence
from pathlib import Path

import torch

from workflow_scripts.ablation.classifier_attribution import attribution_table, attributions
from workflow_scripts.ablation.next_token_sweep import opened
from workflow_scripts.core.data import tables
from workflow_scripts.core.model.causal_engine import token_losses
from workflow_scripts.core.run import job

BATCH_TOKENS = 512  # the logits of each token are kept for the backward pass


def main(
    model: Path,
    corpus: Path,
    attribution: job.Out,
    modes: list[str],
    n_segments: int,
    reference: int,
    max_tokens: int,
    seed: int,
    labelled: bool = False,
    device: str = "auto",
) -> None:
    """Write a row per mode, head and segment: its part of the change of the sum of its nats."""
    sampled = n_segments, reference, max_tokens, seed, labelled, device
    language_model, segments, instead = opened(model, corpus, modes, *sampled)

    def losses_of(inputs: dict[str, torch.Tensor], _: Sequence[int]) -> torch.Tensor:
        return token_losses(language_model, inputs).nansum(dim=1)

    found = attributions(language_model, segments.tokens, losses_of, instead, BATCH_TOKENS)
    ids = [text.id for text in segments.tokens]
    tables.write(attribution_table(found, modes, ids), attribution)


if __name__ == "__main__":
    job.run(main, globals())
