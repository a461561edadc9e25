"""What changed in each head between two models: its maps, and every measure, paired by document."""

from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from workflow_scripts.compare import DIVERGENCE
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cache import open_patterns
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.patterns import CachedExample, Patterns, row_entropy
from workflow_scripts.core.data.wordpieces import is_decoder
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.measures.forms import KEYS
from workflow_scripts.core.measures.one_pass import Measure, Units, summed
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import bootstrap_accuracy, random_halves
from workflow_scripts.core.stats.randomisation import LEVEL, TOLERANCE, holm, sign_flips

FLIPS = 2000  # for each head at least: Holm's p of LEVEL then has a tenth of it as its error
LISTED = 20  # heads in the printed table


def divergences(before: CachedExample, after: CachedExample, first: int) -> np.ndarray:
    """Mean Jensen-Shannon divergence of all pairs of a layer's heads, in nats, from query `first`.

    float64 [layer, head of before, head of after]; the same maps give 0 exactly. Weight on no token
    counts as a key. NaN where there is no query.
    """
    rows = [(each.pattern, each.outside) for each in (before, after)]
    n_layers, n_heads = before.pattern.shape[:2]
    heads, found = np.arange(n_heads), np.full((n_layers, n_heads, n_heads), np.nan)
    for layer in range(n_layers if before.pattern.shape[2] > first else 0):
        one, other = (
            maps[layer, :, first:].astype(np.float32)
            if outside is None
            else np.concatenate([maps[layer], outside[layer][..., None]], -1)[:, first:]
            for maps, outside in rows
        )
        alone = row_entropy(one), row_entropy(other)
        for shift in range(n_heads):
            partners = np.roll(heads, -shift)
            together = row_entropy((one + other[partners]) / 2)
            apart = together - (alone[0] + alone[1][partners]) / 2
            found[layer, heads, partners] = apart.mean(axis=-1, dtype=np.float64)
    return found.clip(min=0)  # rounding may go a little below 0


def assigned(cost: np.ndarray) -> np.ndarray:
    """The head of `before` for each head of `after`, int [layer, head], with the smallest sum.

    `cost` is [layer, head of before, head of after].
    """
    return np.stack([linear_sum_assignment(layer.T)[1] for layer in cost])


def cost_of(cost: np.ndarray, match: np.ndarray) -> np.ndarray:
    """Mean cost of a layer's matched heads, [..., layer], of matches int [..., layer, head]."""
    layers, heads = np.ogrid[: match.shape[-2], : match.shape[-1]]
    return cost[layers, match, heads].mean(axis=-1)


def matching(
    found: np.ndarray, units: np.ndarray, match: np.ndarray, held_out: bool, draws: int, seed: int
) -> pd.DataFrame:
    """Each layer's matched heads, and then all: their divergence and that of random matches.

    `found` is [text, layer, head of before, head of after], `units` the document of each text.
    `held_out` is for a match that was chosen on these texts: heads are assigned on either half of
    the documents and `tested` on the other. p is the share of random permutations of the heads
    within their layers, and the match itself, whose divergence is at most as large.
    """
    cost, index = np.nanmean(found, axis=0), np.tile(np.arange(match.shape[1]), (len(match), 1))
    tested = np.full(len(cost), np.nan) if held_out else cost_of(cost, match)
    if held_out and units.max() > 0:
        halves = [np.isin(units, half) for half in random_halves(units.max() + 1, seed)]
        costs = [np.nanmean(found[half], axis=0) for half in halves]
        pairs = zip(costs, costs[::-1], strict=True)
        tested = np.mean([cost_of(other, assigned(one)) for one, other in pairs], axis=0)
    permuted = np.random.default_rng(seed).permuted(np.tile(index, (draws, 1, 1)), axis=-1)
    columns = {"heads": np.full(len(cost), index.shape[1]), "same_index": (match == index).sum(1)}
    of_layers = {"divergence": cost_of(cost, match), "by_index": cost_of(cost, index)}
    of_layers |= {"tested": tested, "random": cost_of(cost, permuted)}
    columns = {name: np.append(each, each.sum()) for name, each in columns.items()}
    for name, each in of_layers.items():
        columns[name] = np.concatenate([each, each.mean(axis=-1, keepdims=True)], axis=-1)
    reached = ~(columns["random"] > columns["tested"] + TOLERANCE)  # all, where none is tested
    columns |= {"random": columns["random"].mean(0), "p": (1 + reached.sum(0)) / (1 + draws)}
    layers = [*map(str, range(1, len(cost) + 1)), "all"]
    return pd.DataFrame({"layer": layers} | columns)


def changes(
    before: Units, after: Units, match: np.ndarray, bootstrap: int, permutations: int, seed: int
) -> pd.DataFrame:
    """One row per measure and head of `after`: its value, and that of its match in `before`.

    The interval of the change resamples units, p is that of a sign-flip test of the units' sums,
    and p_corrected is corrected for the heads of a measure (Holm). A measure of `after` alone, such
    as a divergence, is its own change, without a test.
    """
    frames = []
    layers = np.arange(len(match))[:, None]
    for name, (sums, n) in after.items():
        if not n.any():
            continue
        change, columns = sums.astype(float), {}
        if name in before:
            earlier = before[name][0].astype(float)[:, layers, match]
            columns = {"before": earlier.sum(0) / n.sum(), "after": change.sum(0) / n.sum()}
            change = change - earlier
            flips = max(permutations, FLIPS * match.size)
            p = sign_flips(change.reshape(len(n), -1), flips, seed)
            columns |= {"p": p.reshape(match.shape), "p_corrected": holm(p).reshape(match.shape)}
        ends = bootstrap_accuracy(change[..., None], n[:, None], bootstrap, seed)
        named = zip(("change", "ci_low", "ci_high"), ends, strict=True)
        columns |= {column: end[..., 0] for column, end in named}
        axes = dict(zip(KEYS, map(range, match.shape), strict=True))
        frame = tables.tidy(axes, **columns, n=n.sum(), n_documents=np.count_nonzero(n))
        frames.append(frame.assign(measure=name))
    order = [*KEYS, "measure", "before", "after", "change", "ci_low", "ci_high", "p", "p_corrected"]
    return pd.concat(frames, ignore_index=True).reindex(columns=[*order, "n", "n_documents"])


def most_changed(frame: pd.DataFrame) -> pd.DataFrame:
    """The LISTED heads whose maps diverge most, each with its largest change of a measure.

    `changed` counts the measures whose change is significant; of these the largest is shown, in
    standard deviations of the measure over the heads before.
    """
    rows = frame[frame["measure"] != DIVERGENCE]
    spread = rows.groupby("measure")["before"].transform("std")
    size = (rows["change"] / spread.where(spread > 0)).abs()
    rows = rows.assign(size=size.where(rows["p_corrected"] < LEVEL))
    counted = rows.groupby(KEYS)["p_corrected"].agg(changed=lambda p: (p < LEVEL).sum())
    counted = counted.assign(measures=rows["measure"].nunique())
    largest = rows.sort_values("size", ascending=False, kind="stable").dropna(subset="size")
    shown = ["measure", "before", "after", "change", "p_corrected"]
    largest = largest.drop_duplicates(KEYS).set_index(KEYS)[shown]
    top = frame[frame["measure"] == DIVERGENCE].rename(columns={"change": DIVERGENCE})
    top = top.sort_values(DIVERGENCE, ascending=False, kind="stable").head(LISTED)
    top = top.assign(head_name=head_labels(top)).set_index(KEYS)
    top = top[["head_name", "matched", DIVERGENCE, "ci_low", "ci_high", "n", "n_documents"]]
    return top.join(counted).join(largest).rename(columns={"head_name": "head"})


def check_alike(pair: list[Patterns], names: list[str]) -> None:
    """Raise InputError unless both caches are of one shape, and of the same tokens."""
    one, other = pair
    shapes = [f"{each.n_layers} layers of {each.n_heads} heads" for each in pair]
    if shapes[0] != shapes[1] or one.bidirectional != other.bidirectional:
        raise InputError(
            f"config: compare: {names[0]} has {shapes[0]}, {names[1]} {shapes[1]}; compare two "
            "encoders or two decoders of one shape"
        )
    other.expect(one.ids, str(one.path))
    for index, id in enumerate(one.ids):
        tokens = [each.tokens(index)["ids"] for each in pair]
        if not np.array_equal(*tokens):
            raise InputError(
                f"config: compare: {names[0]} and {names[1]} have other tokens for text {id!r}; "
                "compare two models with one tokenizer and one max_tokens"
            )


def read_units(step: dict[str, Any]) -> Units:
    """What the measure of a step, a rule for one model, counts in each document."""
    name = step["script"].removesuffix(".py").replace("/", ".")
    module, given = import_module(f"workflow_scripts.{name}"), SimpleNamespace(**step, threads=1)
    if hasattr(module, "units"):  # of a script that runs the model itself
        return module.units(**job.values_of(module.units, given))
    measure: Measure = module.main.__wrapped__(**job.values_of(module.main, given))
    with measure.patterns:
        measure.patterns.each(measure.update, measure.n)
        return measure.units()


def main(
    attention: list[Path],
    models: list[Path],
    corpus: Path,
    heads: job.Out,
    table: job.Out,
    matches: job.Out,
    steps: list,
    match: str,
    n_segments: int,
    bootstrap: int,
    permutations: int,
    seed: int = 1,
) -> None:
    """Write the change of every head and measure, the heads that changed most, and the matches.

    `attention` and `models` are the caches and cards of both models, `before` first. Each of
    `steps` is the start of its measures' names, and the step that reads them in either model; the
    steps' outputs are not written. Heads are matched by `match`.
    """
    cards = [read_card(path) for path in models]
    with ExitStack() as stack:
        opened = zip(attention, cards, strict=True)
        pair = [stack.enter_context(open_patterns(*each)) for each in opened]
        check_alike(pair, [card["name"] for card in cards])
        documents = pair[0].documents(corpus)[:n_segments]
        texts = job.progress(range(len(documents)), desc="texts")
        first = int(is_decoder(cards[0]))  # whose first token sees itself alone
        found = np.stack([divergences(pair[0][index], pair[1][index], first) for index in texts])
    layers, index = np.arange(found.shape[1])[:, None], np.arange(found.shape[2])
    chosen = np.tile(index, (len(layers), 1))
    if match == "assignment":
        chosen = assigned(np.nanmean(found, axis=0))
    tested = (found, tables.document_units(documents), chosen, match == "assignment")
    tables.write_csv(matching(*tested, permutations, seed), matches)
    before: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    after = {DIVERGENCE: summed(found[:, layers, chosen, index], documents)}
    for start, *of_both in steps:
        for units, step in zip((before, after), of_both, strict=True):
            units |= {f"{start}{name}": of for name, of in read_units(step).items()}
    frame = changes(before, after, chosen, bootstrap, permutations, seed)
    partners = frame.assign(head=chosen[frame["layer"], frame["head"]])
    frame = frame.assign(matched=head_labels(partners), compared_with=cards[0]["name"])
    tables.write(frame, heads)
    tables.write_csv(most_changed(frame), table)


if __name__ == "__main__":
    job.run(main, globals())
