"""Importance of a decoder's heads, and its loss on running text with more and more of them gone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tokens import Tokens
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import causal_engine, models, running
from workflow_scripts.core.model.attention import n_heads, n_kv_heads, n_layers, watching
from workflow_scripts.core.model.causal_engine import Segments, ablate, sampled_segments
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap, effects


def gradients(
    model: PreTrainedModel, tokens: Sequence[Tokens], batch_tokens: int = 512
) -> np.ndarray:
    """dL/d xi of every text and head, float64 [text, layer, head], of an opened model.

    L is the mean of the nats of a text's next tokens, xi the gate that multiplies a head's output
    (Michel et al. 2019, section 4.1). There is one gate for each text and head, so that one
    backward pass gives every text's own gradient.
    """
    shape = (n_layers(model), n_heads(model))
    values = np.empty((len(tokens), *shape))
    model.requires_grad_(False)
    batches = running.by_length([len(text) for text in tokens], batch_tokens)
    for batch in job.progress(batches, len(batches), "gradients"):
        inputs = running.pad([tokens[index] for index in batch], model)
        xi = torch.ones(len(batch), *shape, device=model.device, requires_grad=True)
        with running.OneDNN(), watching(model, Gates(xi)):
            nats = causal_engine.token_losses(model, inputs)
            nats.nanmean(dim=1).sum().backward()
        values[batch] = xi.grad.double().cpu().numpy()
    return values


def group_importance(gradients: np.ndarray, n_kv_heads: int) -> np.ndarray:
    """Gradients [text, layer, key-value head] of one gate for all heads of a group.

    The gate of a group multiplies the outputs of all its heads, so that its gradient is the sum of
    theirs.
    """
    return gradients.reshape(*gradients.shape[:2], n_kv_heads, -1).sum(axis=-1)


def halves(documents: Sequence[str], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The segments of a random half of the documents, and the others, as numbers.

    Raises InputError where all segments are of one document.
    """
    codes, names = pd.factorize(np.asarray(documents, dtype=object))
    if len(names) < 2:
        raise InputError(
            f"document {names[0]!r}: the only one; importance needs others than those that are "
            "pruned on: raise ablation.text.n_segments or take another corpus"
        )
    first = bootstrap.half_weights(len(names), 1, seed)[0].astype(bool)[codes]
    return np.flatnonzero(first), np.flatnonzero(~first)


def plans(
    values: np.ndarray, settings: dict[str, Any], folds: Sequence[np.ndarray], seed: int
) -> dict[tuple[str, int], list[np.ndarray]]:
    """The orders of each strategy and draw, bool [step, layer, unit], one for each of `folds`.

    `values` are gradients [segment, layer, unit]. A fold is pruned by the importance that the
    segments of the other give; random orders are the same for both.
    """
    counts = effects.pruning_steps(values[0].size, settings["step"])
    found = {}
    if "importance" in settings["strategies"]:
        importance = [np.abs(values[other]).mean(axis=0) for other in folds[::-1]]
        if settings["importance"]["normalise"]:
            importance = [effects.normalised(each) for each in importance]
        found["importance", 0] = [effects.order_by_score(each, counts) for each in importance]
    if "random" in settings["strategies"]:
        random = effects.random_orders(values.shape[1:], counts, settings["draws"], seed)
        found |= {("random", draw): [masks, masks] for draw, masks in enumerate(random)}
    return found


def curves(
    model: PreTrainedModel,
    segments: Segments,
    found: dict[tuple[str, int], list[np.ndarray]],
    folds: Sequence[np.ndarray],
    pass_tokens: int,
) -> dict[tuple[str, int], np.ndarray]:
    """Sums of nats [step, segment] of each strategy and draw; each fold in its own order."""
    masks = np.array(list(found.values()))  # [order, fold, step, layer, unit]
    nats = np.empty((len(masks), masks.shape[2], len(segments.tokens)))
    for number, fold in enumerate(folds):
        heads = np.concatenate(masks[:, number]).repeat(n_heads(model) // masks.shape[4], axis=2)
        losses = ablate(model, segments.take(fold).tokens, heads, "zero", pass_tokens=pass_tokens)
        sums = np.nansum(losses, axis=2, dtype=np.float64)
        nats[..., fold] = sums.reshape(*nats.shape[:2], -1)
    return dict(zip(found, nats, strict=True))


def curve(nats: np.ndarray, segments: Segments, draws: int, seed: int) -> pd.DataFrame:
    """One row per step of nats [step, segment]: nats per token, and the change from step 0.

    Both with their 95% intervals over documents.
    """
    sums = effects.by_document(nats, segments.n_scored, segments.documents)
    losses, columns = sums[..., 0].sum(axis=1) / segments.n_scored.sum(), {}
    of_first = ("nats", 0.0, 0.0), ("change", losses[0], sums[0, :, 0])
    for name, value, first in of_first:
        low, high = effects.nats_ends(sums, first, draws, seed)
        columns |= {name: losses - value, f"{name}_low": low, f"{name}_high": high}
    return tables.tidy({"step": range(len(nats))}, **columns)


def main(
    model: Path,
    corpus: Path,
    importance: job.Out,
    pruned: job.Out,
    settings: dict[str, Any],
    n_segments: int,
    max_tokens: int,
    pass_tokens: int,
    seed: int,
    device: str = "auto",
) -> None:
    """Write importance, from all segments, and the loss after every step of every strategy.

    `settings` are a study's `pruning`. Units are heads, and key-value groups where heads share.
    """
    card = read_card(model)
    segments = Segments.from_examples(
        sampled_segments(corpus, n_segments, seed)[0], card, max_tokens, seed
    )
    folds = halves(segments.documents, seed)
    decoder = causal_engine.load_causal(models.directory_of(card), running.pick_device(device))
    units = {"head": gradients(decoder, segments.tokens)}
    if n_kv_heads(decoder) < n_heads(decoder):
        units["key-value group"] = group_importance(units["head"], n_kv_heads(decoder))
    frames, rows = [], []
    draws, counts = settings["bootstrap"], {"n": len(segments.tokens)}
    counts["n_documents"] = len(set(segments.documents))
    for unit, values in units.items():
        frame = bootstrap.per_head(
            {unit: np.abs(values)}, "unit", "importance", draws, seed, segments.documents
        )
        unit_norm = effects.normalised(np.abs(values).mean(axis=0))
        frames.append(frame.assign(normalised=unit_norm.ravel()))
        found = plans(values, settings, folds, seed)
        for (strategy, draw), nats in curves(decoder, segments, found, folds, pass_tokens).items():
            line = curve(nats, segments, draws, seed)
            gone = found[strategy, draw][0].sum(axis=(1, 2))
            line = line.assign(pruned=gone, units=values[0].size, share=gone / values[0].size)
            rows.append(line.assign(unit=unit, strategy=strategy, draw=draw, **counts))
    tables.write(pd.concat(frames, ignore_index=True), importance)
    tables.write(pd.concat(rows, ignore_index=True), pruned)


if __name__ == "__main__":
    job.run(main, globals())
