"""Whether the same heads matter however they are disabled: pairs of modes, and verdicts by mode."""

from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.ablation.equivalence import verdict
from workflow_scripts.ablation.mode_effects import Effects
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.stats import resampling
from workflow_scripts.core.stats.randomisation import LEVEL
from workflow_scripts.core.stats.sign_flips import holm

TOP = 0.1  # share of the heads that count as those that matter most
ALL, DEPENDS, SOME = "in all modes", "depends on the mode", "in some modes"
NONE = "no effect shown"
SHOWN = ("loss", "gain")  # verdicts of a significant effect


def pairs(effects: Effects) -> list[dict[str, Any]]:
    """One row per two modes: how well the heads' effects agree, with intervals over examples.

    `rho` is Spearman's correlation over heads, `shared` how many heads are in the top tenth of both
    (`chance`: expected of two random sets), `opposite` the share of heads whose effects have
    opposite signs; `opposite_nominal` counts them among those with p below .05 in both modes
    (`both_nominal`), `opposite_corrected` among those with a corrected p below it. Resampled
    effects are noisier than those observed, which lowers their agreement: an interval holds the
    percentiles of the samples, and these moved to the observed value. Noise lowers the observed
    `rho`, too: `halves_one` and `halves_other` are the correlations of each mode's effects between
    halves of the examples. `differ` heads have effects that differ (`differences`).
    """
    differ, rows = differences(effects) < LEVEL, []
    ranked = [ranks(draws) for draws in effects.draws]
    for pair, (one, other) in enumerate(combinations(range(len(effects.modes)), 2)):
        x, y = effects.draws[one], effects.draws[other]
        row = effects.labels | {"one": effects.modes[one], "other": effects.modes[other]}
        row |= interval("rho", correlations(ranked[one], ranked[other]), (-1, 1))
        row |= {"halves_one": effects.halves[one], "halves_other": effects.halves[other]}
        n_top = top_of(x.shape[1])
        row |= {"top": n_top} | interval(
            "shared", (inside(x, n_top) * inside(y, n_top)).sum(1), (0, n_top)
        )
        row |= {"chance": n_top**2 / x.shape[1]} | interval("opposite", (x * y < 0).mean(1), (0, 1))
        for name, p in (("nominal", effects.p), ("corrected", effects.corrected)):
            both = (p[[one, other]] < LEVEL).all(0)
            row[f"opposite_{name}"] = int((both & (x[0] * y[0] < 0)).sum())
            row[f"both_{name}"] = int(both.sum())
        rows.append(row | {"differ": int(differ[pair].sum()), "n_heads": x.shape[1]})
    return rows


def differences(effects: Effects) -> np.ndarray:
    """P-values of each head's difference between the effects in two modes, [pair, head].

    Student's test with the variance of the bootstrap samples, which both modes share; corrected for
    all heads and pairs of modes (Holm). Pairs are in the order of `combinations`.
    """
    from scipy.stats import t  # loads slowly

    found = []
    for one, other in combinations(effects.draws, 2):
        apart = one - other
        error = np.sqrt(apart[1:].var(axis=0) + effects.extra)
        size = np.abs(apart[0]) / np.where(error > 0, error, np.inf)
        found.append(2 * t.sf(size, effects.labels["n_documents"] - 1))
    p = np.array(found).reshape(-1, len(effects.heads))
    return holm(p.ravel()).reshape(p.shape)


def verdicts(effects: Effects) -> pd.DataFrame:
    """One row per head: its effect, ends of its interval and verdict in each mode, and over modes.

    The intervals are of 90% for all heads together (Bonferroni), normal, over examples; a loss or a
    gain has a corrected p below .05. `verdict` is ALL where every mode shows a loss, or every mode
    a gain; else DEPENDS where the effects in two modes differ (`differences`), SOME where some mode
    shows a loss or a gain, which other modes need not contradict, and NONE.
    """
    z = NormalDist().inv_cdf(1 - LEVEL / len(effects.heads))
    frame = effects.heads.copy()
    frame.insert(0, "name", labels(frame))
    of_modes = []
    for mode, draws, p in zip(effects.modes, effects.draws, effects.corrected, strict=True):
        error = z * np.sqrt(draws[1:].var(axis=0) + effects.extra)
        low, high = draws[0] - error, draws[0] + error
        # A loss is above 0 here, and below 0 in `verdict`, which judges changes of a score.
        each = zip(-high, -low, p < LEVEL, strict=True)
        of_mode = [verdict(*ends, effects.bound, bool(found)) for *ends, found in each]
        frame[f"effect_{mode}"], frame[f"low_{mode}"], frame[f"high_{mode}"] = draws[0], low, high
        frame[f"p_corrected_{mode}"], frame[f"verdict_{mode}"] = p, of_mode
        of_modes.append(of_mode)
    differ = (differences(effects) < LEVEL).any(axis=0)
    by_head = zip(map(set, zip(*of_modes, strict=True)), differ, strict=True)
    frame["verdict"] = [over_modes(*found) for found in by_head]
    return frame.assign(bound=effects.bound, **effects.labels)


def over_modes(found: set[str], differ: bool) -> str:
    """What the verdicts of all modes on one head show together, and whether two modes differ."""
    shown = found & set(SHOWN)
    if shown and len(found) == 1:
        return ALL
    return DEPENDS if differ else SOME if shown else NONE


def top_of(n_heads: int) -> int:
    """The number of heads in the top tenth, at least one."""
    return max(1, round(TOP * n_heads))


def inside(values: np.ndarray, n_top: int) -> np.ndarray:
    """How far each head is among the `n_top` largest of its draw, [draw, head]: 0 to 1.

    Heads that tie for the last places share them.
    """
    last = -np.partition(-values, n_top - 1, axis=1)[:, n_top - 1 : n_top]
    above, tied = values > last, values == last
    places = n_top - above.sum(1, keepdims=True)
    return above + tied * places / tied.sum(1, keepdims=True)


def ranks(draws: np.ndarray) -> np.ndarray:
    """Ranks of the heads in each draw, ties at their mean, centred: [draw, head]."""
    from scipy.stats import rankdata  # loads slowly

    found = rankdata(draws, axis=1)
    return found - found.mean(1, keepdims=True)


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Correlation over heads of centred values [draw, head], [draw]; NaN where all are alike."""
    size = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    return np.where(size > 0, (x * y).sum(1) / np.where(size > 0, size, 1), np.nan)


def interval(name: str, draws: np.ndarray, limits: tuple[float, float]) -> dict[str, float]:
    """The observed value, first of `draws`, and the ends of its interval, which contains it.

    No end is beyond the `limits` of the value.
    """
    value, sampled = float(draws[0]), draws[1:][~np.isnan(draws[1:])]
    if not len(sampled) or np.isnan(value):
        return {name: value, f"{name}_low": np.nan, f"{name}_high": np.nan}
    low, high = np.percentile(sampled, resampling.CONFIDENCE)
    bias = float(sampled.mean()) - value
    ends = min(low, low - bias, value), max(high, high - bias, value)
    low, high = np.clip(ends, *limits).tolist()
    return {name: value, f"{name}_low": low, f"{name}_high": high}
