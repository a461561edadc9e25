"""Importance of a translator's heads, and its scores as all, or those of one type, are pruned.

Importance (Michel et al., 4.1) is I_h, the mean over training pairs of |dL(x)/d xi_h|, "the loss on
sample x". A sample is a pair, whose loss is the negative log-likelihood of its target: the sum over
the target's tokens, its end included. The text names no division by the number of tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch.nn import functional

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import Sublayer
from workflow_scripts.core.data.tokens import IGNORED
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.model import running, translators
from workflow_scripts.core.model.attention import n_heads, sublayers, watching
from workflow_scripts.core.model.interventions import Gates
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap, effects
from workflow_scripts.core.stats.translation_metrics import METRICS, SIGNATURES, scores_of
from workflow_scripts.translation.translation_sweep import measured

CHOSEN_ON, MEASURED_ON = "validation", "test"
HEAD = ["type", "layer", "head"]
BATCH_TOKENS = 2048  # of sources and targets


def gradients(
    translator: translators.Translator,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int = BATCH_TOKENS,
) -> np.ndarray:
    """|dL/d xi| of every pair and head, float64 [pair, sublayer, head].

    xi is the gate that multiplies a head's output, 1 here. There is one gate for each pair and
    head, so that one backward pass gives every pair's own gradient; padding, of sources and of
    targets, has no part in it.
    """
    model = translator.model.requires_grad_(False)
    shape = (len(sublayers(model)), n_heads(model))
    values = np.empty((len(sources), *shape))
    lengths = [len(source) + len(target) for source, target in zip(sources, targets, strict=True)]
    batches = running.by_length(lengths, batch_tokens)
    for batch in job.progress(batches, len(batches), "gradients of the gates"):
        inputs = translators.pad_sources(translator, [sources[index] for index in batch])
        labels = translators.pad_targets(translator, [targets[index] for index in batch])
        xi = torch.ones(len(batch), *shape, dtype=model.dtype, device=model.device)
        xi.requires_grad_()
        with running.OneDNN(), watching(model, Gates(xi)):
            logits = model(**inputs, labels=labels).logits
        loss = functional.cross_entropy(
            logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="sum"
        )
        loss.backward()
        values[batch] = xi.grad.abs().double().cpu().numpy()
    return values


def gradients_on(translator: translators.Translator, pairs: pd.DataFrame) -> np.ndarray:
    """The `gradients` on pairs of texts: columns source and target."""
    sources = translators.sources_of(translator, pairs["source"].tolist())
    return gradients(
        translator, sources, translators.targets_of(translator, pairs["target"].tolist())
    )


def by_head(order: Sequence[Sublayer], **values: np.ndarray) -> pd.DataFrame:
    """One row per head: type, layer, head, and a column for each of `values` [sublayer, head]."""
    n_heads = next(iter(values.values())).shape[1]
    frame = tables.tidy({"sublayer": range(len(order)), "head": range(n_heads)}, **values)
    modules = [order[number] for number in frame.pop("sublayer")]
    frame.insert(0, "type", [module.type for module in modules])
    frame.insert(1, "layer", [module.layer for module in modules])
    return frame


def importance_table(
    values: np.ndarray, order: Sequence[Sublayer], draws: int, seed: int
) -> pd.DataFrame:
    """One row per head: importance with its 95% interval over pairs, and `normalised`.

    `values` are those of `gradients`. `normalised` is the importance over its sublayer's l2 norm,
    that is over the heads of one type and layer.
    """
    mean, low, high = bootstrap.bootstrap_mean(values, draws, seed, bootstrap.INDEPENDENT)
    columns = {
        "importance": mean,
        "ci_low": low,
        "ci_high": high,
        "normalised": effects.normalised(mean),
    }
    return by_head(order, **columns).assign(n=len(values))


ALL = "all"  # the scope of every head; the others are types
RELATIVE = ("bleu", "chrf")  # of these a share is kept; a loss has no zero to be a share of


@dataclass(frozen=True)
class ScopedOrder:
    """An order of pruning, bool [step, sublayer, head]; heads beyond its scope are never gone."""

    strategy: str
    scope: str
    draw: int
    masks: np.ndarray
    sublayers: np.ndarray  # bool [sublayer], of the scope

    @property
    def heads(self) -> int:
        """The number of heads of the scope."""
        return int(self.sublayers.sum()) * self.masks.shape[2]


def read_split(pairs: Path, split: str, sentences: int, seed: int) -> pd.DataFrame:
    """At most `sentences` pairs of a split, sampled by `seed`; 0 takes all."""
    frame = tables.read(pairs)
    chosen = frame[frame["split"] == split]
    if chosen.empty:
        raise InputError(f"{pairs}: no pair in the split {split}; see translation.data")
    return tables.sample_rows(chosen, sentences, seed)


def plans_of(
    scores: Mapping[str, np.ndarray],
    order: Sequence[Sublayer],
    settings: Mapping[str, Any],
    seed: int,
) -> list[ScopedOrder]:
    """The order of every scope and strategy; the lowest of `scores` [sublayer, head] goes first.

    `scores` has those of each strategy but `random`. `settings` have the strategies, the share of a
    scope's heads that one step prunes (step) and the number of random orders (draws).
    """
    plans, n_heads = [], next(iter(scores.values())).shape[1]
    types = np.array([sublayer.type for sublayer in order])
    for scope in (ALL, *dict.fromkeys(types.tolist())):
        chosen = (types == scope) | (scope == ALL)
        shape = (int(chosen.sum()), n_heads)
        counts = effects.pruning_steps(shape[0] * shape[1], settings["step"])
        for strategy in settings["strategies"]:
            if strategy == "random":
                masks_of_draws = effects.random_orders(shape, counts, settings["draws"], seed)
            else:
                masks_of_draws = [effects.order_by_score(scores[strategy][chosen], counts)]
            for draw, of_scope in enumerate(masks_of_draws):
                masks = np.zeros((len(counts), len(order), n_heads), bool)
                masks[:, chosen] = of_scope
                plans.append(ScopedOrder(strategy, scope, draw, masks, chosen))
    return plans


def scored(
    translated: Mapping[str, np.ndarray], unpruned: int, draws: int, seed: int
) -> pd.DataFrame:
    """One row per variant and metric: score, baseline, and the share of it that is kept.

    `translated` is that of `measured`; its variant `unpruned` is the baseline. ci_low, ci_high,
    kept_low and kept_high are ends of 95% intervals over `draws` samples of the sentences, the same
    for all variants. `kept` is NaN for a loss, and where the baseline is 0.
    """
    capped = translated["capped"]
    weights = bootstrap.observed_and_resampled(capped.shape[1], draws, seed)
    frames = []
    for metric, of_sentences in METRICS.items():
        summands = np.stack([translated[name] for name in of_sentences.columns], axis=-1)
        scores = scores_of(metric, summands, weights)
        base = scores[:, [unpruned]]
        known = (base > 0) & (metric in RELATIVE)
        kept = np.divide(scores, base, out=np.full_like(scores, np.nan), where=known)
        row = {"variant": range(len(capped)), "metric": metric, "score": scores[0], "kept": kept[0]}
        for name, values in (("ci", scores), ("kept", kept)):
            ends = np.percentile(values[1:], bootstrap.CONFIDENCE, axis=0)
            row[f"{name}_low"], row[f"{name}_high"] = ends
        row |= {"baseline": base[0, 0], "signature": SIGNATURES[metric]}
        frames.append(pd.DataFrame(row | {"capped": capped.sum(axis=1), "n": capped.shape[1]}))
    return pd.concat(frames, ignore_index=True)


def curves_of(
    translator: translators.Translator,
    pairs: pd.DataFrame,
    plans: Sequence[ScopedOrder],
    how: Mapping[str, int],
) -> pd.DataFrame:
    """One row per strategy, scope, draw, step and metric, of the columns of `scored`.

    With pruned (heads gone), heads (of the scope) and share (of them gone). All plans are measured
    together: equal masks, as the first of all, are translated once. `how` has pass_rows, bootstrap
    and seed.
    """
    masks = np.concatenate([plan.masks for plan in plans])
    variants, numbers = np.unique(masks, axis=0, return_inverse=True)
    unpruned = int((~variants.any(axis=(1, 2))).nonzero()[0][0])
    translated = measured(translator, pairs, variants, how["pass_rows"])
    scores = scored(translated, unpruned, how["bootstrap"], how["seed"])
    frames = []
    for plan in plans:
        pruned = plan.masks.sum(axis=(1, 2))
        about = {"strategy": plan.strategy, "scope": plan.scope, "draw": plan.draw}
        about |= {"step": range(len(pruned)), "pruned": pruned, "heads": plan.heads}
        frames.append(pd.DataFrame(about | {"share": pruned / plan.heads}))
    steps = pd.concat(frames, ignore_index=True).assign(variant=numbers)
    return steps.merge(scores, on="variant", sort=False).drop(columns="variant")


def one_head_ranks(sweep: Path, order: Sequence[Sublayer], n_heads: int) -> np.ndarray:
    """Ranks from 0, [sublayer, head]: first the head without which validation BLEU is highest.

    Among heads of equal BLEU, the one with the lower teacher-forced loss is first.
    """
    columns = [name for metric in ("bleu", "loss") for name in METRICS[metric].columns]
    frame = tables.read(sweep)
    chosen = (frame["split"] == CHOSEN_ON) & (frame["unit"] == "head") & (frame["mode"] == "zero")
    sums = frame[chosen].groupby(HEAD)[columns].sum()
    heads = by_head(order, rank=np.empty((len(order), n_heads)))[HEAD]
    sums = sums.loc[pd.MultiIndex.from_frame(heads)]
    bleu, loss = (
        METRICS[metric].score(sums[list(METRICS[metric].columns)].to_numpy().T)
        for metric in ("bleu", "loss")
    )
    return np.lexsort((loss, -bleu)).argsort().reshape(len(order), n_heads)


def order_table(plans: Sequence[ScopedOrder], order: Sequence[Sublayer]) -> pd.DataFrame:
    """One row per plan and head of its scope: the first step in which the head is gone."""
    frames = []
    for plan in plans:
        gone = effects.order_of(plan.masks[:, plan.sublayers])
        step = gone["step"].to_numpy().reshape(-1, plan.masks.shape[2])
        own = [sublayer for sublayer, kept in zip(order, plan.sublayers, strict=True) if kept]
        about = {"strategy": plan.strategy, "scope": plan.scope, "draw": plan.draw}
        frames.append(by_head(own, step=step).assign(**about))
    return pd.concat(frames, ignore_index=True)


def main(
    card: Path,
    pairs: Path,
    sweep: Path,
    importance: job.Out,
    curves: job.Out,
    order: job.Out,
    run: str,
    generation: dict[str, Any],
    settings: dict[str, Any],
    measurement: dict[str, Any],
    device: str = "auto",
) -> None:
    """Write importance, the scores after every step of every order, and when each head goes.

    Importance is estimated once, on training pairs; one-head scores are those of the sweep on the
    validation set; what is left is measured on the test set. `settings` are a study's
    `translation.pruning`: those of plans_of, and the training pairs behind importance (examples, 0:
    all). `measurement` has the test sentences (0: all), pass_rows, bootstrap, and the seed of all
    samples.
    """
    seed = measurement["seed"]
    translator = translators.translator_of(read_card(card), generation, running.pick_device(device))
    modules, heads = sublayers(translator.model), n_heads(translator.model)
    training = read_split(pairs, "train", settings["examples"], seed)
    values = gradients_on(translator, training)
    table = importance_table(values, modules, measurement["bootstrap"], seed)
    tables.write(table.assign(run=run), importance)
    scores = {"importance": effects.normalised(values.mean(axis=0))}
    if "score" in settings["strategies"]:
        scores["score"] = one_head_ranks(sweep, modules, heads)
    plans = plans_of(scores, modules, settings, seed)
    tables.write(order_table(plans, modules).assign(run=run), order)
    test = read_split(pairs, MEASURED_ON, measurement["sentences"], seed)
    tables.write(curves_of(translator, test, plans, measurement).assign(run=run), curves)


if __name__ == "__main__":
    job.run(main, globals())
