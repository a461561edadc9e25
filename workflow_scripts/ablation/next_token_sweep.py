"""Losses of a decoder on running text with heads, layers or key-value groups disabled."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.annotations import Example
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import ablation_engine, causal_engine, models, running
from workflow_scripts.core.model.attention import n_heads, n_kv_heads, n_layers
from workflow_scripts.core.model.causal_engine import Segments, sampled_segments
from workflow_scripts.core.model.interventions import FROM_TEXTS, replacement_of
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

GROUP = "key-value group"


def reference_texts(
    corpus: Path,
    others: Sequence[Example],
    modes: Iterable[str],
    reference: int,
    card: dict[str, Any],
    max_tokens: int,
) -> list[Tokens]:
    """The first `reference` of the `others` as tokens; none where no mode takes outputs from texts.

    `others` are the segments of the corpus that are not measured. Raises InputError where a mode
    needs them and there are none.
    """
    taken = [mode for mode in modes if mode in FROM_TEXTS]
    if not taken:
        return []
    if not others:
        raise InputError(
            f"{corpus}: mode {taken[0]} needs segments other than those measured; lower "
            f"ablation.text.n_segments or remove {taken[0]} from ablation.text.modes"
        )
    return Segments.from_examples(others[:reference], card, max_tokens).tokens


def variants_of(
    units: Mapping[str, Sequence[str]], layers: int, heads: int, kv_heads: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """The variants of a sweep, named (unit, mode, layer, head), and their disabled heads.

    As ablation_table.variants_of, with the unit GROUP, whose `head` is the key-value head. It is
    left out where each head has a key-value head of its own, and so is all-but-one of one head.
    """
    plain = {unit: modes for unit, modes in units.items() if unit != GROUP}
    names, masks = ablation_engine.variants_of(plain, layers, heads)
    if kv_heads == heads:
        return names, masks
    groups = causal_engine.kv_groups(layers, heads, kv_heads)
    cells = [divmod(index, kv_heads) for index in range(len(groups))]
    rows = [(GROUP, mode, *cell) for mode in units.get(GROUP, ()) for cell in cells]
    more = pd.DataFrame(rows, columns=names.columns)
    return pd.concat([names, more], ignore_index=True), np.concatenate(
        [masks, *([groups] * len(units.get(GROUP, ())))]
    )


def main(
    model: Path,
    corpus: Path,
    losses: Out,
    units: dict[str, list[str]],
    n_segments: int,
    reference: int,
    max_tokens: int,
    pass_tokens: int,
    seed: int,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write a row per variant and segment: the sum of the nats of its next tokens.

    For the modes `mean`, `position` and `resample`, what heads output instead comes from
    `reference` other segments.
    """
    card = read_card(model)
    chosen, others = sampled_segments(corpus, n_segments, seed)
    segments = Segments.from_examples(chosen, card, max_tokens)
    used = [mode for modes in units.values() for mode in modes]
    texts = reference_texts(corpus, others, used, reference, card, max_tokens)
    decoder = causal_engine.load_causal(models.directory_of(card), running.pick_device(device))
    layers, heads = n_layers(decoder), n_heads(decoder)
    variants, disabled = variants_of(units, layers, heads, n_kv_heads(decoder))
    run_as = variants["mode"].replace("none", variants["mode"][1])  # the plain model, too
    nats = np.empty((len(variants), len(segments.tokens)))
    for mode in run_as.unique():
        rows = (run_as == mode).to_numpy()
        found = causal_engine.ablate(
            decoder,
            segments.tokens,
            disabled[rows],
            mode,
            replacement_of(mode, decoder, segments.tokens, texts, seed),
            pass_tokens=pass_tokens,
        )
        nats[rows] = np.nansum(found, axis=2, dtype=np.float64)
    frame = tables.tidy({"variant": range(len(nats)), "segment": range(nats.shape[1])}, nats=nats)
    at = frame.pop("segment").to_numpy()
    frame = frame.assign(
        id=[segments.tokens[row].id for row in at],
        document=np.array(segments.documents, dtype=object)[at],
        n_tokens=segments.n_scored[at],
    )
    named = variants.loc[frame.pop("variant")].reset_index(drop=True)
    tables.write(named.join(frame), losses)


if __name__ == "__main__":
    job.run(main, globals())
