"""Sweeps and their scores: whole scripts on a tiny model, and tables with a known truth."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import ttest_1samp

from tests.ablation.builders import checkpoint_in
from tests.core.tiny_models import HEADS, LAYERS, tokenizer, uniform_heads
from workflow_scripts.ablation import ablation_scores, ablation_sweep, michel2019_tables
from workflow_scripts.ablation.michel2019_tables import best_left, one_head, summary
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.tables import sample
from workflow_scripts.core.data.tasks import TASKS, split_of
from workflow_scripts.core.model import attention
from workflow_scripts.core.model.attention import watching
from workflow_scripts.core.model.classifiers import load_classifier, logits_of, tokens_of
from workflow_scripts.core.model.interventions import Disabled, Gates, averages_of
from workflow_scripts.core.run.job import call
from workflow_scripts.core.stats.metrics import score
from workflow_scripts.core.stats.randomisation import OfMetric
from workflow_scripts.core.stats.randomisation import test as randomisation_test

N_DEV = 20
UNITS = {"head": ["uniform", "zero", "mean"], "layer": ["uniform", "mean"], "all-but-one": ["zero"]}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a classifier, its task with two development sets, and the sweep's products."""
    folder = tmp_path_factory.mktemp("sweep")
    arguments = checkpoint_in(folder) | {"units": UNITS, "examples": 0, "reference": 8}
    call(ablation_sweep.main, arguments | {"logits": folder / "logits"})
    settings = {"bootstrap": 100, "permutations": 500, "halves": 10, "seed": 1}
    outputs = {name: folder / name for name in ("scores", "gain", "found", "covariance")}
    call(ablation_scores.main, {"logits": folder / "logits"} | outputs | settings)
    return folder


def test_every_row_is_what_the_plain_model_predicts(swept: Path) -> None:
    frame = pd.read_parquet(swept / "logits")
    model = load_classifier(swept / "mnli.finetuned.3", torch.device("cpu"))
    table = tables.read(swept / "mnli.parquet")
    dev = split_of(table, "dev")
    tokens = tokens_of(dev, tokenizer(), 32, 128)
    named = ["logit_0", "logit_1", "logit_2"]

    def rows(**keys: object) -> np.ndarray:
        chosen = frame["split"] == "dev"
        for key, value in keys.items():
            chosen &= frame[key] == value
        assert frame[chosen]["id"].tolist() == dev["id"].tolist()
        assert frame[chosen]["label"].tolist() == dev["label"].tolist()
        return frame[chosen][named].to_numpy()

    np.testing.assert_allclose(rows(unit="none"), logits_of(model, tokens), atol=2e-5)
    attention.open_attention(model)
    with watching(model, uniform_heads(model, [(1, 2)])):
        expected = logits_of(model, tokens)
    actual = rows(unit="head", mode="uniform", layer=1, head=2)
    np.testing.assert_allclose(actual, expected, atol=2e-5)
    xi = torch.ones(LAYERS, HEADS)
    xi[2] = 0
    xi[2, 1] = 1
    with watching(model, Gates(xi)):
        expected = logits_of(model, tokens)
    actual = rows(unit="all-but-one", mode="zero", layer=2, head=1)
    np.testing.assert_allclose(actual, expected, atol=2e-5)
    layer = rows(unit="layer", mode="mean", layer=0)
    assert np.abs(layer - rows(unit="none")).max() > 1e-4


def test_joined_parts_are_the_unsplit_sweep_byte_for_byte(tmp_path: Path) -> None:
    """With few tokens in a pass there are several batches; of 20 parts some are empty."""
    arguments = checkpoint_in(tmp_path) | {"units": UNITS, "examples": 0, "reference": 8}
    arguments["pass_tokens"] = 250
    call(ablation_sweep.main, arguments | {"logits": tmp_path / "whole"})
    names = [f"{number}-of-20" for number in range(1, 21)]
    parts = [tmp_path / name for name in names]
    for part, name in zip(parts, names, strict=True):
        call(ablation_sweep.main, arguments | {"logits": part, "part": name})
    call(ablation_sweep.main, arguments | {"logits": tmp_path / "joined", "parts": parts})
    assert (tmp_path / "joined").read_bytes() == (tmp_path / "whole").read_bytes()


def test_averages_come_from_training_examples(swept: Path) -> None:
    frame = pd.read_parquet(swept / "logits")
    model = load_classifier(swept / "mnli.finetuned.3", torch.device("cpu"))
    table = tables.read(swept / "mnli.parquet")
    train = split_of(table, "train")
    chosen = train.loc[list(sample(range(len(train)), 8, 1))]
    means = averages_of(model, tokens_of(chosen, tokenizer(), 32, 128)).overall
    tokens = tokens_of(split_of(table, "dev"), tokenizer(), 32, 128)
    chosen = torch.from_numpy(np.eye(LAYERS * HEADS, dtype=bool)[3].reshape(1, LAYERS, HEADS))
    with watching(model, Disabled(chosen, "mean", means[None, :, :, None])):
        expected = logits_of(model, tokens)
    selected = frame[
        (frame["split"] == "dev") & (frame["unit"] == "head") & (frame["mode"] == "mean")
    ]
    selected = selected[(selected["layer"] == 0) & (selected["head"] == 3)]
    np.testing.assert_allclose(selected[["logit_0", "logit_1", "logit_2"]], expected, atol=2e-5)


def test_scores_of_the_swept_logits(swept: Path) -> None:
    frame, logits = pd.read_parquet(swept / "scores"), pd.read_parquet(swept / "logits")
    named = ["logit_0", "logit_1", "logit_2"]
    for row in frame.sample(20, random_state=1).to_dict("records"):
        selected = logits[logits["split"] == row["split"]]
        plain = selected[selected["unit"] == "none"]
        for key in ("unit", "mode", "layer", "head"):
            selected = selected[selected[key] == row[key]]
        labels = selected["label"].to_numpy()
        expected = score(TASKS["mnli"], labels, selected[named].to_numpy())["accuracy"]
        baseline = score(TASKS["mnli"], labels, plain[named].to_numpy())["accuracy"]
        assert row["score"] == pytest.approx(expected)
        assert row["effect"] == pytest.approx(expected - baseline)
        assert row["ci_low"] <= row["effect"] <= row["ci_high"]
        assert row["p_corrected"] >= row["p"] > 0
        differences = (selected[named].to_numpy().argmax(axis=1) == labels).astype(float)
        differences -= plain[named].to_numpy().argmax(axis=1) == labels
        p_t = ttest_1samp(differences, 0).pvalue if differences.any() else 1.0
        assert row["p_t"] == pytest.approx(p_t)
    gain = pd.read_parquet(swept / "gain")
    left = gain[gain["unit"] == "all-but-one"]
    assert left["layer"].tolist() == list(range(LAYERS))
    assert (left["choices"] == HEADS).all()
    assert (gain[gain["unit"] == "head"]["choices"] == LAYERS * HEADS).all()


def test_the_p_values_are_those_of_the_randomisation_test(swept: Path) -> None:
    logits = pd.read_parquet(swept / "logits")
    logits = logits[logits["split"] == "dev"]
    values = logits[["logit_0", "logit_1", "logit_2"]].to_numpy()
    predicted = values.argmax(axis=1).reshape(-1, N_DEV)
    keys = logits[["unit", "mode", "layer", "head"]].iloc[::N_DEV].reset_index(drop=True)
    chosen = (keys["unit"] == "head") & (keys["mode"] == "zero")
    labels = logits["label"].to_numpy()[:N_DEV]
    compared = OfMetric("accuracy", labels)
    expected = randomisation_test(compared, predicted[0], predicted[chosen], 500, 1)
    scores = pd.read_parquet(swept / "scores")
    actual = scores[(scores["split"] == "dev") & (scores["unit"] == "head")]
    actual = actual[actual["mode"] == "zero"]
    assert actual["p"].tolist() == expected.p.tolist()
    assert actual["p_corrected"].tolist() == expected.corrected.tolist()
    found = pd.read_parquet(swept / "found").set_index(["split", "unit", "mode", "metric"])
    assert len(found) == 7
    row = found.loc[("dev", "head", "zero", "accuracy")]
    assert (row["critical"], row["variants"], row["n"]) == (expected.critical, 12, N_DEV)
    assert row["changed"] == np.median((predicted[chosen] != predicted[0]).mean(axis=1))
    assert np.isnan(row["loss"]) or 0 < row["loss"] < 1


def made_up_scores(task: str = "rte", seed: int = 1, split: str = "dev") -> pd.DataFrame:
    """Scores of 2 x 2 heads whose effects are -0.2, -0.1, 0, 0.1."""
    cells = [(0, 0, -0.2), (0, 1, -0.1), (1, 0, 0.0), (1, 1, 0.1)]
    frame = pd.DataFrame(cells, columns=["layer", "head", "effect"])
    frame = frame.assign(baseline=0.7, score=0.7 + frame["effect"], n=50)
    frame["ci_low"], frame["ci_high"] = frame["effect"] - 0.05, frame["effect"] + 0.05
    frame["p"], frame["p_corrected"] = [0.001, 0.02, 1.0, 0.03], [0.004, 0.08, 1.0, 0.2]
    frame["p_t"], frame["p_corrected_error"] = [0.001, 0.009, 1.0, 0.02], 0.001
    about = {"unit": "head", "mode": "zero", "metric": "accuracy"}
    return frame.assign(task=task, seed=seed, split=split, **about)


def test_table1_and_summary_by_hand() -> None:
    frame = made_up_scores()
    table = one_head(frame)
    assert table["head"].tolist() == ["1-1", "1-2", "2-1", "2-2"]
    assert table["effect"].tolist() == pytest.approx([-20, -10, 0, 10])
    gains = pd.DataFrame(
        [{"layer": -1, "naive": 0.1, "gain": 0.02, "gain_low": -0.1, "gain_high": 0.1}]
    )
    keys = {key: frame[key].iloc[0] for key in ("task", "split", "seed", "unit", "mode", "metric")}
    row = summary(frame, gains.assign(**keys)).iloc[0]
    assert (row["worse"], row["better"]) == (2, 1)
    assert (row["worse_corrected"], row["better_corrected"]) == (1, 0)
    assert (row["worse_t"], row["better_t"]) == (2, 0)
    assert row["best"] == "2-2"
    assert row["mean_effect"] == pytest.approx(-5)
    assert row["gain"] == pytest.approx(2)


def test_table3_by_hand() -> None:
    left = made_up_scores().assign(unit="all-but-one")
    layers = made_up_scores().drop_duplicates("layer").assign(unit="layer", head=-1, effect=-0.3)
    gains = left.drop_duplicates("layer").assign(gain=-0.15, gain_low=-0.2, gain_high=-0.1)
    actual = best_left(left, layers, gains)
    assert actual["head"].tolist() == ["1-2", "2-2"]
    assert actual["effect"].tolist() == pytest.approx([-10, 10])
    assert actual["without"].tolist() == pytest.approx([-30, -30])
    assert actual["layer"].tolist() == [1, 2]


def test_pairs_of_data_sets_tasks_and_seeds(tmp_path: Path) -> None:
    frames = [made_up_scores(), made_up_scores(seed=2), made_up_scores("qnli")]
    frames.append(made_up_scores("mnli"))
    frames.append(made_up_scores("mnli", split="dev_mismatched"))
    frames[-1]["effect"] = -frames[-1]["effect"]
    frames += [frame.assign(unit=unit) for frame in frames for unit in ("layer", "all-but-one")]
    tables.write(pd.concat(frames, ignore_index=True), tmp_path / "scores")
    row = {"task": "mnli", "split": "dev", "unit": "head", "mode": "zero", "metric": "accuracy"}
    row |= {"choices": 4, "pearson": 0.5, "pearson_low": 0.3, "pearson_high": 0.7, "layer": -1}
    row |= {"spearman": 0.4, "spearman_low": 0.2, "spearman_high": 0.6, "seed": 1, "naive": 0.1}
    row |= {"gain": 0.02, "gain_low": -0.1, "gain_high": 0.1}
    rows = [row, row | {"seed": 2, "pearson": 0.7}, row | {"unit": "layer"}]
    tables.write(pd.DataFrame([*rows, row | {"task": "mrpc"}]), tmp_path / "gains")
    loss = {key: row[key] for key in ("task", "split", "seed", "unit", "mode", "metric")}
    loss |= {"variants": 4, "changed": 0.02, "critical": 0.01, "loss": 0.085, "n": 50}
    tables.write(pd.DataFrame([loss]), tmp_path / "found")
    inputs = {name: [tmp_path / name] for name in ("scores", "gains", "found")}
    names = ("table", "best", "power", "alone", "pairs", "points")
    outputs = {name: tmp_path / f"{name}.csv" for name in names}
    call(michel2019_tables.main, inputs | outputs | {"bootstrap": 100, "seed": 1})
    power = pd.read_csv(outputs["power"]).iloc[0]
    assert (power["task"], power["changed"], power["loss"]) == ("MNLI", 2, 8.5)
    actual = pd.read_csv(outputs["pairs"])
    kinds = {"tasks": 3, "seeds": 1, "datasets": 1, "halves": 1}
    assert actual["kind"].value_counts().to_dict() == kinds
    half = actual[actual["kind"] == "halves"].iloc[0]
    assert (half["one"], half["other"], half["n"]) == ("MNLI matched", "other half", 4)
    assert half["pearson"] == pytest.approx(0.6)
    opposite = actual[actual["kind"] == "datasets"].iloc[0]
    assert opposite["pearson"] == pytest.approx(-1)
    assert (actual[actual["kind"].isin(["tasks", "seeds"])]["spearman"] > 0.999).all()
    assert (opposite["one"], opposite["other"]) == ("MNLI matched", "mismatched")
    assert len(pd.read_parquet(outputs["points"])) == 5 * 4
