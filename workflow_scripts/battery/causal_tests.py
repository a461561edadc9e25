"""What a decoder loses without the heads of a role, against as many random heads of their layers.

The loss is that of next tokens, in nats, on the second copy of random tokens, which only heads that
look back at the first copy can predict; on the first copy, which nothing can; and on running text.
"""

from collections.abc import Iterator, Mapping, Sequence
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
from workflow_scripts.core.run import job
from workflow_scripts.core.stats.bootstrap import INDEPENDENT, bootstrap_mean
from workflow_scripts.core.stats.randomisation import TOLERANCE, holm

MOST = 8  # where a role has more heads, as many of its strongest are tested by themselves, too
TEXTS = ("second copy", "first copy", "text")
Losses = Mapping[str, np.ndarray]  # by text, [sequence or segment]
Heads = list[tuple[int, int]]


@dataclass(frozen=True)
class Tested:
    """Heads that are disabled together, and random ones of their layers: bool [layer, head].

    `random` [sample, layer, head] has no sample where no head has the role.
    """

    role: str
    chosen: str
    heads: np.ndarray
    random: np.ndarray


def found_heads(scores: pd.DataFrame) -> dict[str, Heads]:
    """The heads, or none, of each role (layer, head), the strongest first, of `read_roles`."""
    ordered = scores.sort_values("score", ascending=False, kind="stable")
    found: dict[str, Heads] = {role: [] for role in scores["role"].unique()}
    for row in ordered[ordered["has_role"]].itertuples():
        found[row.role].append((row.layer, row.head))
    return found


def to_test(
    role: str, found: Heads, shape: tuple[int, int], n_samples: int, seed: int
) -> Iterator[Tested]:
    """All heads of a role and, of more than MOST, the strongest, each with its random samples."""
    sets = {"all": found} | ({f"strongest {MOST}": found[:MOST]} if len(found) > MOST else {})
    for chosen, heads in sets.items():
        grid = as_grid(heads, shape)
        random = random_heads(grid, n_samples if found else 0, seed)
        yield Tested(role, chosen, grid, random)


def as_grid(heads: Heads, shape: tuple[int, int]) -> np.ndarray:
    """Which heads are among (layer, head) pairs: bool [layer, head]."""
    grid = np.zeros(shape, dtype=bool)
    for head in heads:
        grid[head] = True
    return grid


def random_heads(grid: np.ndarray, n_samples: int, seed: int) -> np.ndarray:
    """Samples of as many heads of each layer as `grid` has: [sample, layer, head].

    Any head can be among them, those of `grid` too: only then is a set of random heads as likely as
    each sample to have the largest loss.
    """
    rng = np.random.default_rng(seed)
    samples = np.zeros((n_samples, *grid.shape), dtype=bool)
    for sample in samples:
        for layer in np.flatnonzero(grid.any(axis=1)):
            sample[layer, rng.choice(grid.shape[1], grid[layer].sum(), replace=False)] = True
    return samples


def losses_of(
    model: PreTrainedModel,
    sequences: np.ndarray,
    segments: np.ndarray,
    disabled: np.ndarray,
    mode: str,
) -> dict[str, np.ndarray]:
    """Mean losses without the disabled heads, by text, [variant, sequence or segment].

    `sequences` are ids [sequence, 1 + 2 L], `segments` ids [segment, token], `disabled` is bool
    [variant, layer, head]. The first token of a copy is left out: no earlier token predicts that
    the second copy begins.
    """
    repeated, running = (
        causal_engine.ablate(model, as_tokens(ids), disabled, mode).astype(np.float64)
        for ids in (sequences, segments)
    )
    length = sequences.shape[1] // 2
    parts = repeated[..., length + 1 :], repeated[..., 1:length], running
    return {text: part.mean(axis=-1) for text, part in zip(TEXTS, parts, strict=True)}


def rows_of(
    tested: Tested, intact: Losses, disabled: Losses, bootstrap: int, seed: int
) -> list[dict]:
    """A row for each text: the losses intact, without the heads and without random ones.

    `intact` is [sequence or segment] of each text; `disabled` has one more axis, first: the heads
    themselves, then each random sample. Intervals of 95% resample sequences or segments, the same
    for all, and hold the samples fixed. `excess` is the loss without the heads minus the mean over
    the samples, whose own means run from `random_min` to `random_max`; `margin` is the loss minus
    that of the sample with the largest. `as_large` counts the samples with at least the loss
    without the heads; p is the rank among them, one-sided: (1 + as_large) / (1 + n_samples).
    """
    rows = []
    heads = " ".join(head_label(*head) for head in np.argwhere(tested.heads))
    about = {"role": tested.role, "chosen": tested.chosen, "n_heads": int(tested.heads.sum())}
    note = "" if tested.heads.any() else "no head has this role"
    about |= {"heads": heads, "n_samples": len(tested.random), "note": note}
    for text in TEXTS:
        values = {"intact": intact[text]}
        row = about | {"text": text, "n": len(intact[text])}
        without, samples = disabled[text][0], disabled[text][1:]
        if tested.heads.any():
            values["loss"] = without
        if len(samples):
            means = samples.mean(axis=1)
            values |= {"random": samples.mean(axis=0), "excess": without - samples.mean(axis=0)}
            values["margin"] = without - samples[means.argmax()]
            row |= {"random_min": means.min(), "random_max": means.max()}
            # A sample of the very same heads is as large, whatever the order of their sums.
            row["as_large"] = int((means >= without.mean() - TOLERANCE).sum())
            row["p"] = (1 + row["as_large"]) / (1 + len(samples))
        for name, of_texts in values.items():
            ends = bootstrap_mean(of_texts[:, None], bootstrap, seed, INDEPENDENT)
            names = (name, f"{name}_low", f"{name}_high")
            row |= dict(zip(names, (float(end[0]) for end in ends), strict=True))
        rows.append(row)
    return rows


COLUMNS = [
    *("role", "chosen", "mode", "text", "n_heads", "heads", "loss", "loss_low", "loss_high"),
    *("intact", "intact_low", "intact_high", "random", "random_low", "random_high"),
    *("random_min", "random_max", "as_large", "n_samples", "excess", "excess_low", "excess_high"),
    *("margin", "margin_low", "margin_high", "p", "p_corrected", "n", "note"),
]


def tests(
    model: PreTrainedModel,
    found: Mapping[str, Heads],
    sequences: np.ndarray,
    segments: np.ndarray,
    modes: Sequence[str],
    n_samples: int,
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """The rows of each role, set of its heads and mode.

    p is corrected for the sets of a mode and text (Holm).
    """
    shape = attention.n_layers(model), attention.n_heads(model)
    sets = [
        tested
        for role, heads in found.items()
        for tested in to_test(role, heads, shape, n_samples, seed)
    ]
    # The intact model, then the heads of each set, followed by its random samples.
    variants = [np.zeros((1, *shape), dtype=bool)]
    variants += [np.concatenate([tested.heads[None], tested.random]) for tested in sets]
    starts = np.cumsum([len(part) for part in variants])
    rows = []
    for mode in modes:
        losses = losses_of(model, sequences, segments, np.concatenate(variants), mode)
        intact = {text: each[0] for text, each in losses.items()}
        for tested, own, after in zip(sets, starts[:-1], starts[1:], strict=True):
            of_set = {text: each[own:after] for text, each in losses.items()}
            made = rows_of(tested, intact, of_set, bootstrap, seed)
            rows += [row | {"mode": mode} for row in made]
    frame = pd.DataFrame(rows).reindex(columns=[name for name in COLUMNS if name != "p_corrected"])
    together = frame[frame["p"].notna()].groupby(["mode", "text"])["p"]
    frame["p_corrected"] = together.transform(lambda p: holm(p.to_numpy()))
    return frame[COLUMNS]


def read_roles(roles: Path, sinks: Path, others: Sequence[Path]) -> pd.DataFrame:
    """All heads' role, layer, head, score, has_role; sinks are those of plain texts."""
    columns = ["role", "layer", "head", "score", "has_role"]
    first = tables.read(sinks, ("layer", "head", "first", "attention", "has_role"))
    first = first[first["first"] == "text"].rename(columns={"attention": "score"})
    own, *rest = (tables.read(path, tuple(columns)) for path in (roles, *others))
    frames = own, first.assign(role="sink"), *rest
    return pd.concat([frame[columns] for frame in frames], ignore_index=True)


def main(
    model: Path,
    sequences: Path,
    corpus: Path,
    roles: Path,
    sinks: Path,
    effects: job.Out,
    table: job.Out,
    modes: list[str],
    n_samples: int,
    n_segments: int,
    n_tokens: int,
    bootstrap: int,
    device: str = "auto",
    seed: int = 1,
    others: list[Path] = (),
) -> None:
    """Write the losses without the heads of each role, and without random ones."""
    directory = models.directory_of(read_card(model))
    tokenizer = models.load_tokenizer(directory)
    key = "battery.causal.n_tokens"
    text = read_segments(corpus, tokenizer, n_segments, n_tokens, key, one_per_document=True)
    found = found_heads(read_roles(roles, sinks, others))
    language_model = causal_engine.load_causal(directory, model_running.pick_device(device))
    ids = read_sequences(sequences)
    frame = tests(language_model, found, ids, text.ids, modes, n_samples, bootstrap, seed)
    tables.write(frame, effects)
    tables.write_csv(frame, table)


if __name__ == "__main__":
    job.run(main, globals())
