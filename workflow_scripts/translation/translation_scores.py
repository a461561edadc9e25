"""Scores of translations with heads disabled: effects, corrected tests, honest gains, by type."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import randomisation
from workflow_scripts.core.stats.randomisation import OfSums
from workflow_scripts.core.stats.translation_metrics import METRICS, SIGNATURES, scores_of

HEAD = ["type", "layer", "head"]
SUMMANDS = tuple(name for metric in METRICS.values() for name in metric.columns)
COLUMNS = ("run", "split", "unit", "mode", *HEAD, "id", "capped", *SUMMANDS)
CHOSEN_ON = "validation"  # the split on which a sublayer's best head is chosen
BUT_LAST = "best head left, but the last layer"


@dataclass(frozen=True)
class Swept:
    """What the plain translator and its variants did with the sentences of a split."""

    split: str
    unit: str
    mode: str
    cells: pd.DataFrame  # a row per variant: type, layer, head, capped (number of sentences)
    summands: Mapping[str, np.ndarray]  # by metric [1 + variant, sentence, column], plain first

    @property
    def n(self) -> int:
        """The number of sentences."""
        return self.summands["bleu"].shape[1]


def read_sweep(path: Path) -> Iterator[Swept]:
    """Every split, unit and mode of a sweep; all is in the order of the table."""
    frame = tables.read(path)[list(COLUMNS)]
    for split, rows in frame.groupby("split", sort=False):
        plain, others = rows[rows["unit"] == "none"], rows[rows["unit"] != "none"]
        for (unit, mode), variants in others.groupby(["unit", "mode"], sort=False):
            by_head = variants.groupby(HEAD, sort=False)
            cells = by_head["capped"].sum().reset_index()
            variants = variants.iloc[by_head.ngroup().argsort(kind="stable")]
            both = pd.concat([plain, variants])
            summands = {
                name: both[list(metric.columns)].to_numpy().reshape(1 + len(cells), len(plain), -1)
                for name, metric in METRICS.items()
            }
            yield Swept(split, unit, mode, cells, summands)


def benefits_of(metric: str, summands: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The metric's scores, with the sign flipped where lower is better."""
    return METRICS[metric].sign * scores_of(metric, summands, weights)


def effects_of(metric: str, swept: Swept, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores [1 + variant], and effects [1 + draw, variant]: observed, and on bootstrap samples."""
    weights = stats_bootstrap.observed_and_resampled(swept.n, draws, seed)
    scores = scores_of(metric, swept.summands[metric], weights)
    return scores[0], scores[:, 1:] - scores[:, :1]


def paired_bootstrap(effects: np.ndarray) -> np.ndarray:
    """The test of Koehn (2004), the paper's: p-values [variant] of effects [1 + draw, variant].

    (1 + the samples without the effect that was observed, or with the opposite one) / (1 + draws):
    one side, and no correction. 1 where there is no effect. A sample here is as large as the set;
    those of the tool that the paper used, compare-mt, have half of its size by default.
    """
    against = (effects[1:] * np.sign(effects[0]) <= 0).sum(axis=0)
    return (1 + against) / len(effects)


def score(swept: Swept, bootstrap: int, permutations: int, seed: int) -> pd.DataFrame:
    """One row per metric and variant: score, baseline, effect (their difference) and its tests.

    ci_low and ci_high are the ends of the effect's 95% interval over `bootstrap` samples of
    sentences, on which both are scored; `p` and `p_corrected` are those of the randomisation test,
    `p_paper` that of the paired bootstrap (BLEU alone).
    """
    frames = []
    for metric in METRICS:
        scores, effects = effects_of(metric, swept, bootstrap, seed)
        summands = swept.summands[metric]
        compared = OfSums(partial(np.moveaxis, source=2, destination=0), METRICS[metric].score)
        test = randomisation.test(compared, summands[0], summands[1:], permutations, seed)
        low, high = np.percentile(effects[1:], stats_bootstrap.CONFIDENCE, axis=0)
        columns = {"metric": metric, "score": scores[1:], "baseline": scores[0]}
        columns |= {"effect": effects[0], "ci_low": low, "ci_high": high}
        columns |= test.columns
        columns["p_paper"] = paired_bootstrap(effects) if metric == "bleu" else np.nan
        frames.append(swept.cells.assign(**columns, n=swept.n, signature=SIGNATURES[metric]))
    return pd.concat(frames, ignore_index=True)


def gains(swept: Swept, divisions: int, draws: int, seed: int) -> pd.DataFrame:
    """One row per metric and group of variants: the naive and the honest gain of the best one.

    Heads disabled alone are chosen among all (type "", layer -1) and among those of each type
    (layer -1); heads left alone among those of their sublayer. A gain of the loss is what it falls
    by. For heads disabled alone, how well their effects on two halves of the sentences agree.
    """
    masked = swept.unit == "head"
    cells = swept.cells.assign(layer=-1) if masked else swept.cells
    groups = {place: rows.index for place, rows in cells.groupby(["type", "layer"], sort=False)}
    if masked:
        groups = {("", -1): cells.index} | groups
    rows = []
    for metric in METRICS:
        for (name, layer), chosen in groups.items():
            summands = swept.summands[metric][[0, *(1 + chosen)]]
            scores = partial(benefits_of, metric, summands)
            row = {"metric": metric, "type": name, "layer": layer, "choices": len(chosen)}
            halves = stats_bootstrap.divided(scores, swept.n, divisions, seed)
            row |= stats_bootstrap.honest_gain(scores, swept.n, halves, draws, seed)
            if masked:
                row |= stats_bootstrap.half_agreement(halves)
            rows.append(row)
    return pd.DataFrame(rows).assign(n=swept.n)


def best_left(left: Swept, effects: np.ndarray) -> pd.DataFrame:
    """The head that is best left alone in each sublayer, by its observed effect on BLEU.

    One row per sublayer: type, layer, head, effect.
    """
    cells = left.cells.assign(effect=effects[0])
    best = cells.groupby(["type", "layer"], sort=False)["effect"].idxmax()
    return cells.loc[best, [*HEAD, "effect"]].reset_index(drop=True)


def by_type(
    masked: Swept, of_masked: np.ndarray, left: Swept, of_left: np.ndarray, best: pd.DataFrame
) -> pd.DataFrame:
    """What masking does to BLEU, by type of attention: four measures, each with its interval.

    `of_masked` and `of_left` are effects [1 + draw, variant] of the heads masked, and left, alone.
    `one head`: the mean effect of masking one head of the type; `best head left`: the mean, over
    the type's layers, of leaving only the head that is in `best` (of best_left, on other
    sentences), and BUT_LAST that over all layers but the last; `most hurt`: that in the layer where
    `best` has the smallest effect. With `other`, the difference from another type on the same
    samples. `layer` and `head` name those of `most hurt`.
    """
    places = left.cells.reset_index().merge(best, on=HEAD)
    rows = []
    for measure in ("one head", "best head left", BUT_LAST, "most hurt"):
        values, named = {}, {}
        for name, chosen in places.groupby("type", sort=False):
            if measure == BUT_LAST:
                chosen = chosen[chosen["layer"] < chosen["layer"].max()]
            if measure == "most hurt":
                chosen = chosen.loc[[chosen["effect"].idxmin()]]
                named[name] = chosen[["layer", "head"]].iloc[0].to_dict()
            if measure == "one head":
                values[name] = of_masked[:, masked.cells["type"] == name].mean(axis=1)
            elif len(chosen):
                values[name] = of_left[:, chosen["index"]].mean(axis=1)
        for name, of_type in values.items():
            for other in ("", *(other for other in values if other != name)):
                effect = of_type - values[other] if other else of_type
                low, high = np.percentile(effect[1:], stats_bootstrap.CONFIDENCE)
                row = {"measure": measure, "type": name, "other": other, "value": effect[0]}
                row |= {"ci_low": low, "ci_high": high, "layer": -1, "head": -1}
                rows.append(row | named.get(name, {}))
    return pd.DataFrame(rows).assign(n=masked.n)


def main(
    sweep: Path,
    scores: job.Out,
    gain: job.Out,
    types: job.Out,
    bootstrap: int,
    permutations: int,
    halves: int,
    seed: int,
) -> None:
    """Write a row per split, metric and variant, the gains of the best variants, and the types.

    Types are compared by gates of 0 (mode `zero`), on all splits but that on which heads are
    chosen.
    """
    parts: dict[job.Out, list[pd.DataFrame]] = {scores: [], gain: [], types: []}
    on_bleu: dict[str, dict[str, tuple[Swept, np.ndarray]]] = {}
    for swept in read_sweep(sweep):
        about = {"split": swept.split, "unit": swept.unit, "mode": swept.mode}
        parts[scores].append(score(swept, bootstrap, permutations, seed).assign(**about))
        parts[gain].append(gains(swept, halves, bootstrap, seed).assign(**about))
        if swept.mode == "zero":
            values = effects_of("bleu", swept, bootstrap, seed)[1]
            on_bleu.setdefault(swept.split, {})[swept.unit] = swept, values
    best = best_left(*on_bleu.pop(CHOSEN_ON)["all-but-one"])
    for split, units in on_bleu.items():
        found = by_type(*units["head"], *units["all-but-one"], best)
        parts[types].append(found.assign(split=split))
    run = tables.read(sweep)["run"].iloc[0]
    for out, frames in parts.items():
        tables.write(pd.concat(frames, ignore_index=True).assign(run=run), out)


if __name__ == "__main__":
    job.run(main, globals())
