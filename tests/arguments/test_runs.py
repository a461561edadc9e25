"""Three families on a planted cue: they use it, and are at chance without it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from tests.arguments.builders import bert_card, made_up_arct, made_up_vectors
from workflow_scripts.arguments import argument_run
from workflow_scripts.arguments.argument_predictions import predict_all
from workflow_scripts.arguments.argument_scores import measure
from workflow_scripts.arguments.argument_training import (
    Family,
    LabelledPoints,
    RunPlan,
    fit,
    logits_of,
)
from workflow_scripts.arguments.families import (
    EMBEDDING,
    WEIGHTS,
    Bags,
    bert_family,
    vocabulary_of,
    word_family,
)
from workflow_scripts.arguments.wording import inputs_of
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.tasks import ARCT_TEXTS

CPU = torch.device("cpu")
BERT = {"max_tokens": 128, "pooler": False, "weight_decay": 0.01, "warmup": 0.1}
PLAIN = {"batch_size": 16, "search": "each", "decay": True, "anneal": {"factor": 1, "patience": 0}}
SETTINGS = {
    "bert": BERT | PLAIN | {"grid": {"learning_rate": [0.003]}, "epochs": 12},
    "bov": PLAIN | {"grid": {"learning_rate": [0.02], "dropout": [0.1]}, "epochs": 15},
    "bilstm": PLAIN
    | {"grid": {"learning_rate": [0.01], "dropout": [0.1], "hidden": [16]}, "epochs": 8},
}
BOUNDS = {"bert": 0.6, "bov": 0, "bilstm": 0}


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return made_up_arct(tmp_path_factory.mktemp("arct"), 160, 60)


@pytest.fixture(scope="module")
def families(
    frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Family]:
    card = read_card(bert_card(tmp_path_factory.mktemp("bert")))
    vectors = made_up_vectors(frame)
    vocabulary = vocabulary_of([text for column in ARCT_TEXTS for text in frame[column].unique()])

    def family(name: str) -> Family:
        if name == "bert":
            return bert_family(card, BERT)
        return word_family(name, vectors, vocabulary, tune=False)

    return family


def warrants_alone(family: Family, frame: pd.DataFrame) -> tuple[LabelledPoints, LabelledPoints]:
    """Training and development points of set-up W, encoded."""
    training, dev = argument_run.sets_of(frame, "original")
    labelled = partial(argument_run.labelled, family.encode, setup="W")
    return labelled(training), labelled(dev)


def plan_of(**settings: int) -> RunPlan:
    return RunPlan(["W"], "original", PLAIN | settings, 1, CPU)


def trained(
    family: Family, frame: pd.DataFrame, setups: list[str], trained_on: str, folder: Path
) -> pd.DataFrame:
    """Accuracy by set-up, split and points."""
    plan = RunPlan(setups, trained_on, SETTINGS[family.name], 1, CPU)
    trained_on = frame[frame["split"] != "test"]
    curves = argument_run.train_all(family, trained_on, plan, None, folder / "weights")
    models = argument_run.kept_models(family, folder / "weights", plan.setups, CPU)
    predictions = predict_all(family, models, frame, plan.trained_on).assign(seed=1)
    assert (curves.groupby("setup")["best"].sum() == 1).all()
    return measure(predictions, BOUNDS).set_index(["setup", "split", "points"])


@pytest.mark.parametrize("name", ["bert", "bov", "bilstm"])
def test_the_planted_cue_is_found_in_warrants_alone(
    name: str, frame: pd.DataFrame, families: Callable[[str], Family], tmp_path: Path
) -> None:
    """Following the cue, and guessing without it, is right on 0.8 * 0.9 + 0.2 / 2 = 82%."""
    accuracy = trained(families(name), frame, ["W"], "original", tmp_path)["accuracy"]
    assert accuracy["W", "test", "original"] > 0.72
    # Warrants alone do not distinguish a point from its negated counterpart.
    assert accuracy["W", "test", "negated"] == pytest.approx(1 - accuracy["W", "test", "original"])
    assert accuracy["W", "test", "adversarial"] == 0.5


def test_models_trained_on_the_adversarial_set_fall_to_chance(
    frame: pd.DataFrame, families: Callable[[str], Family], tmp_path: Path
) -> None:
    accuracy = trained(families("bov"), frame, ["W", "full"], "negated", tmp_path)["accuracy"]
    assert accuracy["W", "test", "adversarial"] == 0.5
    assert abs(accuracy["W", "train", "training"] - 0.5) < 1e-9
    # What claim and reason add cancels.
    assert accuracy["full", "test", "adversarial"] == 0.5


def test_the_grid_is_searched_and_its_best_point_taken(
    frame: pd.DataFrame, families: Callable[[str], Family], tmp_path: Path
) -> None:
    settings = SETTINGS["bov"] | {"grid": {"learning_rate": [1e-6, 0.02], "dropout": [0.1]}}
    plan = RunPlan(["W", "full"], "original", settings, 1, CPU)
    grid = argument_run.search(families("bov"), frame, plan)
    assert len(grid) == 4
    best = grid[grid["best"]].set_index("setup")
    assert best["learning_rate"].to_dict() == {"W": 0.02, "full": 0.02}
    assert best["dev_accuracy"].min() > grid[~grid["best"]]["dev_accuracy"].max()
    grid.to_csv(tmp_path / "grid.csv", index=False)
    chosen = argument_run.chosen_in(settings["grid"], tmp_path / "grid.csv", "W")
    assert chosen == {"learning_rate": 0.02, "dropout": 0.1}
    first = argument_run.chosen_in(settings["grid"], None, "W")
    assert first == {"learning_rate": 1e-6, "dropout": 0.1}


def test_the_best_epoch_is_kept(frame: pd.DataFrame, families: Callable[[str], Family]) -> None:
    family = families("bov")
    training, dev = warrants_alone(family, frame)
    chosen = {"learning_rate": 0.5, "dropout": 0.5}  # so large that accuracy goes up and down
    model, rows = fit(family, plan_of(epochs=8), "W", chosen, training, dev)
    accuracies = [row["dev_accuracy"] for row in rows]
    assert [row["best"] for row in rows].index(True) == int(np.argmax(accuracies))
    logits = logits_of(family, model, dev.texts)
    assert (logits.argmax(axis=1) == dev.labels).mean() == max(accuracies)


def test_the_loss_is_a_softmax_over_the_two_warrants(
    frame: pd.DataFrame, families: Callable[[str], Family]
) -> None:
    family = families("bov")
    training, dev = warrants_alone(family, frame)
    chosen = {"learning_rate": 1e-9, "dropout": 0.0}
    plan = plan_of(epochs=1, batch_size=len(training.labels))
    model, rows = fit(family, plan, "W", chosen, training, dev)
    logits = logits_of(family, model, training.texts).astype(float)
    right = np.take_along_axis(logits, training.labels[:, None], axis=1)[:, 0]
    expected = np.mean(np.log(np.exp(logits).sum(axis=1)) - right)
    assert rows[0]["loss"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("sequence", [False, True])
def test_word_models_equal_a_slow_version_and_ignore_padding(sequence: bool) -> None:
    rng = np.random.default_rng(0)
    matrix = np.concatenate([np.zeros((1, 5)), rng.normal(size=(9, 5))]).astype(np.float32)
    torch.manual_seed(0)
    model = Bags(matrix, 3, {"dropout": 0.5, "hidden": 4}, tune=False, sequence=sequence).eval()
    texts = [[[1, 2], [3], [4, 5, 6]], [[7], [8, 9, 1, 2], [3, 3]]]
    for text, logit in zip(texts, model(texts).tolist(), strict=True):
        assert model([text]).item() == pytest.approx(logit, abs=1e-6)
        parts = text if sequence else [text[0] + text[1], text[2]]
        vectors = []
        for ids in parts:
            states = torch.from_numpy(matrix[ids])
            if sequence:
                states = model.encoder(states[None])[0][0]
            vectors.append(torch.stack([states[:, k].max() for k in range(states.shape[1])]))
        expected = torch.cat(vectors) @ model.linear.weight[0] + model.linear.bias[0]
        assert logit == pytest.approx(expected.item(), abs=1e-6)


@pytest.mark.parametrize("tune", [False, True])
def test_tuned_vectors_stay_with_their_model(frame: pd.DataFrame, tune: bool) -> None:
    vocabulary = vocabulary_of([text for column in ARCT_TEXTS for text in frame[column].unique()])
    family = word_family("bov", made_up_vectors(frame), vocabulary, tune)
    training, dev = warrants_alone(family, frame)
    chosen = {"learning_rate": 0.05, "dropout": 0.0}
    fresh = family.new("W", chosen, 1).embedding.weight.detach().clone()
    model, _ = fit(family, plan_of(epochs=2), "W", chosen, training, dev)
    assert torch.equal(model.embedding.weight, fresh) is not tune
    assert torch.equal(family.new("W", chosen, 1).embedding.weight, fresh)


@pytest.mark.parametrize("name", ["bov", "bilstm"])
def test_words_of_the_test_set_alone_change_no_trained_model(
    name: str, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """Each word has its own vector, known or not, before it is trained and after."""
    vectors, logits = made_up_vectors(frame), []
    words = vocabulary_of([text for column in ARCT_TEXTS for text in frame[column].unique()])
    words = ["unknown", *words]
    families = [
        word_family(name, vectors, known, tune=True) for known in (words, ["unseen", *words])
    ]
    for number, family in enumerate(families):
        training, dev = warrants_alone(family, frame)
        chosen = {values: tried[0] for values, tried in SETTINGS[name]["grid"].items()}
        model, _ = fit(family, plan_of(epochs=1), "W", chosen, training, dev)
        logits.append(logits_of(family, model, dev.texts))
        family.save(model, tmp_path / str(number))
    assert np.array_equal(*logits)
    other = families[1].load(tmp_path / "0", "W", CPU)
    text = families[1].encode(((), "unseen unknown"))
    assert text == [[1, 2]]
    fresh = families[1].new("W", chosen, 1).embedding.weight
    trained = load_file(tmp_path / "0" / WEIGHTS)[EMBEDDING]
    assert torch.equal(other.embedding.weight[1], fresh[1])
    assert torch.equal(other.embedding.weight[2:], trained[1:])
    assert not torch.equal(fresh[1], fresh[2])


def test_equal_texts_are_scored_once_and_in_order(
    frame: pd.DataFrame, families: Callable[[str], Family]
) -> None:
    family = families("bov")
    model = family.new("W", {"dropout": 0.1}, 1)
    rows = frame[frame["split"] == "dev"]
    predicted = argument_run.predict(family, model, family.encode, rows, "W")
    texts = [family.encode(pair) for pair in inputs_of(rows, "W")]
    expected = logits_of(family, model, texts)
    np.testing.assert_allclose(predicted[["logit_0", "logit_1"]], expected, atol=1e-6)


def test_bert_reads_two_segments(families: Callable[[str], Family]) -> None:
    family = families("bert")
    tokens = family.encode((("a b", "c"), "d"))
    # [CLS] a b . c . [SEP] d [SEP]
    assert tokens.segment.tolist() == [0] * 7 + [1] * 2
    assert family.encode(((), "d")).segment.tolist() == [0, 0, 0]
