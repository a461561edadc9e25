"""Attributions of the heads of a decoder, on the running text of its sweep."""

from collections.abc import Sequence
from pathlib import Path

import torch

from workflow_scripts.ablation.classifier_attribution import attribution_table, attributions
from workflow_scripts.ablation.next_token_sweep import reference_texts
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import causal_engine, models, running
from workflow_scripts.core.model.causal_engine import Segments, sampled_segments
from workflow_scripts.core.model.interventions import replacement_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

BATCH_TOKENS = 512  # the logits of each token are kept for the backward pass


def main(
    model: Path,
    corpus: Path,
    attribution: Out,
    modes: list[str],
    n_segments: int,
    reference: int,
    max_tokens: int,
    seed: int,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write a row per mode, head and segment: its part of the change of the sum of its nats.

    Segments and what heads output instead are those of next_token_sweep.
    """
    card = read_card(model)
    chosen, others = sampled_segments(corpus, n_segments, seed)
    tokens = Segments.from_examples(chosen, card, max_tokens).tokens
    texts = reference_texts(corpus, others, modes, reference, card, max_tokens)
    decoder = causal_engine.load_causal(models.directory_of(card), running.pick_device(device))

    def losses_of(inputs: dict[str, torch.Tensor], _: Sequence[int]) -> torch.Tensor:
        nats = causal_engine.token_losses(decoder, inputs["input_ids"], inputs["attention_mask"])
        return nats.nansum(dim=1)

    instead = {mode: replacement_of(mode, decoder, tokens, texts, seed) for mode in modes}
    found = attributions(decoder, tokens, losses_of, instead, BATCH_TOKENS)
    tables.write(attribution_table(found, modes, [text.id for text in tokens]), attribution)


if __name__ == "__main__":
    job.run(main, globals())
