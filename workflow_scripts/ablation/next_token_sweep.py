"""Losses of a language model on running text with heads, layers or key-value groups disabled."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from transformers import PreTrainedModel

from workflow_scripts.ablation import labelled_tokens
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import read_examples
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import causal_engine
from workflow_scripts.core.model.ablation_engine import by_variant, in_every_mode, variants_of
from workflow_scripts.core.model.attention import n_heads, n_kv_heads, n_layers
from workflow_scripts.core.model.interventions import FROM_TEXTS, Replacement, replacement_of
from workflow_scripts.core.run import job


def opened(
    model: Path,
    corpus: Path,
    modes: Iterable[str],
    n_segments: int,
    reference: int,
    max_tokens: int,
    seed: int,
    labelled: bool,
    device: str,
) -> tuple[PreTrainedModel, causal_engine.Segments, dict[str, Replacement | None]]:
    """The model, segments sampled from the corpus, and what heads output instead in each mode.

    `labelled` corpora are files of labelled words.
    """
    card, read = read_card(model), labelled_tokens.read if labelled else read_examples
    chosen, others = causal_engine.sampled_segments(corpus, n_segments, seed, read)
    segments, texts = causal_engine.Segments.from_examples(chosen, card, max_tokens, seed), []
    if taken := [mode for mode in modes if mode in FROM_TEXTS]:
        if not others:
            raise InputError(
                f"{corpus}: mode {taken[0]} needs segments other than those measured; lower "
                f"ablation.text.n_segments or remove {taken[0]} from ablation.text.modes"
            )
        replaced = others[:reference], card, max_tokens, seed
        texts = causal_engine.Segments.from_examples(*replaced).tokens
    opened = causal_engine.load(card, device)
    tokens = segments.tokens
    instead = {mode: replacement_of(mode, opened, tokens, texts, seed) for mode in modes}
    return opened, segments, instead


def main(
    model: Path,
    corpus: Path,
    losses: job.Out,
    units: dict[str, list[str]],
    n_segments: int,
    reference: int,
    max_tokens: int,
    pass_tokens: int,
    seed: int,
    labelled: bool = False,
    device: str = "auto",
) -> None:
    """Write a row per variant and segment: the sum of the nats of what is predicted."""
    used = list(dict.fromkeys(mode for modes in units.values() for mode in modes))
    sampled = n_segments, reference, max_tokens, seed, labelled, device
    language_model, segments, instead = opened(model, corpus, used, *sampled)
    shape = n_layers(language_model), n_heads(language_model), n_kv_heads(language_model)
    variants, disabled = variants_of(units, *shape)

    def run(mode: str, chosen: np.ndarray) -> np.ndarray:
        given = disabled[chosen], mode, instead[mode]
        found = causal_engine.ablate(
            language_model, segments.tokens, *given, pass_tokens=pass_tokens
        )
        return np.nansum(found, axis=2, dtype=np.float64)

    frame = by_variant(variants, "segment", nats=in_every_mode(variants, run))
    at = frame.pop("segment").to_numpy()
    frame = frame.assign(
        id=[segments.tokens[row].id for row in at],
        document=np.array(segments.documents, dtype=object)[at],
        n_tokens=segments.n_scored[at],
    )
    tables.write(frame, losses)


if __name__ == "__main__":
    job.run(main, globals())
