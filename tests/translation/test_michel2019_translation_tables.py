"""Tables of masked heads, by hand and from made-up scores."""

import pandas as pd
import pytest
from scipy import stats

from tests.translation import made_up_scores
from workflow_scripts.translation import michel2019_translation_tables as printed

SPLITS = ("validation", "test", "speech")
TYPES = ["Enc-Enc", "Enc-Dec", "Dec-Dec"]


def scored() -> pd.DataFrame:
    """Scores of two runs on three splits."""
    runs = [made_up_scores.scores(run, splits=SPLITS, seed=int(run)) for run in ("1", "2")]
    return pd.concat(runs, ignore_index=True)


def test_table1_has_every_head_the_worst_first() -> None:
    frame = scored()
    table = printed.every_head(frame)
    assert len(table) == 2 * 3 * 3 * 18  # runs, splits, metrics, heads
    for (_, _, metric), rows in table.groupby(["run", "split", "metric"]):
        worst = rows["effect"] if metric != "loss" else -rows["effect"]
        assert worst.is_monotonic_increasing
        assert rows.groupby("type").size().to_dict() == dict.fromkeys(TYPES, 6)
    row = table[(table["type"] == "Enc-Dec") & (table["head"] == "2-3")].iloc[0]
    source = frame[(frame["type"] == "encoder-decoder") & (frame["unit"] == "head")]
    for key in ("run", "split", "metric"):
        source = source[source[key] == row[key]]
    source = source[(source["layer"] == 1) & (source["head"] == 2)].iloc[0]
    for name in ("baseline", "score", "effect", "ci_low", "ci_high", "p_corrected", "p_paper", "n"):
        assert row[name] == source[name]


def test_table2_is_chosen_on_validation_and_measured_elsewhere() -> None:
    """On validation the second head is best, on the test set the first one would be."""
    frame = made_up_scores.scores(shape=(2, 2), splits=("validation", "test"))
    effects = {("validation", 0): -3, ("validation", 1): -1, ("test", 0): -2, ("test", 1): -5}
    for (split, head), effect in effects.items():
        one = (frame["split"] == split) & (frame["head"] == head) & (frame["metric"] == "bleu")
        frame.loc[one, "effect"] = float(effect)
    table = printed.best_alone(frame, made_up_scores.gains(frame))
    assert table["split"].unique().tolist() == ["test"]
    assert len(table) == 3 * 3 * 2  # metrics, types, layers
    rows = table[table["metric"] == "bleu"]
    assert rows["type"].tolist() == [TYPES[0]] * 2 + [TYPES[1]] * 2 + [TYPES[2]] * 2
    assert rows["layer"].tolist() == [1, 2] * 3
    assert rows["head"].tolist() == ["1-2", "2-2"] * 3
    assert (rows["validation"] == -1).all() and (rows["effect"] == -5).all()
    assert rows["gain"].tolist() == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    loss = table[table["metric"] == "loss"]
    assert loss["head"].tolist() == rows["head"].tolist()  # one head, whatever the metric
    wanted = frame[(frame["split"] == "test") & (frame["unit"] == "all-but-one")]
    wanted = wanted[(wanted["metric"] == "loss") & (wanted["head"] == 1)]
    assert loss["effect"].tolist() == wanted["effect"].tolist()


def test_heads_agree_across_splits() -> None:
    frame = scored()
    points = printed.split_pairs(frame)
    pairs = points[["one", "other"]].drop_duplicates().values.tolist()
    assert pairs == [["validation", "test"], ["validation", "speech"], ["test", "speech"]]
    table = printed.agreement(points, made_up_scores.gains(frame), 200, 1)
    heads = frame[(frame["unit"] == "head") & (frame["metric"] == "bleu") & (frame["run"] == "2")]
    for name, kind in (("all", ""), ("Dec-Dec", "decoder")):
        chosen = heads[heads["type"] == kind] if kind else heads
        x, y = (chosen.loc[chosen["split"] == split, "effect"] for split in ("test", "speech"))
        row = table[(table["kind"] == "splits") & (table["run"] == "2") & (table["type"] == name)]
        row = row[(row["metric"] == "bleu") & (row["one"] == "test")].iloc[0]
        assert row["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
        assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
        assert row["pearson_low"] < row["pearson"] < row["pearson_high"]
        assert row["n"] == len(x)
    halves = table[table["kind"] == "halves"]
    assert len(halves) == 2 * 3 * 3 * 4  # runs, splits, metrics, types
    assert set(halves["other"]) == {"other half"} and (halves["n"] == 3).all()
