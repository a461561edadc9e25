"""Scores of made-up sweeps, against loops over sacrebleu itself on samples of the sentences."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu

from tests.translation.made_up_sweeps import RATES, references, sweep
from workflow_scripts.core.data import tables
from workflow_scripts.core.run.job import call
from workflow_scripts.core.stats import randomisation, resampling, swaps
from workflow_scripts.core.stats.translation_metrics import METRICS
from workflow_scripts.translation import translation_scores
from workflow_scripts.translation.translation_scores import (
    BUT_LAST,
    COLUMNS,
    Effects,
    best_left,
    by_type,
)

DRAWS, SEED = 12, 3
SETTINGS = {"bootstrap": DRAWS, "permutations": 40, "halves": 8, "seed": SEED}
SPLITS = {"validation": 12, "test": 30}
MODES = ("zero", "uniform")
HEAD = ["type", "layer", "head"]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a made-up sweep in shuffled order of variants, and its scores."""
    folder = tmp_path_factory.mktemp("scores")
    tables.write(sweep("2", SPLITS, (2, 2), MODES), folder / "sweep")
    outputs = {name: folder / name for name in ("scores", "gain", "types")}
    call(translation_scores.main, {"sweep": folder / "sweep"} | outputs | SETTINGS)
    return folder


class Plainly:
    """A metric of some sentences of a variant, by sacrebleu or by a plain mean."""

    def __init__(self, folder: Path, split: str, unit: str = "head", mode: str = "zero") -> None:
        frame = pd.read_parquet(folder / "sweep")
        frame = frame[frame["split"] == split]
        self.truth = references(SPLITS[split], list(SPLITS).index(split))
        self.plain = frame[frame["unit"] == "none"]
        chosen = frame[(frame["unit"] == unit) & (frame["mode"] == mode)]
        self.variants = dict(iter(chosen.groupby(HEAD, sort=False)))

    def score(self, metric: str, rows: pd.DataFrame, sampled: np.ndarray) -> float:
        """The metric of the sentences `sampled`, each as often as it is there."""
        if metric == "loss":
            return rows["loss"].iloc[sampled].sum() / rows["tokens"].iloc[sampled].sum()
        made, true = rows["translation"].iloc[sampled].tolist(), [self.truth[i] for i in sampled]
        corpus = {"bleu": sacrebleu.corpus_bleu, "chrf": sacrebleu.corpus_chrf}[metric]
        return corpus(made, [true]).score

    def effects(self, metric: str, samples: list[np.ndarray]) -> np.ndarray:
        """Effects [sample, variant]."""
        plain = [self.score(metric, self.plain, sampled) for sampled in samples]
        scores = [
            [self.score(metric, rows, sampled) for sampled in samples]
            for rows in self.variants.values()
        ]
        return np.subtract(scores, plain).T


def samples(n: int) -> list[np.ndarray]:
    """The sentences of the bootstrap samples, the observed one first."""
    return [np.repeat(np.arange(n), w) for w in resampling.observed_and_resampled(n, DRAWS, SEED)]


@pytest.mark.parametrize(
    ("metric", "unit", "mode"),
    [("bleu", "head", "zero"), ("chrf", "all-but-one", "uniform"), ("loss", "head", "uniform")],
)
def test_scores_and_intervals_are_those_of_plain_loops(
    made_up: Path, metric: str, unit: str, mode: str
) -> None:
    plainly = Plainly(made_up, "test", unit, mode)
    effects = plainly.effects(metric, samples(30))
    frame = pd.read_parquet(made_up / "scores").set_index(["split", "unit", "mode", "metric"])
    rows = frame.loc[("test", unit, mode, metric)]
    assert list(rows[HEAD].itertuples(index=False, name=None)) == list(plainly.variants)
    assert (rows["run"] == "2").all() and (rows["n"] == 30).all()
    baseline = plainly.score(metric, plainly.plain, np.arange(30))
    np.testing.assert_allclose(rows["baseline"], baseline)
    np.testing.assert_allclose(rows["effect"], effects[0], atol=1e-9)
    np.testing.assert_allclose(rows["score"], baseline + effects[0])
    np.testing.assert_allclose(rows["ci_low"], np.percentile(effects[1:], 2.5, axis=0), atol=1e-9)
    np.testing.assert_allclose(rows["ci_high"], np.percentile(effects[1:], 97.5, axis=0), atol=1e-9)
    capped = [int(variant["capped"].sum()) for variant in plainly.variants.values()]
    assert rows["capped"].tolist() == capped and sum(capped) > 0
    if metric != "bleu":
        assert rows["p_paper"].isna().all()
        return
    same_side = (np.sign(effects) == np.sign(effects[0])) & (effects[0] != 0)
    against = (~same_side[1:]).sum(axis=0)
    np.testing.assert_allclose(rows["p_paper"], (1 + against) / (1 + DRAWS))
    assert rows["p_paper"].nunique() > 2


@pytest.mark.parametrize("metric", ["bleu", "loss"])
def test_p_values_are_those_of_swapped_translations(made_up: Path, metric: str) -> None:
    """In each draw the sentences of a random set are exchanged, and both corpora scored anew."""
    plainly = Plainly(made_up, "validation")
    everything = np.arange(12)
    null_effects = []
    for inside in np.concatenate(list(swaps.swap_sets(12, 40, SEED))):
        row = []
        for rows in plainly.variants.values():
            both = pd.concat([plainly.plain, rows])
            places = np.arange(12) + 12 * inside, np.arange(12) + 12 * ~inside
            first, second = (plainly.score(metric, both.iloc[at], everything) for at in places)
            row.append(second - first)
        null_effects.append(row)
    effects = plainly.effects(metric, [everything])[0]
    expected = randomisation.smallest_p(effects, np.array(null_effects))
    frame = pd.read_parquet(made_up / "scores").set_index(["split", "unit", "mode", "metric"])
    rows = frame.loc[("validation", "head", "zero", metric)]
    np.testing.assert_allclose(rows["p"], expected.p)
    np.testing.assert_allclose(rows["p_corrected"], expected.corrected)
    assert rows["p"].nunique() > 3


@pytest.mark.parametrize(
    ("metric", "unit", "place"),
    [
        ("bleu", "head", ("", -1)),
        ("loss", "head", ("decoder", -1)),
        ("chrf", "head", ("", -1)),
        ("bleu", "all-but-one", ("encoder-decoder", 1)),
        ("loss", "all-but-one", ("encoder", 0)),
    ],
)
def test_honest_gains_are_those_of_plain_loops(
    made_up: Path, metric: str, unit: str, place: tuple[str, int]
) -> None:
    plainly = Plainly(made_up, "test", unit)
    chosen = [
        number
        for number, (kind, layer, _) in enumerate(plainly.variants)
        if place[0] in ("", kind) and place[1] in (-1, layer)
    ]
    gains, halves = [], resampling.half_weights(30, 8, SEED).astype(bool)
    for half in halves:
        sides = [np.flatnonzero(half), np.flatnonzero(~half)]
        one, other = METRICS[metric].sign * plainly.effects(metric, sides)[:, chosen]
        gains += [other[one.argmax()], one[other.argmax()]]
    whole = METRICS[metric].sign * plainly.effects(metric, [np.arange(30)])[0, chosen]
    frame = pd.read_parquet(made_up / "gain")
    frame = frame[(frame["split"] == "test") & (frame["unit"] == unit) & (frame["mode"] == "zero")]
    row = frame.set_index(["metric", "type", "layer"]).loc[(metric, *place)]
    assert row["choices"] == len(chosen)
    assert row["gain"] == pytest.approx(np.mean(gains))
    assert row["naive"] == pytest.approx(whole.max())
    assert np.isfinite(row["pearson"]) == (unit == "head")


def test_the_gains_that_there_are(made_up: Path) -> None:
    frame = pd.read_parquet(made_up / "gain")
    places = frame[["unit", "type", "layer"]].drop_duplicates()
    sublayers = [("all-but-one", kind, layer) for kind in RATES for layer in (0, 1)]
    heads = [("head", kind, -1) for kind in ("", *RATES)]
    assert sorted(places.itertuples(index=False, name=None)) == sorted([*sublayers, *heads])
    assert len(frame) == len(SPLITS) * len(MODES) * len(METRICS) * len(places)


def test_types_by_plain_loops(made_up: Path) -> None:
    everything = {"validation": [np.arange(12)], "test": samples(30)}
    effects = {
        (split, unit): Plainly(made_up, split, unit).effects("bleu", sampled)
        for split, sampled in everything.items()
        for unit in ("head", "all-but-one")
    }
    cells = list(Plainly(made_up, "test").variants)
    frame = pd.read_parquet(made_up / "types")
    assert frame["split"].unique().tolist() == ["test"]
    frame = frame.set_index(["measure", "type", "other"])
    means: dict[tuple[str, str], np.ndarray] = {}
    for kind in RATES:
        best = {}
        for layer in (0, 1):
            places = [at for at, cell in enumerate(cells) if cell[:2] == (kind, layer)]
            best[layer] = max(places, key=lambda at: effects["validation", "all-but-one"][0, at])
        worst = min(best.values(), key=lambda at: effects["validation", "all-but-one"][0, at])
        heads = [at for at, cell in enumerate(cells) if cell[0] == kind]
        means["one head", kind] = effects["test", "head"][:, heads].mean(axis=1)
        left = effects["test", "all-but-one"]
        means["best head left", kind] = left[:, list(best.values())].mean(axis=1)
        means[BUT_LAST, kind] = left[:, best[0]]
        means["most hurt", kind] = left[:, worst]
        row = frame.loc[("most hurt", kind, "")]
        assert (row["layer"], row["head"]) == cells[worst][1:]
    for (measure, kind, other), row in frame.iterrows():
        values = means[measure, kind] - (means[measure, other] if other else 0)
        assert row["value"] == pytest.approx(values[0])
        assert row["ci_low"] == pytest.approx(np.percentile(values[1:], 2.5))
        assert row["ci_high"] == pytest.approx(np.percentile(values[1:], 97.5))
        assert row["n"] == 30
    assert len(frame) == 4 * 3 * 3


def test_the_best_head_is_the_one_that_validation_chose() -> None:
    """On the test sentences another head would be better."""
    cells = pd.DataFrame(
        [
            (kind, layer, head)
            for kind in ("encoder", "decoder")
            for layer in (0, 1)
            for head in (0, 1)
        ],
        columns=HEAD,
    )
    chosen_on = np.array([[-1.0, -2.0, -5.0, -4.0, -1.0, -0.5, 0.0, -3.0]])
    test = np.array([[-9.0, 0.0, -7.0, -3.0, -2.0, -6.0, -8.0, 1.0]])
    best = best_left(Effects(cells, chosen_on, 5))
    assert best["head"].tolist() == [0, 1, 1, 0]
    effects = Effects(cells, np.concatenate([test, test - 1, test + 1]), 4)
    frame = by_type(effects, effects, best).set_index(["measure", "type", "other"])
    assert frame.loc[("best head left", "encoder", ""), "value"] == (-9 - 3) / 2
    assert frame.loc[(BUT_LAST, "encoder", ""), "value"] == -9
    assert frame.loc[(BUT_LAST, "decoder", "encoder"), "value"] == -6 + 9
    assert frame.loc[("most hurt", "encoder", ""), "value"] == -3  # its layer lost most before
    assert frame.loc[("most hurt", "decoder", ""), "value"] == -6
    assert frame.loc[("most hurt", "decoder", "encoder"), "value"] == -3
    assert frame.loc[("one head", "decoder", ""), "value"] == (-2 - 6 - 8 + 1) / 4
    assert frame.loc[("most hurt", "decoder", "encoder"), "ci_high"] == -3  # paired


def test_a_sweep_with_a_sentence_missing_is_refused(tmp_path: Path) -> None:
    frame = sweep("1", {"validation": 4, "test": 4}, (1, 2))
    tables.write(frame.drop(frame.index[-1]), tmp_path / "sweep")
    with pytest.raises(RuntimeError, match="not every variant has all sentences"):
        list(translation_scores.read_sweep(tmp_path / "sweep"))


def test_the_order_of_a_sweeps_rows_does_not_matter(made_up: Path, tmp_path: Path) -> None:
    frame = pd.read_parquet(made_up / "sweep")
    by_sentence = frame.sort_values(
        "id", key=lambda ids: ids.str.extract(r"(\d+)$")[0].astype(int), kind="stable"
    )
    assert by_sentence["unit"].iloc[:4].tolist() == ["none", "none", "head", "all-but-one"]
    tables.write(by_sentence, tmp_path / "sweep")
    one, other = (
        list(translation_scores.read_sweep(path / "sweep")) for path in (made_up, tmp_path)
    )
    for left, right in zip(one, other, strict=True):
        assert (left.split, left.unit, left.mode) == (right.split, right.unit, right.mode)
        pd.testing.assert_frame_equal(left.cells, right.cells)
        for metric in METRICS:
            np.testing.assert_array_equal(left.summands[metric], right.summands[metric])


def test_a_head_that_changes_nothing_has_no_effect(tmp_path: Path) -> None:
    frame = sweep("1", {"validation": 6, "test": 6}, (1, 2)).reset_index(drop=True)
    one = (frame["unit"] == "head") & (frame["type"] == "decoder") & (frame["head"] == 1)
    changed = ["translation", *COLUMNS[9:]]
    for split, rows in frame[frame["unit"] == "none"].groupby("split"):
        for column in changed:
            frame.loc[one & (frame["split"] == split), column] = rows[column].to_numpy()
    tables.write(frame, tmp_path / "sweep")
    outputs = {name: tmp_path / name for name in ("scores", "gain", "types")}
    call(translation_scores.main, {"sweep": tmp_path / "sweep"} | outputs | SETTINGS)
    scores = pd.read_parquet(tmp_path / "scores")
    rows = scores[
        (scores["unit"] == "head") & (scores["type"] == "decoder") & (scores["head"] == 1)
    ]
    assert len(rows) == 6
    assert (rows[["effect", "ci_low", "ci_high"]] == 0).all(axis=None)
    assert (rows[["p", "p_corrected"]] == 1).all(axis=None)
    assert (rows.loc[rows["metric"] == "bleu", "p_paper"] == 1).all()
