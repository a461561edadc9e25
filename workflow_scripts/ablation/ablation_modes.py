"""Whether heads matter alike however they are disabled: effects by mode, agreement, verdicts.

Every mode is measured on the same bootstrap samples, so that differences between modes are paired.
Effects are losses here: above 0 the model is worse without the head. One counts as equivalent to
none where its whole 90% interval lies within a bound that the study names.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any, Self

import numpy as np
import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.data.tasks import TASKS, Task
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import agreement
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats import effects as stats_effects
from workflow_scripts.core.stats.metrics import predictions_of, weighted_scores
from workflow_scripts.core.stats.randomisation import LEVEL, holm

KEYS = ["layer", "head"]
OTHER_KEYS = ["other_layer", "other_head"]
Z = NormalDist().inv_cdf(1 - LEVEL)
TOP = 0.1  # share of the heads that count as those that matter most
ALL, DEPENDS, SOME = "in all modes", "depends on the mode", "in some modes"
NONE = "no effect shown"


def covariance_of(paths: Sequence[Path], mode: str, task: str, n: int) -> np.ndarray:
    """Covariance over samples of `n` examples of the heads' effects on a task, [head, head].

    The mean over seeds, as if another seed added nothing about the examples. One example that gets
    better and one that gets worse are added (Bonett and Price 2012): few may not change at all.
    """
    frame = tables.read_all(paths)
    frame = frame[(frame["mode"] == mode) & (frame["task"] == task)]
    matrix = frame.pivot_table(index=KEYS, columns=OTHER_KEYS, values="covariance").to_numpy()
    return matrix + np.eye(len(matrix)) * 2 / (n + 2) ** 2


def interval_of_mean(
    effects: np.ndarray, covariance: np.ndarray, chosen: np.ndarray
) -> tuple[float, float]:
    """Ends of the 90% interval of the mean effect of the chosen heads, over examples."""
    mean = effects[chosen].mean()
    error = np.sqrt(covariance[np.ix_(chosen, chosen)].mean())
    return mean - Z * error, mean + Z * error


def verdict(low: float, high: float, bound: float, significant: bool | None = None) -> str:
    """What an interval of an effect shows: equivalent, loss, gain, or cannot tell.

    An effect counts as a loss or a gain where it is significant, or, where no test is given, where
    the interval excludes 0; but as equivalent to none where it surely is within the bound.
    """
    if -bound <= low and high <= bound:
        return "equivalent"
    if significant if significant is not None else low > 0 or high < 0:
        return "loss" if low + high < 0 else "gain"
    return "cannot tell"


@dataclass(frozen=True)
class Settings:
    """How effects are sampled and tested, and the bounds within which they count as none."""

    bootstrap: int
    permutations: int
    seed: int
    points: float  # of a score
    nats: float


@dataclass(frozen=True)
class Sweep:
    """A sweep's rows of single heads, in the order of `heads`."""

    plain: pd.DataFrame  # the plain model's, a row per text
    heads: pd.DataFrame
    values: dict[str, np.ndarray]  # of each mode, [1 + head, text, column], the plain model's first

    @classmethod
    def from_rows(cls, rows: pd.DataFrame, columns: list[str]) -> Self:
        """The `columns` of a sweep's rows of single heads."""
        plain, ablated = rows[rows["unit"] == "none"], rows[rows["unit"] == "head"]
        before, values = plain[columns].to_numpy(), {}
        for mode, of_mode in ablated.groupby("mode", sort=False):
            after = of_mode[columns].to_numpy().reshape(-1, *before.shape)
            values[mode] = np.concatenate([before[None], after])
        return cls(plain, of_mode[KEYS].drop_duplicates().reset_index(drop=True), values)


@dataclass(frozen=True)
class Effects:
    """The effects of all heads in all modes on one measure."""

    labels: dict[str, object]  # what was measured: columns of the tables
    heads: pd.DataFrame  # KEYS
    modes: list[str]
    draws: np.ndarray  # [mode, 1 + draw, head], those observed, then those of bootstrap samples
    corrected: np.ndarray  # p-values, for the number of heads, [mode, head]
    halves: list[agreement.Halves]  # [mode]
    bound: float
    extra: float = 0.0  # added to the samples' variance: the least that so many examples can show
    sizes: np.ndarray | None = None  # mean sizes of the effects on single texts, of losses alone


def nats_of(task: Task, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The loss of each example, of logits [..., example, label]: nats, or the squared error."""
    if not task.labels:
        return (logits[..., 0] - labels) ** 2
    logits = logits.astype(np.float64)
    shifted = logits - logits.max(-1, keepdims=True)
    nats = np.log(np.exp(shifted).sum(-1))
    return nats - shifted[..., np.arange(len(labels)), labels.astype(int)]


def loss_of_classifier(logits: pd.DataFrame, settings: Settings) -> Effects:
    """Effects on the loss of one classifier's development examples; `logits` are the sweep's."""
    sweep, task, names = _sweep_of_classifier(logits)
    labels, n = sweep.plain["label"].to_numpy(), len(sweep.plain)
    nats = [nats_of(task, both, labels) for both in sweep.values.values()]
    bound = settings.nats if task.labels else np.nan
    texts = np.ones(n, int), [str(at) for at in range(n)]
    return _effects_on_nats(names | {"of": "loss"}, nats, texts, bound, settings, sweep)


def effects_of_classifier(
    logits: pd.DataFrame, scores: pd.DataFrame, settings: Settings
) -> Iterator[Effects]:
    """Effects on the loss and on the main metric, of which `scores` has the sweep's tests."""
    yield loss_of_classifier(logits, settings)
    sweep, task, names = _sweep_of_classifier(logits)
    labels, n = sweep.plain["label"].to_numpy(), len(sweep.plain)
    weights = stats_bootstrap.observed_and_resampled(n, settings.bootstrap, settings.seed)
    tests = scores[(scores["split"] == "dev") & (scores["unit"] == "head")]
    tests = tests[tests["metric"] == task.main_metric].set_index(["mode", *KEYS])
    rows = []
    for mode, both in sweep.values.items():
        predicted = np.stack([predictions_of(task, each) for each in both])
        scored = weighted_scores(task.main_metric, labels, predicted, weights)
        scores_of = partial(weighted_scores, task.main_metric, labels, predicted)
        halves = agreement.ranked_halves(scores_of, n, settings.bootstrap, settings.seed)
        tested = tests.loc[mode].loc[list(sweep.heads.itertuples(index=False, name=None))]
        corrected = tested["p_corrected"].to_numpy()
        rows.append((scored[:, :1] - scored[:, 1:], corrected, halves))
    *found, halves = zip(*rows, strict=True)
    what = names | {"of": "score"}, sweep.heads, list(sweep.values)
    bounds = {"bound": settings.points / 100, "extra": 2 / (n + 2) ** 2}
    yield Effects(*what, *map(np.stack, found), list(halves), **bounds)


def _sweep_of_classifier(logits: pd.DataFrame) -> tuple[Sweep, Task, dict[str, object]]:
    """The sweep of a classifier's development examples, its task and what names the effects."""
    dev = logits[logits["split"] == "dev"]
    names = {key: dev[key].iloc[0] for key in ("task", "seed")}
    task = TASKS[names["task"]]
    sweep = Sweep.from_rows(dev, [f"logit_{at}" for at in range(task.n_labels)])
    n = len(sweep.plain)
    return sweep, task, names | {"n": n, "n_documents": n}


def effects_of_decoder(losses: pd.DataFrame, settings: Settings) -> Effects:
    """Effects on a decoder's nats per next token of running text, over documents."""
    sweep = Sweep.from_rows(losses, ["nats"])
    documents, n = sweep.plain["document"].tolist(), len(sweep.plain)
    nats = [both[..., 0] for both in sweep.values.values()]
    texts = sweep.plain["n_tokens"].to_numpy(), documents
    names = {"task": "text", "seed": 0, "n": n, "n_documents": len(set(documents)), "of": "loss"}
    return _effects_on_nats(names, nats, texts, settings.nats, settings, sweep)


def _effects_on_nats(
    labels: dict[str, object],
    nats: list[np.ndarray],
    texts: tuple[np.ndarray, list[str]],  # numbers of tokens, and documents
    bound: float,
    settings: Settings,
    sweep: Sweep,
) -> Effects:
    """Effects on a mean loss, of each mode's nats [1 + head, text], tested over documents."""
    rows = []
    for of_mode in nats:
        sums = stats_effects.by_document(of_mode, *texts)
        losses = stats_effects.resampled_nats(sums, settings.bootstrap, settings.seed)
        each = stats_effects.by_document(np.abs(of_mode[1:] - of_mode[:1]), *texts)
        sizes = stats_effects.resampled_nats(each, settings.bootstrap, settings.seed)
        of_sums, n_documents = partial(stats_effects.weighted_nats, sums), sums.shape[1]
        halves = agreement.ranked_halves(of_sums, n_documents, settings.bootstrap, settings.seed)
        test = stats_effects.tested_nats(sums[0], sums[1:], settings.permutations, settings.seed)
        rows.append((losses[:, 1:] - losses[:, :1], test.corrected, sizes, halves))
    *found, sizes, halves = zip(*rows, strict=True)
    effects = labels, sweep.heads, list(sweep.values), *map(np.stack, found), list(halves), bound
    return Effects(*effects, sizes=np.stack(sizes))


def pairs_of_modes(effects: Effects) -> list[dict[str, Any]]:
    """One row per two modes: how well the heads' effects agree, with intervals over examples.

    `rho` and what it rests on is of `agreement.of_halves`, over heads. `same` is Spearman's
    correlation on the same examples, whose noise both modes share. `shared` is how many heads are
    in the top tenth of both (`chance`: expected of two random sets). `opposite` counts opposite
    signs among the `both` heads with a corrected p below .05 in both modes. Resampled effects are
    noisier than those observed: the intervals of `same` and `shared` hold the percentiles of the
    samples, and these moved to the observed value.
    """
    differ, rows = differences(effects) < LEVEL, []
    ranked = [agreement.ranks(draws) for draws in effects.draws]
    for pair, (one, other) in enumerate(combinations(range(len(effects.modes)), 2)):
        x, y = effects.draws[one], effects.draws[other]
        row = effects.labels | {"one": effects.modes[one], "other": effects.modes[other]}
        halves, n = (effects.halves[at] for at in (one, other)), effects.labels["n_documents"]
        row |= agreement.of_halves(*halves, n)
        row |= interval("same", agreement.correlations(ranked[one], ranked[other]), (-1, 1))
        n_top = top_of(x.shape[1])
        shared = (inside(x, n_top) * inside(y, n_top)).sum(1)
        row |= {"top": n_top} | interval("shared", shared, (0, n_top))
        both = (effects.corrected[[one, other]] < LEVEL).all(0)
        row |= {"chance": n_top**2 / x.shape[1], "both": int(both.sum())}
        row |= {"opposite": int((both & (x[0] * y[0] < 0)).sum())}
        rows.append(row | {"differ": int(differ[pair].sum()), "n_heads": x.shape[1]})
    return rows


def differences(effects: Effects) -> np.ndarray:
    """P-values of each head's difference between the effects in two modes, [pair, head].

    Student's test with the variance of the bootstrap samples, which both modes share (Holm).
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


def verdicts_by_head(effects: Effects) -> pd.DataFrame:
    """One row per head: its effect, ends of its interval and verdict in each mode, and over modes.

    The intervals are of 90% for all heads together (Bonferroni), normal, over examples; a loss or a
    gain has a corrected p below .05. `verdict` is ALL where every mode shows a loss, or every mode
    a gain; else DEPENDS where the effects in two modes differ (`differences`), SOME where some mode
    shows a loss or a gain, which other modes need not contradict, and NONE. `effects` has all
    modes' effects and intervals in words.
    """
    z = NormalDist().inv_cdf(1 - LEVEL / len(effects.heads))
    frame = effects.heads.copy()
    frame.insert(0, "name", head_labels(frame))
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
    ends = frame[[f"{end}_{mode}" for mode in effects.modes for end in ("effect", "low", "high")]]
    in_words = "; ".join(f"{mode} {{:.4f}} ({{:.4f}} to {{:.4f}})" for mode in effects.modes)
    frame["effects"] = [in_words.format(*row) for row in ends.to_numpy()]
    return frame.assign(bound=effects.bound, **effects.labels)


def over_modes(found: set[str], differ: bool) -> str:
    """What the verdicts of all modes on one head show together, and whether two modes differ."""
    if found in ({"loss"}, {"gain"}):
        return ALL
    if differ:
        return DEPENDS
    return SOME if found & {"loss", "gain"} else NONE


def top_of(n_heads: int) -> int:
    """The number of heads in the top tenth, at least one."""
    return max(1, round(TOP * n_heads))


def inside(values: np.ndarray, n_top: int) -> np.ndarray:
    """Whether each head is among the `n_top` largest of its draw; ties share: [draw, head]."""
    last = -np.partition(-values, n_top - 1, axis=1)[:, n_top - 1 : n_top]
    above, tied = values > last, values == last
    places = n_top - above.sum(1, keepdims=True)
    return above + tied * places / tied.sum(1, keepdims=True)


def interval(name: str, draws: np.ndarray, limits: tuple[float, float]) -> dict[str, float]:
    """The observed value, first of `draws`, and its interval, around it and within `limits`."""
    value, sampled = float(draws[0]), draws[1:][~np.isnan(draws[1:])]
    if not len(sampled) or np.isnan(value):
        return {name: value, f"{name}_low": np.nan, f"{name}_high": np.nan}
    low, high = np.percentile(sampled, stats_bootstrap.CONFIDENCE)
    bias = float(sampled.mean()) - value
    ends = min(low, low - bias, value), max(high, high - bias, value)
    low, high = np.clip(ends, *limits).tolist()
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def main(
    table: job.Out,
    heads: job.Out,
    bootstrap: int,
    permutations: int,
    seed: int,
    points: float,
    nats: float,
    logits: list[Path] = (),
    scores: list[Path] = (),
    losses: list[Path] = (),
) -> None:
    """Write a row per two modes, and per head; `points` and `nats` bound a change that is none."""
    settings = Settings(bootstrap, permutations, seed, points, nats)
    measured = [(effects_of_decoder(tables.read(path), settings),) for path in losses]
    measured += [
        effects_of_classifier(tables.read(path), tables.read(tested), settings)
        for path, tested in zip(logits, scores, strict=True)
    ]
    rows, found = [], []
    for effects in chain.from_iterable(measured):  # one at a time: each holds all samples
        rows += pairs_of_modes(effects)
        found.append(verdicts_by_head(effects))
    tables.write_csv(pd.DataFrame(rows), table)
    tables.write_csv(pd.concat(found, ignore_index=True), heads)


if __name__ == "__main__":
    job.run(main, globals())
