"""Learning rates that fall with the development accuracy, and one search for all set-ups."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR, ReduceLROnPlateau

from tests.arguments.builders import made_up_arct, made_up_vectors
from workflow_scripts.arguments import argument_run, argument_training
from workflow_scripts.arguments.argument_training import Annealer, Family, RunPlan, fit
from workflow_scripts.arguments.families import vocabulary_of, word_family
from workflow_scripts.core.data.tasks import ARCT_TEXTS

CPU = torch.device("cpu")
SETTINGS = {
    "grid": {"learning_rate": [0.02], "dropout": [0.1]},
    "search": "each",
    "epochs": 3,
    "batch_size": 16,
    "decay": False,
    "anneal": {"factor": 0.1, "patience": 0},
}


def sgd(rate: float = 1.0) -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=rate)


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return made_up_arct(tmp_path_factory.mktemp("arct"), 60, 20)


@pytest.fixture(scope="module")
def bov(frame: pd.DataFrame) -> Family:
    vocabulary = vocabulary_of([text for column in ARCT_TEXTS for text in frame[column].unique()])
    return word_family("bov", made_up_vectors(frame), vocabulary, tune=True)


def rates_of(bov: Family, frame: pd.DataFrame, plan: RunPlan) -> list[float]:
    training, dev = (argument_run.labelled(bov.encode, part, "W") for part in points(frame))
    chosen = argument_run.grid_of(plan.settings["grid"])[0]
    return [row["rate"] for row in fit(bov, plan, "W", chosen, training, dev)[1]]


def points(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return argument_run.sets_of(frame, "original")


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_annealing_equals_pytorchs_plateau(patience: int) -> None:
    accuracies = np.random.default_rng(1).integers(0, 8, 40) / 8  # many equal ones
    expected, ours = sgd(), sgd()
    plateau = ReduceLROnPlateau(expected, mode="max", factor=0.1, patience=patience, threshold=0)
    plateau.eps = 0  # it leaves rates alone whose change is smaller
    annealer = Annealer(LambdaLR(ours, lambda step: 1.0), 0.1, patience)
    rates = []
    for accuracy in accuracies:
        plateau.step(accuracy)
        annealer.step(accuracy)
        annealer.schedule.optimizer.step()
        annealer.schedule.step()
        rates.append(ours.param_groups[0]["lr"])
        assert rates[-1] == pytest.approx(expected.param_groups[0]["lr"])
    assert len(set(rates)) > 3


def test_a_run_lowers_its_rate_after_epochs_without_a_new_best(
    frame: pd.DataFrame, bov: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accuracies .5, .7, .7, .6: the third and the fourth epoch bring no new best one."""
    settings = SETTINGS | {"epochs": 5}
    expected = {0: [0.02, 0.02, 0.02, 2e-3, 2e-4], 1: [0.02] * 4 + [2e-3], 10: [0.02] * 5}
    for patience, rates in expected.items():
        accuracies = iter([0.5, 0.7, 0.7, 0.6, 0.9])
        monkeypatch.setattr(argument_training, "accuracy_of", lambda *_: next(accuracies))  # noqa: B023
        anneal = {"factor": 0.1, "patience": patience}
        plan = RunPlan(["W"], "original", settings | {"anneal": anneal}, 1, CPU)
        assert rates_of(bov, frame, plan) == pytest.approx(rates)


def test_one_search_for_all_set_ups(
    frame: pd.DataFrame, bov: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `search: full`, warrants alone are trained at the point chosen for the full input."""
    grid = {"learning_rate": [0.02, 0.3], "dropout": [0.1]}
    rows = [["full", 0.02, 0.1, False], ["full", 0.3, 0.1, True], ["W", 0.02, 0.1, True]]
    columns = ["setup", "learning_rate", "dropout", "best"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "grid.csv", index=False)
    used: list[float] = []

    def recorded(family: Family, plan: RunPlan, setup: str, chosen: dict, *points: object) -> tuple:
        used.append(chosen["learning_rate"])
        return fit(family, plan, setup, chosen, *points)

    monkeypatch.setattr(argument_run, "fit", recorded)
    for search in ("full", "each"):
        settings = SETTINGS | {"grid": grid, "search": search, "epochs": 1}
        plan = RunPlan(["W"], "original", settings, 1, CPU)
        argument_run.train_all(bov, frame, plan, tmp_path / "grid.csv", tmp_path / search)
    assert used == [0.3, 0.02]
