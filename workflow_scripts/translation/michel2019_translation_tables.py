"""Michel et al. 2019, Tables 1 and 2 and section 3.4: heads of translators masked or left alone."""

from itertools import combinations
from pathlib import Path

import pandas as pd

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import ATTENTION_TYPES, head_label, head_labels
from workflow_scripts.core.run import job
from workflow_scripts.core.stats import bootstrap as stats_bootstrap
from workflow_scripts.core.stats.translation_metrics import METRICS
from workflow_scripts.translation.translation_scores import CHOSEN_ON, HEAD

SCORE = ["baseline", "score", "effect", "ci_low", "ci_high", "p", "p_corrected"]
SCORE += ["p_corrected_error", "p_paper"]
LAST = ["capped", "n", "signature"]
ALL = "all"  # types together


def titled(types: pd.Series) -> pd.Series:
    """Types of attention, named for people."""
    return types.map({"": ALL} | ATTENTION_TYPES)


def every_head(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per run, split, mode, metric and head that is masked alone, the worst first."""
    rows = scores[scores["unit"] == "head"]
    sign = rows["metric"].map({name: metric.sign for name, metric in METRICS.items()})
    rows = rows.assign(harm=sign * rows["effect"])
    rows = rows.sort_values(["run", "split", "mode", "metric", "harm"], kind="stable")
    rows = rows.assign(type=titled(rows["type"]), head=head_labels(rows))
    return rows[["run", "split", "mode", "metric", "type", "head", *SCORE, *LAST]]


def best_alone(scores: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """One row per run, mode and sublayer, for every other split and metric: the best head alone.

    It is the head with the highest BLEU on the validation set, `validation` its effect there. On
    the split itself are measured `effect` with its interval and its p-values, and `gain`, of the
    head that is best on one half, on the other one.
    """
    left = scores[scores["unit"] == "all-but-one"]
    keys = ["run", "mode", "type", "layer"]
    judged = left[(left["split"] == CHOSEN_ON) & (left["metric"] == "bleu")]
    best = judged.loc[judged.groupby(keys, sort=False)["effect"].idxmax(), [*keys, "head"]]
    rows = best.merge(left, on=[*keys, "head"])
    there = rows[rows["split"] == CHOSEN_ON].rename(columns={"effect": CHOSEN_ON})
    rows = rows[rows["split"] != CHOSEN_ON].merge(
        there[[*keys, "metric", CHOSEN_ON]], on=[*keys, "metric"]
    )
    gained = [*keys, "split", "metric", "gain", "gain_low", "gain_high"]
    gains = gains.loc[gains["unit"] == "all-but-one", gained]
    rows = rows.merge(gains, on=[*keys, "split", "metric"])
    rows = rows.assign(head=head_labels(rows), type=titled(rows["type"]), layer=rows["layer"] + 1)
    columns = ["run", "split", "mode", "metric", "type", "layer", "head", CHOSEN_ON, *SCORE]
    return rows[[*columns, "gain", "gain_low", "gain_high", *LAST]]


def compared_types(types: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    """The measures by type on BLEU, with the head of `most hurt`.

    With them, as measure `best head masked`, the gain of masking the head that is best masked on
    one half of the sentences, measured on the other half; its interval resamples sentences.
    """
    named = [
        head_label(layer, head) if head >= 0 else ""
        for layer, head in zip(types["layer"], types["head"], strict=True)
    ]
    gains = gains[(gains["unit"] == "head") & (gains["mode"] == "zero")]
    gains = gains[(gains["metric"] == "bleu") & gains["split"].isin(types["split"])]
    ends = {"gain": "value", "gain_low": "ci_low", "gain_high": "ci_high"}
    gains = gains.rename(columns=ends).assign(measure="best head masked", other="", head="")
    columns = ["run", "split", "measure", "type", "other", "head", *ends.values(), "n"]
    rows = pd.concat([types.assign(head=named)[columns], gains[columns]], ignore_index=True)
    other = titled(rows["other"]).where(rows["other"] != "", "")
    return rows.assign(type=titled(rows["type"]), other=other)


def split_pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """The effects of every masked head on each two splits, `one` and `other`, as x and y.

    With the splits' numbers of sentences, n_one and n_other.
    """
    heads, keys = scores[scores["unit"] == "head"], ["run", "mode", "metric", *HEAD]
    parts = []
    for one, other in combinations(heads["split"].unique(), 2):
        left, right = (
            heads.loc[heads["split"] == split, [*keys, "effect", "n"]] for split in (one, other)
        )
        both = left.merge(right, on=keys, suffixes=("_one", "_other"))
        names = {"effect_one": "x", "effect_other": "y"}
        parts.append(both.rename(columns=names).assign(one=one, other=other))
    return pd.concat(parts, ignore_index=True)


def agreement(points: pd.DataFrame, gains: pd.DataFrame, draws: int, seed: int) -> pd.DataFrame:
    """Correlations over heads, of all types and of each: a row per run, mode, metric and pair.

    `splits`: effects on two splits, with intervals that draw heads; `halves`: on two random halves
    of one split, each with half of its sentences, the mean and the range over divisions.
    """
    keys, rows = ["run", "mode", "metric", "one", "other"], []
    for values, group in points.groupby(keys, sort=False):
        about = {"kind": "splits"} | dict(zip(keys, values, strict=True))
        for name in ("", *group["type"].unique()):
            heads = group[group["type"] == name] if name else group
            found = stats_bootstrap.correlations(
                heads["x"].to_numpy(), heads["y"].to_numpy(), draws, seed
            )
            rows.append(about | {"type": name} | found)
    ends = [f"{name}{end}" for name in ("pearson", "spearman") for end in ("", "_low", "_high")]
    halves = gains[gains["unit"] == "head"].rename(columns={"split": "one"})
    halves = halves.assign(kind="halves", other="other half", n=halves["choices"])
    columns = ["kind", "run", "mode", "metric", "type", "one", "other", *ends, "n"]
    frame = pd.concat([pd.DataFrame(rows), halves], ignore_index=True)[columns]
    return frame.assign(type=titled(frame["type"]))


def main(
    scores: list[Path],
    types: list[Path],
    gains: list[Path],
    heads: job.Out,
    alone: job.Out,
    by_type: job.Out,
    pairs: job.Out,
    points: job.Out,
    bootstrap: int,
    seed: int,
) -> None:
    """Write both tables, the comparison of types, and how well effects agree across splits."""
    scored, gained = tables.read_all(scores), tables.read_all(gains)
    both = split_pairs(scored)
    tables.write_csv(every_head(scored), heads)
    tables.write_csv(best_alone(scored, gained), alone)
    tables.write_csv(compared_types(tables.read_all(types), gained), by_type)
    tables.write_csv(agreement(both, gained, bootstrap, seed), pairs)
    tables.write(both, points)


if __name__ == "__main__":
    job.run(main, globals())
