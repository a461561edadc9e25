"""A decoder's loss with more and more of its key-value heads streaming, on unseen documents.

Heads stream in the order of each score, the lowest first, and in random orders. At the same bytes
all heads stream with a longer window.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.context.documents import (
    cache_bytes,
    full_lengths,
    opened,
    sampled,
    token_scores,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as resampling
from workflow_scripts.core.stats.effects import order_by_score, pruning_steps, random_orders

SCORES = ("exact", "estimate", "kvzip", "kvzip_max", "outside", "retrieval", "gates")
RANDOM, WINDOW = "random", "longer window"
EVERY = 2  # random orders are measured at every second step, and areas are taken over these
RISE = 0.01  # of the loss
PARTS = 4  # of a text, as long as each other


def scores_of(scores: Path, n_layers: int) -> dict[str, np.ndarray]:
    """Each score of a table that `context_scores` wrote, [layer, key-value head]."""
    rows = tables.read(scores).sort_values(["layer", "head"])
    rows = rows.drop_duplicates(["layer", "key_value_head"])
    return {name: rows[name].to_numpy().reshape(n_layers, -1) for name in SCORES if name in rows}


def orders(
    scores: dict[str, np.ndarray], counts: list[int], recent: int, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """How many last tokens each head sees, int [draw, step, layer, key-value head]; 0 is all.

    Random orders have only every second step.
    """
    found = {name: order_by_score(values, counts)[None] for name, values in scores.items()}
    shape = next(iter(scores.values())).shape
    found[RANDOM] = np.array(random_orders(shape, counts[::EVERY], draws, seed))
    return {name: masks.astype(int) * recent for name, masks in found.items()}


def at_steps(name: str, values: Sequence[float]) -> np.ndarray:
    """Those of a value for each step at which the order `name` is measured."""
    return np.array(values[::EVERY] if name == RANDOM else values)


def by_order(
    found: dict[str, np.ndarray], measure: Callable[[np.ndarray], np.ndarray]
) -> dict[str, np.ndarray]:
    """What `measure` gives for all variants [variant, ...], by order [draw, step, ...]."""
    values = measure(np.concatenate([each.reshape(-1, *each.shape[2:]) for each in found.values()]))
    ends = np.cumsum([each.shape[0] * each.shape[1] for each in found.values()])[:-1]
    return {
        name: part.reshape(*found[name].shape[:2], *part.shape[1:])
        for name, part in zip(found, np.split(values, ends), strict=True)
    }


def longer_windows(steps: np.ndarray, full: np.ndarray | int, sinks: int) -> np.ndarray:
    """The longest window for all heads within the bytes of each of `steps`, as `orders` gives.

    Where a longer one would hold no more, the shortest of these. `full` as for `cache_bytes`.
    """
    windows = np.arange(1, np.max(full) + 1)
    every = np.broadcast_to(windows[:, None, None], (len(windows), *steps.shape[1:]))
    spent = cache_bytes(every, full, sinks, 1)
    longest = np.searchsorted(spent, cache_bytes(steps, full, sinks, 1), side="right") - 1
    chosen = windows[np.searchsorted(spent, spent[longest])]
    return np.broadcast_to(chosen[:, None, None], steps.shape)[None]


def resampled(nats: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Mean over orders and documents of nats [order, step, document]: [1 + draw, step].

    The first is observed; the others resample random orders, and documents, for all alike.
    """
    documents = resampling.observed_and_resampled(nats.shape[2], draws, seed)
    of_orders = resampling.observed_and_resampled(len(nats), draws, seed + 1)
    summed = np.einsum("bo,osd,bd->bs", *map(np.float64, (of_orders, nats, documents)))
    return summed / nats.shape[2] / len(nats)


def curve(means: np.ndarray, n_documents: int) -> pd.DataFrame:
    """Nats per token of `resampled` means at each step, and their change from none streaming.

    `rise` is the change in percent of the loss with none streaming.
    """
    change = means - means[:, :1]
    columns = {"nats": means[0]}
    for name, values in (("change", change), ("rise", 100 * change / means[:, :1])):
        low, high = resampling.percentile_ends(values[1:], n_documents)
        columns |= {name: values[0], f"{name}_low": low, f"{name}_high": high}
    return pd.DataFrame(columns)


def area(means: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The area under the change of the loss by the share of streaming heads, [1 + draw]."""
    return np.trapezoid(means - means[:, :1], shares, axis=1)


def share_of_rise(change: np.ndarray, plain: float, shares: np.ndarray) -> float:
    """The share of streaming heads at which the loss is RISE higher, between steps on a line.

    NaN where it never is.
    """
    above = np.flatnonzero(change >= RISE * plain)
    if not len(above):
        return np.nan
    after = above[0]  # never the first, where nothing has changed
    part = (RISE * plain - change[after - 1]) / (change[after] - change[after - 1])
    return float(shares[after - 1] + part * (shares[after] - shares[after - 1]))


def agreement(
    score: np.ndarray, exact: np.ndarray, draws: int, seed: int
) -> dict[str, float | str]:
    """How a score [layer, head] ranks heads by `exact`: Spearman's `rho`, and what it misses.

    `missed` is the share of the tenth of heads with the largest exact effect that is not in the
    score's own tenth; its interval is Wilson's, that of rho resamples heads. Both are measured on
    the same documents, whose noise they share.
    """
    both = resampling.correlations(score.ravel(), exact.ravel(), draws, seed)
    row = {f"rho{end}": both[f"spearman{end}"] for end in ("", "_low", "_high")}
    n_top = max(1, round(exact.size / 10))
    top, own = (np.argsort(-each.ravel(), kind="stable")[:n_top] for each in (exact, score))
    missed = [head for head in top if head not in own]
    low, high = resampling.wilson(len(missed), n_top)
    row |= {"missed": len(missed) / n_top, "missed_low": low, "missed_high": high}
    names = [head_label(*divmod(int(head), exact.shape[1])) for head in missed]
    return row | {"missed_heads": " ".join(names), "n_top": n_top, "n_heads": exact.size}


def compared(
    found: dict[str, np.ndarray],
    scores: dict[str, np.ndarray],
    shares: np.ndarray,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """One row per order of nats [draw, step, document]: its area, and gains by it.

    `shares` of heads stream at the steps.

    `gain` is by how much the area is smaller than that of random orders, `window_gain` than that of
    a longer window for all heads. Both intervals resample documents, paired, and random orders; the
    orders of scores are held fixed.
    """
    n_documents, rows = found[RANDOM].shape[2], []
    means = {name: resampled(values, draws, seed) for name, values in found.items()}
    areas = {
        name: area(each if name == RANDOM else each[:, ::EVERY], shares[::EVERY])
        for name, each in means.items()
    }
    for name, each in means.items():
        row = {"order": name, "area": areas[name][0]}
        for gain, other in (("gain", RANDOM), ("window_gain", WINDOW)):
            differences = areas[other] - areas[name]
            low, high = resampling.percentile_ends(differences[1:], n_documents)
            row |= {gain: differences[0], f"{gain}_low": low, f"{gain}_high": high}
        row["share_of_rise"] = share_of_rise(
            each[0] - each[0, 0], each[0, 0], at_steps(name, shares)
        )
        if name in scores and name != "exact":
            row |= agreement(scores[name], scores["exact"], draws, seed)
        rows.append(row | {"n": n_documents, "draws": len(found[name])})
    return pd.DataFrame(rows)


def main(
    model: Path,
    corpus: Path,
    scores: Path,
    curves: job.Out,
    positions: job.Out,
    orders_compared: job.Out,
    n_tokens: int,
    n_documents: int,
    n_held_out: int,
    sinks: int,
    recent: int,
    steps: int,
    draws: int,
    bootstrap: int,
    seen: list[Path] = (),
    device: str = "auto",
    seed: int = 1,
) -> None:
    """Write a row per order and step, one for each part of the texts, and a row per order."""
    card = read_card(model)
    _, tokens = sampled(card, corpus, seen, n_tokens, n_documents, n_held_out, seed)
    decoder = opened(card, n_tokens, sinks, recent, device)
    of_heads = scores_of(scores, card["n_layers"])
    counts = pruning_steps(of_heads["exact"].size, 1 / steps)
    found = orders(of_heads, counts, recent, draws, seed)
    full = full_lengths(decoder.config, n_tokens)
    found[WINDOW] = longer_windows(found["exact"][0], full, sinks)
    measured = by_order(found, lambda each: token_scores(decoder, tokens, each, sinks))
    means = {name: values.mean(3, dtype=np.float64) for name, values in measured.items()}
    dim = getattr(decoder.config, "head_dim", None) or card["hidden_size"] // card["n_heads"]
    lines, of_parts, n = [], [], len(tokens)
    for name, values in measured.items():
        taken = at_steps(name, counts)
        axes = {
            "order": name,
            "share": taken / counts[-1],
            "streaming": counts[-1] if name == WINDOW else taken,
            "window": found[name][0].max(axis=(1, 2)),
            "bytes": cache_bytes(found[name][0], full, sinks, dim),
        }
        line = curve(resampled(means[name], bootstrap, seed), n)
        lines.append(pd.DataFrame(axes).join(line).assign(n=n, draws=len(values)))
        for number, part in enumerate(np.array_split(values, PARTS, axis=3), start=1):
            line = curve(resampled(part.mean(3, dtype=np.float64), bootstrap, seed), n)
            of_parts.append(pd.DataFrame(axes | {"part": number}).join(line).assign(n=n))
    tables.write_csv(pd.concat(lines, ignore_index=True), curves)
    tables.write_csv(pd.concat(of_parts, ignore_index=True), positions)
    shares = np.array(counts) / counts[-1]
    tables.write_csv(compared(means, of_heads, shares, bootstrap, seed), orders_compared)


if __name__ == "__main__":
    job.run(main, globals())
