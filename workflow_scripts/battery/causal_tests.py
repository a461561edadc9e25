"""What a decoder loses without the heads of a role, against sets of heads free of the role.

The loss is that of next tokens, in nats, on the second copy of random tokens, which only heads that
look back at the first copy can predict; on the first copy, which nothing can; and on running text.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from workflow_scripts.battery.inputs import read_segments, read_sequences
from workflow_scripts.battery.random_repeats import as_tokens
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import head_label
from workflow_scripts.core.model import attention, causal_engine, models
from workflow_scripts.core.model import running as model_running
from workflow_scripts.core.model.causal_engine import Score, nats, ranked_first
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean
from workflow_scripts.core.stats.randomisation import TOLERANCE, holm

TEXTS = ("second copy", "first copy", "text")
ByText = Mapping[str, np.ndarray]  # [..., sequence or segment] of each of TEXTS
Heads = list[tuple[int, int]]


@dataclass(frozen=True)
class KnockOut:
    """The heads of a role, `own` [layer, head], and sets of as many heads of each layer.

    `free` [set, layer, head] hold none of the role's heads, `mixed` some of them; `note` states why
    there are none.
    """

    role: str
    own: np.ndarray
    free: np.ndarray
    mixed: np.ndarray
    note: str = ""

    @property
    def sets(self) -> np.ndarray:
        """The role's own heads, then the free and the mixed sets: bool [set, layer, head]."""
        return np.concatenate([self.own[None], self.free, self.mixed])

    @property
    def dose(self) -> np.ndarray:
        """How many of the role's heads each of `sets` holds, int [set]."""
        return (self.sets & self.own).sum(axis=(1, 2))


def found_heads(scores: pd.DataFrame) -> dict[str, Heads]:
    """The heads, or none, of each role (layer, head), of `read_roles`."""
    found: dict[str, Heads] = {role: [] for role in scores["role"].unique()}
    for row in scores[scores["has_role"]].itertuples():
        found[row.role].append((row.layer, row.head))
    return found


def to_test(role: str, found: Heads, shape: tuple[int, int], n_samples: int, seed: int) -> KnockOut:
    """The heads of a role with up to `n_samples` different free sets, and as many mixed ones.

    The mixed ones hold 1, 2, ... of the role's heads in turn, all but one at most.
    """
    own, none = as_grid(found, shape), np.zeros((0, *shape), dtype=bool)
    if not found:
        return KnockOut(role, own, none, none, "no head has this role")
    n_own, n_others = own.sum(axis=1), (~own).sum(axis=1)
    short = np.flatnonzero(n_own > n_others)
    if len(short):
        layers = "1 layer" if len(short) == 1 else f"{len(short)} layers"
        return KnockOut(role, own, none, none, f"most heads of {layers} have this role")
    rng = np.random.default_rng(seed)
    possible = math.prod(map(math.comb, n_others.tolist(), n_own.tolist()))
    free: dict[bytes, np.ndarray] = {}
    while len(free) < min(n_samples, possible):
        drawn = draw(own, 0, rng)
        free.setdefault(drawn.tobytes(), drawn)
    doses = [1 + number % (len(found) - 1) for number in range(n_samples if len(found) > 1 else 0)]
    mixed = np.unique([draw(own, dose, rng) for dose in doses], axis=0) if doses else none
    return KnockOut(role, own, np.array(list(free.values())), mixed)


def as_grid(heads: Heads, shape: tuple[int, int]) -> np.ndarray:
    """Which heads are among (layer, head) pairs: bool [layer, head]."""
    grid = np.zeros(shape, dtype=bool)
    for head in heads:
        grid[head] = True
    return grid


def draw(own: np.ndarray, dose: int, rng: np.random.Generator) -> np.ndarray:
    """A random set with `dose` heads of `own`, and as many heads of each layer: [layer, head]."""
    drawn = np.zeros_like(own)
    drawn[tuple(rng.permutation(np.argwhere(own))[:dose].T)] = True
    for layer in np.flatnonzero(own.any(axis=1)):
        n_missing = own[layer].sum() - drawn[layer].sum()
        drawn[layer, rng.choice(np.flatnonzero(~own[layer]), n_missing, replace=False)] = True
    return drawn


def scores_of(
    model: PreTrainedModel,
    sequences: np.ndarray,
    segments: np.ndarray,
    disabled: np.ndarray,
    mode: str,
    score: Score = nats,
) -> dict[str, np.ndarray]:
    """Mean scores without the disabled heads, by text, [variant, sequence or segment].

    `sequences` are ids [sequence, 1 + 2 L], `segments` ids [segment, token], `disabled` is bool
    [variant, layer, head]. The first token of a copy is left out: no earlier token predicts that
    the second copy begins.
    """
    repeated, running = (
        causal_engine.ablate(model, as_tokens(ids), disabled, mode, score=score).astype(np.float64)
        for ids in (sequences, segments)
    )
    length = sequences.shape[1] // 2
    parts = repeated[..., length + 1 :], repeated[..., 1:length], running
    return {text: part.mean(axis=-1) for text, part in zip(TEXTS, parts, strict=True)}


def rows_of(
    tested: KnockOut, intact: ByText, disabled: ByText, accuracy: ByText, bootstrap: int, seed: int
) -> list[dict]:
    """A row for each text: the losses intact, without the role's heads and without free sets.

    `intact` is [sequence or segment] of each text; `disabled` has one more axis, first, of
    `tested.sets`; `accuracy` [2, ...] is the share of tokens ranked first, intact and without the
    role's heads. Intervals of 95% resample sequences or segments, the same for all. `cost` is the
    loss without the role's heads minus the intact one, `excess` minus the mean over the free sets,
    whose own means run from `random_min` to `random_max`; as_large and p are those of `rank`.
    """
    heads = " ".join(head_label(*head) for head in np.argwhere(tested.own))
    about = {"role": tested.role, "n_heads": int(tested.own.sum()), "heads": heads}
    about |= {"n_free": len(tested.free), "n_mixed": len(tested.mixed), "note": tested.note}
    rows = []
    for text in TEXTS:
        row = about | {"text": text, "n": len(intact[text])}
        values = {"intact": intact[text], "accuracy_intact": accuracy[text][0]}
        without, free = disabled[text][0], disabled[text][1 : 1 + len(tested.free)]
        if tested.own.any():
            values |= {"loss": without, "cost": without - intact[text]}
            values["accuracy"] = accuracy[text][1]
        if len(free):
            means = free.mean(axis=1)
            values |= {"random": free.mean(axis=0), "excess": without - free.mean(axis=0)}
            row |= {"random_min": means.min(), "random_max": means.max()}
            row["as_large"], row["p"] = rank(without.mean(), means)
        rows.append(row | with_intervals(values, bootstrap, seed))
    return rows


def rank(loss: float, free: np.ndarray) -> tuple[int, float]:
    """How many of the losses of `free` sets are at least as large as `loss`, and its one-sided p.

    p is uniform where the role's set costs as much as others but for noise. Where heads differ, the
    costliest head of a layer is in no free set if the role has it: p is then small, too.
    """
    as_large = int((free >= loss - TOLERANCE).sum())
    return as_large, (1 + as_large) / (1 + len(free))


def with_intervals(values: ByText, bootstrap: int, seed: int) -> dict[str, float]:
    """The mean of each of `values`, by name, and both ends of its interval."""
    found = {}
    for name, each in values.items():
        ends = bootstrap_mean(each[:, None], bootstrap, seed, INDEPENDENT)
        names = (name, f"{name}_low", f"{name}_high")
        found |= dict(zip(names, (float(end[0]) for end in ends), strict=True))
    return found


def doses_of(
    tested: KnockOut, intact: ByText, disabled: ByText, bootstrap: int, seed: int
) -> list[dict]:
    """A row for each text and dose, how many of the role's heads a set holds.

    `cost` is the mean, over the sets, of the loss minus the intact one, with an interval over
    sequences or segments; the sets' own means run from `cost_min` to `cost_max`. Of a role without
    heads there is a row without dose.
    """
    rows = []
    for text in TEXTS:
        costs = disabled[text] - intact[text]
        if not tested.own.any():
            rows.append({"role": tested.role, "text": text, "n_sets": 0, "n": len(intact[text])})
            continue
        for dose in np.unique(tested.dose):
            of_dose = costs[tested.dose == dose]
            row = {"role": tested.role, "text": text, "dose": int(dose), "n_sets": len(of_dose)}
            row |= with_intervals({"cost": of_dose.mean(axis=0)}, bootstrap, seed)
            means = of_dose.mean(axis=1)
            row |= {"cost_min": means.min(), "cost_max": means.max(), "n": len(intact[text])}
            rows.append(row)
    return rows


COLUMNS = [
    *("role", "mode", "text", "n_heads", "heads", "intact", "intact_low", "intact_high"),
    *("loss", "loss_low", "loss_high", "cost", "cost_low", "cost_high"),
    *("random", "random_low", "random_high", "random_min", "random_max"),
    *("excess", "excess_low", "excess_high", "as_large", "n_free", "p", "p_corrected"),
    *("accuracy_intact", "accuracy_intact_low", "accuracy_intact_high"),
    *("accuracy", "accuracy_low", "accuracy_high", "n_mixed", "n", "note"),
]
DOSES = ["role", "mode", "text", "dose", "n_sets", "cost", "cost_low", "cost_high"]
DOSES += ["cost_min", "cost_max", "n"]


def tests(
    model: PreTrainedModel,
    found: Mapping[str, Heads],
    sequences: np.ndarray,
    segments: np.ndarray,
    modes: Sequence[str],
    n_samples: int,
    bootstrap: int,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of each role and mode, and those of each dose.

    p is corrected for the roles of a mode and text (Holm).
    """
    shape = attention.n_layers(model), attention.n_heads(model)
    roles = [to_test(role, heads, shape, n_samples, seed) for role, heads in found.items()]
    none = np.zeros((1, *shape), dtype=bool)
    starts = np.cumsum([1, *(len(tested.sets) for tested in roles)])
    owns = np.concatenate([none, *(tested.own[None] for tested in roles)])
    variants = np.concatenate([none, *(tested.sets for tested in roles)])
    rows, doses = [], []
    for mode in modes:
        losses = scores_of(model, sequences, segments, variants, mode)
        right = scores_of(model, sequences, segments, owns, mode, ranked_first)
        intact = {text: each[0] for text, each in losses.items()}
        for number, tested in enumerate(roles):
            own = slice(starts[number], starts[number + 1])
            of_sets = {text: each[own] for text, each in losses.items()}
            accuracy = {text: each[[0, 1 + number]] for text, each in right.items()}
            made = rows_of(tested, intact, of_sets, accuracy, bootstrap, seed)
            rows += [row | {"mode": mode} for row in made]
            made = doses_of(tested, intact, of_sets, bootstrap, seed)
            doses += [row | {"mode": mode} for row in made]
    frame = pd.DataFrame(rows).reindex(columns=[name for name in COLUMNS if name != "p_corrected"])
    together = frame[frame["p"].notna()].groupby(["mode", "text"])["p"]
    frame["p_corrected"] = together.transform(lambda p: holm(p.to_numpy()))
    return frame[COLUMNS], pd.DataFrame(doses, columns=DOSES).astype({"dose": "Int64"})


def read_roles(roles: Path, sinks: Path, others: Sequence[Path]) -> pd.DataFrame:
    """All heads' role, layer, head, has_role; sinks are those of plain texts."""
    columns = ["role", "layer", "head", "has_role"]
    first = tables.read(sinks)
    first = first[first["first"] == "text"]
    own, *rest = (tables.read(path) for path in (roles, *others))
    frames = own, first.assign(role="sink"), *rest
    return pd.concat([frame[columns] for frame in frames], ignore_index=True)


def main(
    model: Path,
    sequences: Path,
    corpus: Path,
    roles: Path,
    sinks: Path,
    table: job.Out,
    doses: job.Out,
    modes: list[str],
    n_samples: int,
    n_segments: int,
    n_tokens: int,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
    others: list[Path] = (),
) -> None:
    """Write the losses without the heads of each role, without sets free of it, and by dose."""
    directory = models.directory_of(read_card(model))
    tokenizer = models.load_tokenizer(directory)
    key = "battery.causal.n_tokens"
    text = read_segments(corpus, tokenizer, n_segments, n_tokens, key, one_per_document=True)
    found = found_heads(read_roles(roles, sinks, others))
    language_model = causal_engine.load_causal(directory, model_running.pick_device(device))
    ids = read_sequences(sequences)
    limits = modes, n_samples, bootstrap, seed
    frame, of_doses = tests(language_model, found, ids, text.ids, *limits)
    tables.write_csv(frame, table)
    tables.write_csv(of_doses, doses)


if __name__ == "__main__":
    job.run(main, globals())
