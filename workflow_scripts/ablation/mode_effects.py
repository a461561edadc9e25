"""Effects of disabling each head, in each mode, on the loss and on the score of the same examples.

Every mode is measured on the same bootstrap samples, so that differences between modes are paired.
Effects are losses here: above 0 the model is worse without the head.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from workflow_scripts.core.data.glue import TASKS, Task
from workflow_scripts.core.stats import next_tokens, resampling
from workflow_scripts.core.stats.metrics import predictions_of, weighted_scores

KEYS = ["layer", "head"]
DIVISIONS = 100  # of the examples into halves


@dataclass(frozen=True)
class Settings:
    """How effects are sampled and tested, and the bounds within which they count as none."""

    bootstrap: int
    permutations: int
    seed: int
    points: float  # of a score
    nats: float


@dataclass(frozen=True)
class Effects:
    """The effects of all heads in all modes on one measure.

    `draws` [mode, 1 + draw, head] has those observed, then those of bootstrap samples. `sizes`, of
    the same shape, are the mean sizes of the effects on single texts, of losses alone. `halves`
    [mode] is Spearman's correlation over heads of the effects on two halves of the examples, mean
    over random divisions. `extra` is a variance that is added to that of the samples: the least
    that the number of examples can show.
    """

    labels: dict[str, object]  # what was measured: columns of the tables
    heads: pd.DataFrame  # KEYS
    modes: list[str]
    draws: np.ndarray
    p: np.ndarray  # [mode, head]
    corrected: np.ndarray  # for the number of heads, [mode, head]
    halves: list[float]
    bound: float
    extra: float = 0.0
    sizes: np.ndarray | None = None


def nats_of(task: Task, logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The loss of each example, of logits [..., example, label]: cross-entropy, in nats.

    Of a task without classes it is the squared error.
    """
    if not task.labels:
        return (logits[..., 0] - labels) ** 2
    logits = logits.astype(np.float64)
    shifted = logits - logits.max(-1, keepdims=True)
    nats = np.log(np.exp(shifted).sum(-1))
    return nats - shifted[..., np.arange(len(labels)), labels.astype(int)]


def loss_of_classifier(logits: pd.DataFrame, settings: Settings) -> Effects:
    """Effects on the loss of one classifier's development examples; `logits` are the sweep's."""
    rows, plain, heads, modes = _of_sweep(logits)
    task, labels, n = TASKS[rows["task"].iloc[0]], plain["label"].to_numpy(), len(plain)
    nats = [nats_of(task, both, labels) for both in _logits(rows, plain, heads, modes, task)]
    names = _names(rows, n) | {"of": "loss"}
    bound = settings.nats if task.labels else np.nan
    texts = np.ones(n, int), [str(at) for at in range(n)]
    return _of_nats(names, nats, texts, bound, settings, {"heads": heads, "modes": modes})


def of_classifier(
    logits: pd.DataFrame, scores: pd.DataFrame, settings: Settings
) -> Iterator[Effects]:
    """Effects on the loss and on the main metric of one classifier's development examples.

    `logits` are those of the sweep, `scores` its tests of the metric.
    """
    yield loss_of_classifier(logits, settings)
    rows, plain, heads, modes = _of_sweep(logits)
    task, labels, n = TASKS[rows["task"].iloc[0]], plain["label"].to_numpy(), len(plain)
    weights = resampling.observed_and_resampled(n, settings.bootstrap, settings.seed)
    tests = scores[(scores["split"] == "dev") & (scores["unit"] == "head")]
    tests = tests[tests["metric"] == task.main_metric].set_index(["mode", *KEYS])
    drops, p, corrected, halves = [], [], [], []
    for mode, both in zip(modes, _logits(rows, plain, heads, modes, task), strict=True):
        predicted = np.stack([predictions_of(task, each) for each in both])
        scored = weighted_scores(task.main_metric, labels, predicted, weights)
        drops.append(scored[:, :1] - scored[:, 1:])
        halves.append(_halves(partial(weighted_scores, task.main_metric, labels, predicted), n))
        tested = tests.loc[mode].loc[list(heads.itertuples(index=False, name=None))]
        p.append(tested["p"].to_numpy())
        corrected.append(tested["p_corrected"].to_numpy())
    tests_of = {"p": np.stack(p), "corrected": np.stack(corrected)}
    found = {"heads": heads, "modes": modes, "halves": halves, "extra": 2 / (n + 2) ** 2}
    of = _names(rows, n) | {"of": "score"}
    yield Effects(of, draws=np.stack(drops), bound=settings.points / 100, **tests_of, **found)


def _of_sweep(logits: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, list[str]]:
    """A classifier's rows on development examples, the plain model's, the heads and the modes."""
    rows = logits[(logits["split"] == "dev") & logits["unit"].isin(("none", "head"))]
    modes = list(rows.loc[rows["unit"] == "head", "mode"].unique())
    return rows, rows[rows["unit"] == "none"], _heads(rows), modes


def _logits(
    rows: pd.DataFrame, plain: pd.DataFrame, heads: pd.DataFrame, modes: list[str], task: Task
) -> Iterator[np.ndarray]:
    """Of each mode the logits [1 + head, example, label], the plain model's first."""
    columns = [f"logit_{at}" for at in range(task.n_labels)]
    for mode in modes:
        of_mode = rows[(rows["unit"] == "head") & (rows["mode"] == mode)]
        after = of_mode[columns].to_numpy().reshape(len(heads), len(plain), len(columns))
        yield np.concatenate([plain[columns].to_numpy()[None], after])


def _names(rows: pd.DataFrame, n: int) -> dict[str, object]:
    return {key: rows[key].iloc[0] for key in ("task", "seed")} | {"n": n, "n_documents": n}


def of_decoder(losses: pd.DataFrame, settings: Settings) -> Effects:
    """Effects on a decoder's nats per next token of running text, over documents."""
    rows = losses[losses["unit"].isin(("none", "head"))]
    plain, heads = rows[rows["unit"] == "none"], _heads(rows)
    modes = list(rows.loc[rows["unit"] == "head", "mode"].unique())
    documents, nats = plain["document"].tolist(), []
    for mode in modes:
        of_mode = rows[(rows["unit"] == "head") & (rows["mode"] == mode)]
        after = of_mode["nats"].to_numpy().reshape(len(heads), -1)
        nats.append(np.concatenate([plain["nats"].to_numpy()[None], after]))
    texts = plain["n_tokens"].to_numpy(), documents
    names = {"task": "text", "seed": 0, "n": len(plain), "n_documents": len(set(documents))}
    found = {"heads": heads, "modes": modes}
    return _of_nats(names | {"of": "loss"}, nats, texts, settings.nats, settings, found)


def _heads(rows: pd.DataFrame) -> pd.DataFrame:
    """The heads in the order in which each mode has them."""
    heads = rows.loc[rows["unit"] == "head", ["mode", *KEYS]].drop_duplicates()
    return heads.loc[heads["mode"] == heads["mode"].iloc[0], KEYS].reset_index(drop=True)


def _halves(scores: Callable[[np.ndarray], np.ndarray], n: int) -> float:
    """Spearman's correlation of the effects on halves of `n` examples, mean over divisions."""
    return resampling.half_agreement(scores, n, DIVISIONS, seed=1)["spearman"]


def _of_nats(
    labels: dict[str, object],
    nats: list[np.ndarray],
    texts: tuple[np.ndarray, list[str]],
    bound: float,
    settings: Settings,
    found: dict[str, object],
) -> Effects:
    """Effects on a mean loss, with their paired test over documents.

    `nats` has of each mode the losses [1 + head, text], the plain model's first, `texts` their
    numbers of tokens and documents.
    """
    draws, sizes, p, corrected, halves = [], [], [], [], []
    for of_mode in nats:
        sums = next_tokens.by_document(of_mode, *texts)
        losses = next_tokens.resampled(sums, settings.bootstrap, settings.seed)
        draws.append(losses[:, 1:] - losses[:, :1])
        each = next_tokens.by_document(np.abs(of_mode[1:] - of_mode[:1]), *texts)
        sizes.append(next_tokens.resampled(each, settings.bootstrap, settings.seed))
        halves.append(_halves(partial(next_tokens.weighted, sums), sums.shape[1]))
        test = next_tokens.tested(sums[0], sums[1:], settings.permutations, settings.seed)
        p.append(test.p)
        corrected.append(test.corrected)
    tests = {"p": np.stack(p), "corrected": np.stack(corrected), "halves": halves}
    return Effects(
        labels, draws=np.stack(draws), sizes=np.stack(sizes), bound=bound, **tests, **found
    )
