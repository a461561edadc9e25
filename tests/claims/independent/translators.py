"""Michel et al. 2019 on translators, from the tables of their heads and curves."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tests.claims.independent.michel import without_loss
from tests.claims.independent.study import (
    Case,
    Cases,
    Study,
    attenuated,
    curve_mean,
    newcombe,
    surely_above,
    where,
    wilson,
)

TITLES = {"encoder": "Enc-Enc", "encoder-decoder": "Enc-Dec", "decoder": "Dec-Dec"}
CROSS = "encoder-decoder"
KEPT = ("kept", "kept_low", "kept_high")


def runs(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each run."""
    for run in dict.fromkeys(frame["run"]):
        yield str(run), frame[frame["run"] == run]


def named(run: str, part: str = "") -> str:
    title = f"seed {run}" if run.isdigit() else run
    return title + (f", {part}" if part else "")


def curves(study: Study, scope: str, order: str = "importance") -> pd.DataFrame:
    frame = study.all("translation/*.curves.parquet")
    return where(frame, strategy=order, metric="bleu", scope=scope)


def intact(study: Study) -> dict[str, pd.Series]:
    """The row of each run without a pruned head."""
    unpruned = where(curves(study, "all"), pruned=0)
    return {run: rows.iloc[0] for run, rows in runs(unpruned)}


def case(study: Study, ends: object, run: str, part: str = "", known: bool = True) -> Case:
    """A number of a run, which must translate, and of effects that are known well enough."""
    translates = intact(study)[run]["score"] >= 10
    return Case(*ends, named(run, part), comparable=bool(translates and known))


def base_bleu(study: Study) -> Cases:
    ends = ("score", "ci_low", "ci_high")
    return [Case(*(row[e] for e in ends), named(run)) for run, row in intact(study).items()]


def nearest(rows: pd.DataFrame, at: float) -> dict:
    """The row whose share of pruned heads is nearest to `at` percent."""
    return min(rows.to_dict("records"), key=lambda row: abs(100 * row["share"] - at))


def kept(study: Study, scope: str, at: float) -> dict[str, np.ndarray]:
    """Percent of BLEU kept by each run, and the ends."""
    return {
        run: np.array([100 * nearest(rows, at)[name] for name in KEPT])
        for run, rows in runs(curves(study, scope))
    }


def kept_bleu(study: Study, share: str, attention: str) -> Cases:
    for scope in attention.split():
        for run, ends in kept(study, scope, float(share)).items():
            yield case(study, ends, run, TITLES.get(scope, ""))


def kept_gap(study: Study, share: str) -> Cases:
    cross = kept(study, CROSS, float(share))
    for other in ("encoder", "decoder"):
        for run, ends in kept(study, other, float(share)).items():
            part = f"Enc-Dec minus {TITLES[other]}"
            yield case(study, newcombe(cross[run], ends), run, part)


def kept_area(study: Study) -> Cases:
    ones, others = (dict(runs(curves(study, "all", order))) for order in ("importance", "score"))
    every = study.all("translation/*.curves.parquet")
    every = every[(every["strategy"] == "random") & (every["scope"] == "all")]
    for run in (name for name in ones if name in others):
        first, second = (100 * curve_mean(rows[run], *KEPT) for rows in (ones, others))
        draws = [rows for (of, _), rows in every.groupby(["run", "draw"]) if str(of) == run]
        means = [100 * curve_mean(where(rows, metric="bleu"), *KEPT) for rows in draws]
        known = not means or surely_above(second, np.mean(means, axis=0))
        yield case(study, newcombe(first, second), run, known=known)


def kept_in_training(study: Study, share: str, first_epoch: str, last_epoch: str = "1000") -> Cases:
    frame = epochs(study, first_epoch, last_epoch)
    for run, of_run in runs(frame):
        for epoch in dict.fromkeys(of_run["epoch"]):
            row = nearest(of_run[of_run["epoch"] == epoch], float(share))
            ends = [100 * row[name] for name in KEPT]
            yield case(study, ends, run, f"epoch {epoch}", row["baseline"] >= 1)


def above_proportion(study: Study, first_epoch: str, last_epoch: str) -> Cases:
    """The mean distance of an epoch's curve from the line of 100 minus the percent pruned."""
    for (run, epoch), rows in epochs(study, first_epoch, last_epoch).groupby(["run", "epoch"]):
        distances = rows.assign(**{name: rows[name] - (1 - rows["share"]) for name in KEPT})
        ends, known = 100 * curve_mean(distances, *KEPT), rows["baseline"].min() >= 1
        yield case(study, ends, str(run), f"epoch {epoch}", known)


def epochs(study: Study, first: str, last: str) -> pd.DataFrame:
    frame = where(study.all("translation/*.training.parquet"), metric="bleu")
    return frame[frame["epoch"].between(int(first), int(last))]


def masked(study: Study, unit: str, split: str) -> Iterator[tuple[str, pd.DataFrame]]:
    frame = study.all("translation/*.scores.parquet")
    yield from runs(where(frame, unit=unit, split=split, mode="zero", metric="bleu"))


def best_left(study: Study, chosen_on: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Of each type and layer the head that is best alone on a set, as measured on the test set."""
    measured = dict(masked(study, "all-but-one", "test"))
    for run, rows in masked(study, "all-but-one", chosen_on):
        kept = []
        for (kind, layer), heads in rows.groupby(["type", "layer"]):
            best = heads.sort_values("effect", ascending=False, kind="stable").iloc[0]["head"]
            kept.append(where(measured[run], type=kind, layer=layer, head=best))
        yield run, pd.concat(kept)


def type_gap(study: Study, effect: str) -> Cases:
    frame = where(study.all("translation/*.types.parquet"), split="test", type=CROSS)
    for row in frame[frame["measure"] == effect].to_dict("records"):
        if row["other"]:
            part = f"Enc-Dec minus {TITLES[row['other']]}"
            ends = (row[name] for name in ("value", "ci_low", "ci_high"))
            yield case(study, ends, str(row["run"]), part)


def one_head_left(study: Study, layers: str, chosen_on: str) -> Cases:
    for run, rows in best_left(study, chosen_on):
        last = (rows["type"] == CROSS) & (rows["layer"] == max(rows["layer"]))
        row = rows[last == (layers == "last")].sort_values("effect").iloc[0]
        yield case(study, row[["effect", "ci_low", "ci_high"]], run)


def free_of_loss(study: Study, run: str, rows: pd.DataFrame, level: str, most: str) -> Case:
    free = [not (row.effect < 0 and row.p_paper < float(level)) for row in rows.itertuples()]
    sure = rows["ci_low"].to_numpy() > -float(most)
    return case(study, without_loss(np.array(free), sure), run)


def translator_layers_of_one_head(study: Study, chosen_on: str, level: str, most: str) -> Cases:
    for run, rows in best_left(study, chosen_on):
        yield free_of_loss(study, run, rows, level, most)


def translator_heads_without_loss(study: Study, attention: str, level: str, most: str) -> Cases:
    for run, rows in masked(study, "head", "test"):
        yield free_of_loss(study, run, where(rows, type=attention), level, most)


def significant_heads(study: Study, attention: str, level: str) -> Cases:
    for run, rows in masked(study, "head", "test"):
        changed = where(rows, type=attention)["p_paper"] < float(level)
        ends = wilson(sum(changed), len(changed))
        yield case(study, (100 * np.mean(changed), *ends), run)


def better_heads(study: Study, attention: str, level: str) -> Cases:
    for run, rows in masked(study, "head", "test"):
        rows = where(rows, type=attention)
        better = rows["effect"][rows["p_paper"] < float(level)] > 0
        if len(better):
            ends = wilson(sum(better), len(better))
            yield case(study, (100 * np.mean(better), *ends), run)


def translator_agreement(study: Study, correlation: str) -> Cases:
    wanted = {"mode": "zero", "metric": "bleu", "type": "all"}
    table = study.rows("tables/michel2019-translation-pairs.csv", **wanted)
    rows = where(table, kind="splits", one="test")
    rows = rows[rows["other"] != "validation"]
    for row in rows.to_dict("records"):
        ends = (row[f"pearson{end}"] for end in ("", "_low", "_high"))
        halves = where(table, kind="halves", run=row["run"]).set_index("one")["pearson"]
        known = attenuated(halves["test"], halves[row["other"]]) >= float(correlation)
        yield case(study, ends, str(row["run"]), f"test and {row['other']}", known)
