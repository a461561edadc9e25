"""Scores of made-up sweeps, against loops over sacrebleu itself on samples of the sentences."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sacrebleu

from tests.translation.made_up_sweeps import RATES, references, sweep
from workflow_scripts.core.data import tables
from workflow_scripts.core.run.job import call
from workflow_scripts.core.stats import bootstrap
from workflow_scripts.core.stats.translation_metrics import METRICS
from workflow_scripts.translation import translation_scores
from workflow_scripts.translation.translation_scores import (
    BUT_LAST,
)

DRAWS, SEED = 12, 3
SETTINGS = {"bootstrap": DRAWS, "permutations": 40, "halves": 8, "seed": SEED}
SPLITS = {"validation": 10, "test": 30}
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
    return [np.repeat(np.arange(n), w) for w in bootstrap.observed_and_resampled(n, DRAWS, SEED)]


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
    """The sentences of each set are exchanged, and both corpora scored anew, for a head.

    The last sentence stays: without its exchange all effects have the other sign.
    """
    plainly = Plainly(made_up, "validation")
    frame = pd.read_parquet(made_up / "scores").set_index(["split", "unit", "mode", "metric"])
    found = frame.loc[("validation", "head", "zero", metric)]
    n = SPLITS["validation"]
    sets = np.array(list(product([False, True], repeat=n - 1)))
    both = pd.concat([plainly.plain, next(iter(plainly.variants.values()))])
    effects = []
    for inside in np.pad(sets, ((0, 0), (0, 1))):
        places = np.arange(n) + n * inside, np.arange(n) + n * ~inside
        first, second = (plainly.score(metric, both.iloc[at], np.arange(n)) for at in places)
        effects.append(abs(second - first))
    exact = np.mean(np.array(effects) >= effects[0] - 1e-9)
    assert found["p"].iloc[0] == pytest.approx(exact)
    assert (found["p_corrected"] >= found["p"]).all()
    assert found["p"].nunique() > 3


@pytest.mark.parametrize(
    ("metric", "unit", "place"),
    [
        ("bleu", "head", ("", -1)),
        ("loss", "head", ("decoder", -1)),
        ("bleu", "all-but-one", ("encoder-decoder", 1)),
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
    gains, halves = [], bootstrap.half_weights(30, 8, SEED).astype(bool)
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


def test_types_by_plain_loops(made_up: Path) -> None:
    everything = {"validation": [np.arange(SPLITS["validation"])], "test": samples(30)}
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
