"""Niven and Kao 2019, from the logits of every run."""

import math

import numpy as np
import pandas as pd

from tests.claims.independent.study import Case, Cases, Missing, Study, quantile, where, wilson

FAMILIES = {"BERT": "bert", "BoV": "bov", "BiLSTM": "bilstm"}


def cue(study: Study, split: str, statistic: str) -> Cases:
    rows = study.rows("tables/niven2019-table2.csv", data="original", cue="not")
    row = where(rows, split=split).iloc[0]
    numbers = {"coverage": row["applicable"] / row["n"]}
    numbers["productivity"] = row["productive"] / row["applicable"]
    value = 100 * numbers[statistic]
    whole = split != "all" or "test" in set(rows["split"])
    chance = 50.0 if statistic == "productivity" else None
    return [Case(value, value, value, reference=chance, comparable=whole)]


def logits(study: Study, trained_on: str, family: str, setup: str) -> pd.DataFrame:
    """A family's logits on all points, of all seeds, with whether they are right."""
    pattern = f"arguments/{family}.{trained_on}*.parquet"
    frame = where(study.all(pattern), setup=setup, trained_on=trained_on, family=family)
    return frame.assign(right=(frame["logit_1"] > frame["logit_0"]).astype(int) == frame["label"])


def held_out(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The points of the test set, or of the development set where there is no other."""
    split = "test" if "test" in set(frame["split"]) else "dev"
    return where(frame, split=split), split


def learnt(study: Study, trained_on: str, family: str, setup: str) -> dict[int, bool]:
    """Whether the run of a seed has learnt, by the table of scores."""
    wanted = {"trained_on": trained_on, "family": family, "setup": setup, "points": "training"}
    scores = study.rows("arguments/scores.parquet", **wanted)
    return {row.seed: not row.degenerate for row in scores.itertuples()}


def over_points_and_runs(value: float, sd: float, runs: int, n: int) -> tuple[float, float]:
    low, high = wilson(round(value / 100 * n), n)
    half = quantile(runs - 1) * sd / math.sqrt(runs) if runs > 1 else 0.0
    low = value - math.sqrt((value - low) ** 2 + half**2)
    high = value + math.sqrt((high - value) ** 2 + half**2)
    return max(low, 0.0), min(high, 100.0)


def arct_accuracy(study: Study, table: str, family: str, inputs: str, statistic: str) -> Cases:
    trained_on = "swapped" if table == "table4" else "original"
    frame = logits(study, trained_on, FAMILIES[family], inputs)
    versions = ["original", "negated"] if table == "table4" else ["original"]
    frame = frame[frame["version"].isin(versions)]
    points, split = held_out(frame)
    if table == "table1":
        points, split = where(frame, split="dev"), "dev"
    by_run = 100 * points.groupby("seed")["right"].mean()
    has_learnt = learnt(study, trained_on, FAMILIES[family], inputs)
    none = not any(has_learnt.values())
    if statistic == "others_mean" and not none:
        by_run = by_run[[seed for seed in by_run.index if has_learnt[seed]]]
    n = int(points.groupby("seed").size().iloc[0])
    reduced = {"median": by_run.median(), "max": by_run.max()}.get(statistic, by_run.mean())
    value = round(float(reduced), 1)  # as the tables print it
    if statistic in ("median", "max"):
        low, high = wilson(round(value / 100 * n), n)
    else:
        sd = round(float(by_run.std()), 1) if len(by_run) > 1 else 0.0
        low, high = over_points_and_runs(value, sd, len(by_run), n)
    comparable = not none and (split == "test" or table == "table1")
    comparable &= statistic != "max" or len(by_run) >= 20
    chance = None if table == "table4" else 50.0
    seeds = len(by_run)
    return [Case(value, low, high, reference=chance, comparable=comparable, seeds=seeds)]


def degenerate_runs(study: Study) -> Cases:
    has_learnt = [*learnt(study, "original", "bert", "full").values()]
    failed, n = has_learnt.count(False), len(has_learnt)
    return [Case(100 * failed / n, *wilson(failed, n))]


def peak_gap(study: Study, statistic: str) -> Cases:
    """A bootstrap of its own, one sample after the other."""
    setups = ("full", "W") if statistic == "gap" else ("full", "W", "RW", "CW")
    rights, comparable = {}, True
    for setup in setups:
        frame, _ = held_out(logits(study, "original", "bert", setup))
        table = where(frame, version="original").pivot(index="id", columns="seed", values="right")
        has_learnt = learnt(study, "original", "bert", setup)
        seeds = [seed for seed in table if has_learnt[seed]]
        comparable &= bool(seeds)
        rights[setup] = table[seeds or list(table)].to_numpy(float)
    n, random = len(rights["full"]), np.random.default_rng(99)

    def peaks(sample: np.ndarray) -> dict[str, float]:
        return {setup: 100 * rights[setup][sample].mean(axis=0).max() for setup in setups}

    samples = [peaks(np.arange(n)), *(peaks(random.integers(0, n, n)) for _ in range(4000))]
    comparable &= np.percentile([sample["full"] for sample in samples[1:]], 2.5) > 50
    if statistic == "gap":
        numbers = [sample["full"] - sample["W"] for sample in samples]
    else:
        gains = [(s["RW"] - s["W"]) + (s["CW"] - s["W"]) for s in samples]
        numbers = [s["W"] + gain - s["full"] for s, gain in zip(samples, gains, strict=True)]
    low, high = np.percentile(numbers[1:], [2.5, 97.5])
    return [Case(numbers[0], low, high, comparable=bool(comparable), near=100 / n + 1)]


def adversarial(study: Study, trained_on: str) -> Cases:
    for setup in ("full", "CW"):
        try:
            points, split = held_out(logits(study, trained_on, "bert", setup))
        except Missing:
            continue
        by_run = 100 * points.groupby("seed")["right"].mean()
        has_learnt = learnt(study, trained_on, "bert", setup)
        seeds = [seed for seed in by_run.index if has_learnt[seed]]
        chosen = by_run[seeds] if seeds else by_run
        sd = round(float(chosen.std()), 1) if len(chosen) > 1 else 0.0
        value, n = round(float(chosen.mean()), 1), len(points) // len(by_run)
        ends = over_points_and_runs(value, sd, len(seeds), n)
        comparable = bool(seeds) and split == "test"
        yield Case(value, *ends, f"BERT {setup}", comparable=comparable, seeds=len(chosen))


def easy_points(study: Study) -> Cases:
    table = study.rows("tables/niven2019-easy.csv", measure="cue among always right")
    table = where(table, setup="C, R, W")
    for source in dict.fromkeys(table["source"]):
        rows = table[table["source"] == source]
        some_failed = "not degenerate" in set(rows["runs"])
        rows, _ = held_out(rows)
        for row in rows[~rows["bert_minus"].isna()].to_dict("records"):
            kind = "all runs" if row["runs"] == "all" else "without degenerate runs"
            ends = [100 * row[f"bert_minus{end}"] for end in ("", "_low", "_high")]
            comparable = not (some_failed and row["runs"] == "all")
            case = f"{source}, {row['model']}, {kind}"
            yield Case(*ends, case, comparable=comparable)
