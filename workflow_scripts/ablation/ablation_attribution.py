"""Attribution and importance against the exact effects of disabling heads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.ablation.ablation_modes import (
    KEYS,
    Effects,
    Settings,
    effects_of_decoder,
    inside,
    interval,
    loss_of_classifier,
    top_of,
)
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats.agreement import across, correlations, of_all, ranks
from workflow_scripts.core.stats.effects import by_document, resampled_nats

FIRST = 0.2  # the share of the heads that an estimate ranks first
EFFECT, SIZE = "effect", "size"  # what an estimate is compared with
IMPORTANCE = "importance"  # the mean size of the texts' attributions in mode zero


def estimates_of(
    attribution: pd.DataFrame, texts: pd.DataFrame, draws: int, seed: int
) -> dict[str, np.ndarray]:
    """The attributions of each mode, and IMPORTANCE, [1 + draw, head], those observed first.

    In the unit of the loss, per token of a decoder and per example of a classifier.
    """
    columns = attribution.pivot(index=["mode", *KEYS], columns="id", values="attribution")
    columns = columns[texts["id"]]  # a KeyError where a text of the sweep has no attribution
    modes = map(str, attribution["mode"].unique())
    found = {mode: columns.loc[mode].sort_index().to_numpy() for mode in modes}
    found[IMPORTANCE] = np.abs(found["zero"])
    counts, documents = texts["n_tokens"].to_numpy(), texts["document"].tolist()
    sums = {name: by_document(values, counts, documents) for name, values in found.items()}
    return {name: resampled_nats(each, draws, seed) for name, each in sums.items()}


def compared(
    effects: Effects, estimates: dict[str, np.ndarray]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """For each estimate a row on its agreement with the exact effects, and a row per head.

    IMPORTANCE, which has no sign, is compared with the mean size of the effects on single texts,
    too (`against` is SIZE). All is on the same examples, as an estimate stands in for the exact run
    on them; where their `reliability` is low it repeats noise. For `shared` and `chance` see
    `pairs_of_modes`; `opposite` is the share of heads with opposite signs, and `top_missed` the
    number of the `top` costliest heads that are not among the `first` of the estimate.
    """
    n_heads, n = len(effects.heads), effects.labels["n_documents"]
    n_top = top_of(n_heads)
    n_first = max(n_top, round(FIRST * n_heads))
    for name, estimated in estimates.items():
        mode = "zero" if name == IMPORTANCE else name
        if mode not in effects.modes:
            continue
        at = effects.modes.index(mode)
        exact_of, halves = {EFFECT: effects.draws[at]}, effects.halves[at]
        reliability = of_all(float(across(halves, halves)[0]))
        if name == IMPORTANCE:
            exact_of[SIZE] = effects.sizes[at]
        for against, exact in exact_of.items():
            row = effects.labels | {"estimate": name, "mode": mode, "against": against}
            row["reliability"] = reliability if against == EFFECT else np.nan  # of signed effects
            row |= interval("rho", correlations(ranks(estimated), ranks(exact)), (-1, 1))
            shared = (inside(estimated, n_top) * inside(exact, n_top)).sum(1)
            row |= interval("shared", shared, (0, n_top)) | {"chance": n_top**2 / n_heads}
            opposite = (estimated * exact < 0).mean(1) if name != IMPORTANCE else np.full(2, np.nan)
            row |= interval("opposite", opposite, (0, 1)) | {"n_heads": n_heads}
            first = inside(estimated, n_first)
            missed = (inside(exact, n_top) * (1 - first)).sum(1)
            row |= {"top": n_top, "first": n_first} | interval("top_missed", missed, (0, n_top))
            heads = effects.heads.assign(name=head_labels(effects.heads), **effects.labels)
            heads = heads.assign(estimate=name, **_ends("attribution", estimated, n))
            more = {key: row[key] for key in ("rho", "rho_low", "rho_high")}
            yield row, heads.assign(first=first[0] > 0, **_ends("effect", exact, n), **more)


def _ends(name: str, draws: np.ndarray, n_documents: int) -> dict[str, np.ndarray]:
    """The observed values, first of `draws` [1 + draw, head], and the ends of their intervals."""
    low, high = stats_bootstrap.percentile_ends(draws[1:], n_documents)
    return {name: draws[0], f"{name}_low": low, f"{name}_high": high}


def texts_of(sweep: pd.DataFrame) -> pd.DataFrame:
    """A sweep's texts in order: id, document and n_tokens."""
    plain = sweep[sweep["unit"] == "none"]
    if "document" in plain:
        return plain[["id", "document", "n_tokens"]]
    plain = plain[plain["split"] == "dev"]  # each example is a document of its own, with one loss
    return plain[["id"]].assign(document=[str(at) for at in range(len(plain))], n_tokens=1)


def main(
    attributions: list[Path],
    table: job.Out,
    heads: job.Out,
    bootstrap: int,
    permutations: int,
    seed: int,
    logits: list[Path] = (),
    losses: list[Path] = (),
) -> None:
    """Write a row per estimate, and per head; `attributions` are in the order of the sweeps."""
    settings = Settings(bootstrap, permutations, seed, np.nan, np.nan)
    rows, of_heads = [], []
    for path, swept in zip(attributions, [*logits, *losses], strict=True):
        frame = tables.read(swept)
        effects = (loss_of_classifier if logits else effects_of_decoder)(frame, settings)
        estimates = estimates_of(tables.read(path), texts_of(frame), bootstrap, seed)
        found = list(compared(effects, estimates))
        rows += [row for row, _ in found]
        of_heads += [each for row, each in found if row["against"] == EFFECT]
    tables.write_csv(pd.DataFrame(rows), table)
    tables.write_csv(pd.concat(of_heads, ignore_index=True), heads)


if __name__ == "__main__":
    job.run(main, globals())
