"""Learning rates that fall with the development accuracy, what a grid may hold, and arct.yaml."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from torch.optim.lr_scheduler import ReduceLROnPlateau

from tests.arguments.builders import made_up_arct, made_up_vectors
from tests.parsed_rules import parsed
from workflow_scripts.arguments import argument_run, argument_training
from workflow_scripts.arguments.argument_training import Annealer, Family, LabelledPoints, fit
from workflow_scripts.arguments.families import vocabulary_of, word_family
from workflow_scripts.core.data.tasks import ARCT_TEXTS
from workflow_scripts.core.model.training import constant_schedule, linear_schedule
from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[2]
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


def rates_of(bov: Family, frame: pd.DataFrame, plan: argument_run.RunPlan) -> list[float]:
    training, dev = (argument_run.Encoder(bov).labelled(part, "W") for part in points(frame))
    run = plan.run("W", argument_run.grid_of(plan.settings["grid"])[0])
    return [row["rate"] for row in fit(bov, run, training, dev, CPU)[1]]


def points(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return argument_run.sets_of(frame, "original")


@pytest.mark.parametrize("patience", [0, 1, 3])
def test_annealing_equals_pytorchs_plateau(patience: int) -> None:
    accuracies = np.random.default_rng(1).integers(0, 8, 40) / 8  # many equal ones
    expected, ours = sgd(), sgd()
    plateau = ReduceLROnPlateau(expected, mode="max", factor=0.1, patience=patience, threshold=0)
    plateau.eps = 0  # it leaves rates alone whose change is smaller
    annealer = Annealer(constant_schedule(ours), 0.1, patience)
    rates = []
    for accuracy in accuracies:
        plateau.step(accuracy)
        annealer.step(accuracy)
        annealer.schedule.optimizer.step()
        annealer.schedule.step()
        rates.append(ours.param_groups[0]["lr"])
        assert rates[-1] == pytest.approx(expected.param_groups[0]["lr"])
    assert len(set(rates)) > 3


def test_annealing_multiplies_what_a_schedule_gives() -> None:
    annealed, plain = sgd(), sgd()
    schedules = linear_schedule(annealed, 10), linear_schedule(plain, 10)
    annealer = Annealer(schedules[0], 0.1, 0)
    for accuracy in (0.5, 0.4):  # the second has dropped
        annealer.step(accuracy)
    assert annealed.param_groups[0]["lr"] == pytest.approx(0.1)
    for schedule in schedules:
        schedule.optimizer.step()
        schedule.step()
    assert annealed.param_groups[0]["lr"] == pytest.approx(0.1 * plain.param_groups[0]["lr"])
    assert plain.param_groups[0]["lr"] == pytest.approx(0.9)


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
        plan = argument_run.RunPlan(["W"], "original", settings | {"anneal": anneal}, 1, CPU)
        assert rates_of(bov, frame, plan) == pytest.approx(rates)


def test_without_decay_and_annealing_the_rate_stays(frame: pd.DataFrame, bov: Family) -> None:
    none = {"anneal": {"factor": 1, "patience": 0}}
    plan = argument_run.RunPlan(["W"], "original", SETTINGS | none, 1, CPU)
    assert rates_of(bov, frame, plan) == [0.02] * 3
    decaying = argument_run.RunPlan(["W"], "original", SETTINGS | none | {"decay": True}, 1, CPU)
    steps = 3 * 4  # 60 points in batches of 16, three times
    last = [4 * epoch - 1 for epoch in (1, 2, 3)]
    assert rates_of(bov, frame, decaying) == pytest.approx(
        [0.02 * (steps - step) / steps for step in last]
    )


def test_a_grid_of_epochs_and_batch_sizes(frame: pd.DataFrame, bov: Family) -> None:
    grid = SETTINGS["grid"] | {"epochs": [1, 2], "batch_size": [8, 30]}
    plan = argument_run.RunPlan(["W"], "original", SETTINGS | {"grid": grid}, 1, CPU)
    made = [plan.run("W", chosen) for chosen in argument_run.grid_of(grid)]
    assert [(run.epochs, run.batch_size) for run in made] == [(1, 8), (1, 30), (2, 8), (2, 30)]
    assert len(argument_run.search(bov, frame, plan)) == 4
    without = argument_run.RunPlan(["W"], "original", SETTINGS, 1, CPU).run(
        "W", {"learning_rate": 1.0}
    )
    assert (without.epochs, without.batch_size) == (3, 16)


def test_one_search_for_all_set_ups(
    frame: pd.DataFrame, bov: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `search: full`, warrants alone are trained at the point chosen for the full input."""
    grid = {"learning_rate": [0.02, 0.3], "dropout": [0.1]}
    rows = [["full", 0.02, 0.1, False], ["full", 0.3, 0.1, True], ["W", 0.02, 0.1, True]]
    columns = ["setup", "learning_rate", "dropout", "best"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "grid.csv", index=False)
    used: list[float] = []

    def recorded(
        family: Family, run: argument_training.TrainingRun, *others: LabelledPoints
    ) -> tuple:
        used.append(run.hyperparameters["learning_rate"])
        return fit(family, run, *others)

    monkeypatch.setattr(argument_run, "fit", recorded)
    for search in ("full", "each"):
        settings = SETTINGS | {"grid": grid, "search": search, "epochs": 1}
        plan = argument_run.RunPlan(["W"], "original", settings, 1, CPU)
        argument_run.train_all(bov, frame, plan, tmp_path / "grid.csv", tmp_path / search, [])
    assert used == [0.3, 0.02]


def test_the_study_of_arct_has_the_papers_settings(tmp_path: Path) -> None:
    """Those of the paper's sections 2 and 3 and of the best_params.json files of its runs."""
    study = yaml.safe_load((ROOT / "studies/arct.yaml").read_text())
    arguments = check(study, ROOT / "rules/schemas")["arguments"]
    chosen = {
        "bert": {"learning_rate": 2e-5, "epochs": 20},
        "bov": {"learning_rate": 0.09, "epochs": 3, "dropout": 0, "batch_size": 32},
        "bilstm": {"learning_rate": 0.06, "dropout": 0.1, "hidden": 512},
    }
    for family, point in chosen.items():
        settings = arguments[family]
        assert point in argument_run.grid_of(settings["grid"])
        assert settings["anneal"]["factor"] == 0.1
    base = {key: values for key, values in arguments["bert"]["grids"][0].items() if key != "model"}
    assert {"learning_rate": 8e-5, "epochs": 30} in argument_run.grid_of(base)
    assert arguments["bert"]["batch_size"] == 8 and arguments["bert"]["degenerate_below"] == 0.8
    assert arguments["bilstm"]["epochs"] == 20
    for family in ("bov", "bilstm"):
        assert arguments[family]["tune_vectors"] and not arguments[family]["decay"]
        assert arguments[family]["degenerate_below"] == 0
    assert len(arguments["seeds"]) == 20 and arguments["grid_seed"] not in arguments["seeds"]
    default = check(yaml.safe_load((ROOT / "config.yaml").read_text()), ROOT / "rules/schemas")
    searched_with = parsed()[0].rules["argument_grid"].params["seed"]
    assert searched_with == default["arguments"]["grid_seed"] != default["seed"]
    # It is planned whole, with a stand-in for the vectors.
    path = tmp_path / "arct.yaml"
    path.write_text(yaml.safe_dump(study))
    (tmp_path / "glove.840B.300d.txt").write_text("a 1 2\n")
    script = str(ROOT / "tests/core/plan_studies.py")
    planned = subprocess.run([sys.executable, script, str(path)], capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr[-3000:]
