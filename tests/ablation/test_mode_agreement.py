"""Modes of disabling compared, by hand: effects, pairs of modes, and verdicts over modes."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.stats import spearmanr

from workflow_scripts.ablation import ablation_modes
from workflow_scripts.ablation.ablation_modes import (
    Effects,
    Settings,
    effects_of_classifier,
    effects_of_decoder,
)
from workflow_scripts.claims import michel
from workflow_scripts.claims.products import Products
from workflow_scripts.core.data import tables
from workflow_scripts.core.stats import agreement, bootstrap
from workflow_scripts.core.stats.agreement import ranks

N, HEADS, MODES = 40, 6, ("uniform", "zero", "resample")
SETTINGS = Settings(bootstrap=200, permutations=700, seed=1, points=1, nats=0.01)


def swept() -> tuple[pd.DataFrame, pd.DataFrame]:
    """A made-up sweep of a classifier of two labels: logits, and the scores' tests."""
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(N, 2))
    labels = (plain[:, 1] + rng.normal(size=N) > plain[:, 0]).astype(int)
    common = {"label": labels, "id": [str(at) for at in range(N)], "split": "dev", "seed": 1}

    def rows(logits: np.ndarray, **names: object) -> pd.DataFrame:
        columns = {"logit_0": logits[:, 0], "logit_1": logits[:, 1], "task": "sst2"}
        return pd.DataFrame(common | columns | names)

    frames, tests = [rows(plain, unit="none", mode="none", layer=-1, head=-1)], []
    for mode, index in product(MODES, range(HEADS)):
        cell = {"unit": "head", "mode": mode, "layer": index // 3, "head": index % 3}
        frames.append(rows(plain + rng.normal(size=(N, 2)) * 0.2 * (1 + index), **cell))
        tests.append(cell | {"split": "dev", "metric": "accuracy", "p_corrected": 0.2})
    return pd.concat(frames, ignore_index=True), pd.DataFrame(tests)


def test_effects_are_losses_on_the_same_samples_in_every_mode() -> None:
    frame, tests = swept()
    loss, score = effects_of_classifier(frame, tests, SETTINGS)
    weights = bootstrap.bootstrap_weights(N, 200, 1)
    halves = bootstrap.half_weights(N, agreement.DIVISIONS, 1)
    on_first_halves = np.zeros((len(MODES), agreement.DIVISIONS, HEADS))
    plain = frame[frame["unit"] == "none"]

    def nats(rows: pd.DataFrame) -> np.ndarray:
        found = []
        for row in rows.itertuples():
            exponents = np.exp([row.logit_0, row.logit_1])
            found.append(-np.log(exponents[row.label] / exponents.sum()))
        return np.array(found)

    def right(rows: pd.DataFrame) -> np.ndarray:
        return (rows["logit_1"] > rows["logit_0"]).to_numpy() == rows["label"].to_numpy()

    for (at, mode), index in product(enumerate(MODES), range(HEADS)):
        chosen = (frame["mode"] == mode) & (frame["layer"] == index // 3)
        rows = frame[chosen & (frame["head"] == index % 3)]
        more = nats(rows) - nats(plain)
        assert loss.draws[at, 0, index] == pytest.approx(more.mean())
        np.testing.assert_allclose(loss.draws[at, 1:, index], weights @ more / N, atol=1e-12)
        fewer = right(plain).astype(int) - right(rows)
        np.testing.assert_allclose(score.draws[at, 1:, index], weights @ fewer / N, atol=1e-12)
        on_first_halves[at, :, index] = halves @ more
        sizes = loss.sizes[at, :, index]
        np.testing.assert_allclose(sizes[1:], weights @ np.abs(more) / N, atol=1e-12)
    for found, expected in zip(loss.halves, on_first_halves, strict=True):
        np.testing.assert_array_equal(found[0][0], ranks(expected))
        assert [of.shape for of in found[1:]] == [(2, 200, HEADS)] * bootstrap.DIVISIONS_OF_SAMPLE
    assert (loss.bound, score.bound) == (0.01, 0.01)
    assert (score.corrected == 0.2).all()
    assert ((loss.corrected > 0) & (loss.corrected <= 1)).all()


def test_a_decoder_is_measured_over_documents() -> None:
    documents, tokens = ["a", "a", "b", "c"], np.array([4, 6, 5, 5])
    rng, rows = np.random.default_rng(1), []
    for mode, index in (("none", -1), *product(("zero", "mean"), range(3))):
        for at, nats in enumerate(rng.uniform(1, 2, 4) * tokens):
            row = {"unit": "none" if index < 0 else "head", "mode": mode, "layer": min(index, 0)}
            row |= {"head": index, "nats": nats, "n_tokens": tokens[at], "document": documents[at]}
            rows.append(row | {"id": str(at)})
    frame = pd.DataFrame(rows)
    effects = effects_of_decoder(frame, SETTINGS)
    plain = frame[frame["unit"] == "none"]["nats"].sum() / 20
    for (at, mode), head in product(enumerate(("zero", "mean")), range(3)):
        found = frame[(frame["mode"] == mode) & (frame["head"] == head)]["nats"].sum() / 20
        assert effects.draws[at, 0, head] == pytest.approx(found - plain)
        after = frame[(frame["mode"] == mode) & (frame["head"] == head)]["nats"].to_numpy()
        before = frame[frame["unit"] == "none"]["nats"].to_numpy()
        assert effects.sizes[at, 0, head] == pytest.approx(np.abs(after - before).sum() / 20)
    assert effects.labels["n"] == 4 and effects.labels["n_documents"] == 3


def made(observed: list[list[float]], corrected: list[list[float]], spread: float) -> Effects:
    rng = np.random.default_rng(0)
    values = np.array(observed)
    noise = rng.normal(size=(len(values), 500, values.shape[1])) * spread
    draws = np.concatenate([values[:, None], values[:, None] + noise], 1)
    heads = pd.DataFrame({"layer": 0, "head": range(values.shape[1])})
    about, modes = {"task": "sst2", "n_documents": 40}, list(MODES[: len(values)])
    # Both halves of each sample have the sample's effects.
    halves = [[ranks(np.stack([part, part])) for part in (d[:1], d[1:])] for d in draws]
    return Effects(about, heads, modes, draws, np.array(corrected), halves, 0.1)


def test_pairs_of_modes() -> None:
    one, other = [0.5, 0.3, -0.2, 0.1], [0.4, -0.3, -0.1, 0.2]
    effects = made([one, other], [[0.01, 0.01, 0.2, 0.2], [0.01, 0.01, 0.2, 0.2]], 0.01)
    (row,) = ablation_modes.pairs_of_modes(effects)
    assert row["rho"] == pytest.approx(spearmanr(one, other).statistic)
    assert row["rho_low"] <= row["rho"] <= row["rho_high"] <= 1
    assert (row["shared"], row["top"], row["chance"], row["n_heads"]) == (1, 1, 0.25, 4)
    assert row["same"] == pytest.approx(row["rho"])  # of halves without noise
    assert (row["opposite"], row["both"]) == (1, 2)  # of heads that are significant in both
    assert row["differ"] == 4  # by 0.1 and more, with a spread of 0.01
    assert (row["reliability_one"], row["reliability_other"]) == pytest.approx((1, 1))
    assert not row["too_noisy"]


def test_differences_by_hand() -> None:
    observed = [[0.5, 0.30, 0.0], [0.4, 0.28, 0.0], [0.5, 0.28, 0.0]]
    effects = made(observed, [[1, 1, 1]] * 3, 0.01)
    p = []
    for one, other in combinations(range(3), 2):
        for head in range(3):
            error = np.std(effects.draws[one, 1:, head] - effects.draws[other, 1:, head])
            z = abs(observed[one][head] - observed[other][head]) / error
            p.append(2 * stats.t.sf(z, 39))
    order = np.argsort(p)
    expected, largest = np.empty(9), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, p[at] * (9 - rank)))
        expected[at] = largest
    found = ablation_modes.differences(effects)
    np.testing.assert_allclose(found.ravel(), expected)
    assert (found < 0.05).tolist() == [[True, False, False], [False] * 3, [True, False, False]]


def test_ties_for_the_last_place_share_it() -> None:
    inside = ablation_modes.inside(np.array([[3.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]), 2)
    assert inside.tolist() == [[1, 0.5, 0.5, 0], [0.5] * 4]


def test_verdicts_over_modes() -> None:
    observed = [[0.5, 0.5, 0.5, 0.0, -0.5, 0.3], [0.5, 0.0, 0.5, 0.0, -0.5, -0.3]]
    corrected = [[0.01, 0.01, 0.01, 1, 0.01, 0.2], [0.01, 1, 0.2, 1, 0.01, 0.2]]
    frame = ablation_modes.verdicts_by_head(made(observed, corrected, 0.01))
    assert frame["verdict_uniform"].tolist() == ["loss"] * 3 + [
        "equivalent",
        "gain",
        "cannot tell",
    ]
    second = ["loss", "equivalent", "cannot tell", "equivalent", "gain", "cannot tell"]
    assert frame["verdict_zero"].tolist() == second
    depends = "depends on the mode"
    expected = ["in all modes", depends, "in some modes", "no effect shown", "in all modes"]
    assert frame["verdict"].tolist() == [*expected, depends]
    assert (frame["low_zero"] < frame["effect_zero"]).all()


@pytest.mark.parametrize(
    ("reliability", "because"),
    [
        (0.2, "too noisy: effects need a reliability of 0.3, which 69 examples would give"),
        (0.0, "too noisy: effects need a reliability of 0.3"),
        (0.3, ""),
    ],
)
def test_claims_on_modes_need_reliable_effects(
    reliability: float, because: str, tmp_path: Path
) -> None:
    noisy = reliability < agreement.RELIABLE
    names = ("rho", "rho_low", "rho_high")
    row = dict.fromkeys(names, np.nan) if noisy else dict(zip(names, (0.7, 0.6, 0.8), strict=True))
    row |= {"reliability_one": reliability, "reliability_other": 0.4, "too_noisy": noisy, "n": 40}
    row |= {"n_needed": agreement.n_needed(reliability, 40), "n_heads": 72, "seed": 1}
    rows = [row | {"task": "sst2", "of": "loss", "one": "uniform", "other": "zero"}]
    path = tmp_path / "tables" / "ablation-modes.csv"
    path.parent.mkdir()
    tables.write_csv(pd.DataFrame(rows), path)
    (number,) = michel.modes_rank(Products([path]), "uniform", "zero")
    assert number.because == because
    assert number.about == f"72 heads; reliability of the effects {reliability:.2f} and 0.40"
    assert np.isnan(number.value) == noisy and number.n == 40
