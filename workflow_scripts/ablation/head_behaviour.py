"""Each head's behaviour, from other chapters, and the effect of disabling it (Kovaleva 5)."""

from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

from workflow_scripts.ablation.equivalence import covariance_of, interval, verdict
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.frame_links import linking_heads
from workflow_scripts.core.data.glue import present
from workflow_scripts.core.data.head_labels import labels
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out
from workflow_scripts.core.stats import effects, resampling
from workflow_scripts.core.stats.randomisation import LEVEL

KEYS = ["layer", "head"]
STRATA = ("syntactic", "frames", "position", "special tokens", "other")


def surface(position: Path, special: Path, entropy: Path) -> pd.DataFrame:
    """Per head: attention to itself, neighbours and special tokens, and its entropy in nats."""
    frames = [tables.read(path, (*KEYS, "target", "attention")) for path in (position, special)]
    wide = pd.concat(frames).pivot_table(index=KEYS, columns="target", values="attention")
    broad = tables.read(entropy, (*KEYS, "query", "entropy"))
    broad = broad[broad["query"] == "all"].set_index(KEYS)["entropy"]
    return wide.join(broad).reset_index()


def syntax(scores: Path, offsets: Path, fewest: int) -> pd.DataFrame:
    """Per head: the relation in which it most exceeds the best fixed offset.

    `above` is by how much (accuracy minus the offset's), `syntactic` whether no other head is
    better at that relation and the difference is more than chance: its normal 95% interval,
    corrected for all heads and relations (Bonferroni) and with the offset's own error, is above 0.
    """
    frame = tables.read(scores, (*KEYS, "relation", "accuracy", "ci_low", "ci_high", "n"))
    frame = frame[(frame["n"] >= fewest) & ~frame["relation"].isin(["punct", "all"])]
    base = tables.read(offsets, ("relation", "accuracy")).groupby("relation")["accuracy"].max()
    frame = frame.assign(baseline=frame["relation"].map(base)).dropna(subset=["baseline"])
    frame["above"] = frame["accuracy"] - frame["baseline"]
    best = frame.groupby("relation")["accuracy"].transform("max") == frame["accuracy"]
    z = NormalDist().inv_cdf(1 - LEVEL / 2 / len(frame))
    error = (frame["ci_high"] - frame["ci_low"]) / (2 * NormalDist().inv_cdf(1 - LEVEL / 2))
    chance = frame["baseline"] * (1 - frame["baseline"]) / frame["n"]
    frame["syntactic"] = best & (frame["above"] > z * np.sqrt(error**2 + chance))
    frame = frame.sort_values(["syntactic", "above"], ascending=False, kind="stable")
    first = frame.drop_duplicates(KEYS)
    return first[[*KEYS, "relation", "accuracy", "above", "syntactic"]]


def classes(shares: Path) -> pd.DataFrame:
    """Per head: the most frequent class of its maps after fine-tuning, and that class's share."""
    columns = (*KEYS, "class", "share", "method", "stage")
    frame = tables.read(shares, columns)
    frame = frame[(frame["method"] == "network") & (frame["stage"] == "fine-tuned")]
    frame = frame.groupby([*KEYS, "class"], as_index=False)["share"].mean()
    best = frame.sort_values("share", ascending=False, kind="stable").drop_duplicates(KEYS)
    return best.rename(columns={"class": "pattern", "share": "pattern_share"})


def links(frames: Path) -> pd.DataFrame:
    """Per head: attention between a predicate and its frame elements, and whether it stands out.

    `frames_above` is by how much it exceeds attention between unlinked words at the same distance,
    `frames_head` whether it counts as a head that links.
    """
    columns = (*KEYS, "direction", "attention", "difference", "p_corrected")
    frame = tables.read(frames, columns)
    either = frame[frame["direction"] == "either"]
    either = either.rename(columns={"attention": "frames", "difference": "frames_above"})
    stand_out = either.index.isin(linking_heads(frame).index)
    return either[[*KEYS, "frames", "frames_above"]].assign(frames_head=stand_out)


def stratum(row: pd.Series, threshold: float) -> str:
    """The first of STRATA to which a head, a row of the joined table, belongs."""
    shares = {name: row.get(name, 0.0) for name in ("self", "previous", "next")}
    special = sum(row.get(name, 0.0) for name in ("cls", "sep"))
    if row.get("syntactic", False):
        return "syntactic"
    if row.get("frames_head", False):
        return "frames"
    if max(shares.values()) > threshold:
        return "position"
    return "special tokens" if special > threshold else "other"


def compare(
    heads: pd.DataFrame, covariances: dict[str, np.ndarray], bound: float, draws: int, seed: int
) -> pd.DataFrame:
    """One row per task and stratum: the mean effect of its heads and that of all other heads.

    `covariances` has each task's, of equivalence.covariance_of. ci_low and ci_high draw the
    stratum's heads with replacement; `low` and `high` are the ends of the 90% interval over
    examples, `verdict` what it says of the bound; `p` is the share of `draws` random sets of as
    many heads whose mean is as far from the mean of all heads.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for task, covariance in covariances.items():
        values = heads[f"effect_{task}"].to_numpy()
        for name in STRATA:
            inside = (heads["stratum"] == name).to_numpy()
            if not inside.any():
                continue
            n, distance = int(inside.sum()), abs(values[inside].mean() - values.mean())
            weights = resampling.bootstrap_weights(n, draws, seed)
            low, high = np.percentile(weights @ values[inside] / n, resampling.CONFIDENCE)
            random = np.stack([rng.permutation(values)[:n].mean() for _ in range(draws)])
            p = (1 + (np.abs(random - values.mean()) >= distance - 1e-12).sum()) / (1 + draws)
            row = {"task": task, "stratum": name, "heads": n, "effect": values[inside].mean()}
            row |= {"ci_low": low, "ci_high": high, "p": p}
            row["others"] = values[~inside].mean() if n < len(values) else np.nan
            ends = interval(values, covariance, inside)
            row |= dict(zip(("low", "high"), ends, strict=True))
            row |= {"bound": bound, "verdict": verdict(*ends, bound)}
            rows.append(row)
    return pd.DataFrame(rows)


def judge(
    heads: pd.DataFrame, scores: pd.DataFrame, covariances: dict[str, np.ndarray], bound: float
) -> pd.DataFrame:
    """Columns for every task: p_corrected, low, high and verdict of each head's effect.

    p_corrected is the largest of all seeds; low and high are the ends of the 90% interval over
    examples, which is not corrected for the number of heads.
    """
    columns = {}
    for task, covariance in covariances.items():
        p = scores[scores["task"] == task].groupby(KEYS)["p_corrected"].max().to_numpy()
        values = heads[f"effect_{task}"].to_numpy()
        alone = np.eye(len(values), dtype=bool)
        ends = [interval(values, covariance, head) for head in alone]
        columns[f"p_corrected_{task}"] = p
        columns[f"low_{task}"], columns[f"high_{task}"] = zip(*ends, strict=True)
        significant = (p < LEVEL).tolist()
        judged = zip(ends, significant, strict=True)
        columns[f"verdict_{task}"] = [verdict(*end, bound, beyond) for end, beyond in judged]
    return pd.DataFrame(columns, index=heads.index)


def main(
    scores: list[Path],
    covariances: list[Path],
    heads: Out,
    strata: Out,
    mode: str,
    equivalence: float,
    threshold: float,
    fewest: int,
    bootstrap: int,
    seed: int,
    position: Path | None = None,
    special: Path | None = None,
    entropy: Path | None = None,
    syntax_scores: Path | None = None,
    offsets: Path | None = None,
    shares: Path | None = None,
    frames: Path | None = None,
) -> None:
    """Write the joined table, a row per head, and the comparison of strata.

    A chapter that is not part of the study has no columns. `equivalence` is the bound in points.
    """
    frame = effects.main_rows(effects.read_scores(scores, "head"), mode)
    joined = frame.pivot_table(index=KEYS, columns="task", values="effect")
    tasks = present(frame)
    joined = joined[tasks].add_prefix("effect_").reset_index()
    joined["effect"] = joined[[f"effect_{task}" for task in tasks]].mean(axis=1)
    errors, bound = {}, equivalence / 100
    for task in tasks:
        n = int(frame[frame["task"] == task]["n"].min())
        errors[task] = covariance_of(covariances, mode, task, n)
    joined = joined.join(judge(joined, frame, errors, bound))
    chapters = []
    if position and special and entropy:
        chapters.append(surface(position, special, entropy))
    if syntax_scores and offsets:
        chapters.append(syntax(syntax_scores, offsets, fewest))
    if shares:
        chapters.append(classes(shares))
    if frames:
        chapters.append(links(frames))
    for columns in chapters:
        joined = joined.merge(columns, on=KEYS, how="left")
    joined["stratum"] = [stratum(row, threshold) for _, row in joined.iterrows()]
    joined.insert(0, "name", labels(joined))
    tables.write_csv(joined, heads)
    tables.write_csv(compare(joined, errors, bound, bootstrap, seed), strata)


if __name__ == "__main__":
    job.run(main, globals())
