"""Figures of a large study, nine tasks and 24 layers of 16 heads, fit a page and stay legible."""

from importlib import import_module
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from tests.core.figure_checks import clipped, height_of, overlapping, too_small, width_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.plots import figures
from workflow_scripts.finetuning.token_kinds import KINDS

LAYERS, HEADS = 24, 16
PAGE = 9.5  # inches, for a figure and a short caption


def rows(**axes: Any) -> pd.DataFrame:
    """A row for every combination of the axes' values."""
    return pd.DataFrame(list(product(*axes.values())), columns=list(axes))


def numbers(frame: pd.DataFrame, **columns: tuple[float, float]) -> pd.DataFrame:
    """Random columns, each between two values."""
    rng = np.random.default_rng(0)
    random = {name: rng.uniform(*ends, len(frame)) for name, ends in columns.items()}
    return frame.assign(**random)


def every_head(**axes: Any) -> pd.DataFrame:
    return rows(task=list(TASKS), seed=[1, 2], **axes, layer=range(LAYERS), head=range(HEADS))


def scores(unit: str, mode: str) -> pd.DataFrame:
    frame = every_head() if unit == "head" else every_head()[lambda rows: rows["head"] == 0]
    frame = numbers(frame, effect=(-0.3, 0.02), p_corrected=(0, 1))
    frame["metric"] = [TASKS[task].main_metric for task in frame["task"]]
    ends = {"ci_low": frame["effect"] - 0.02, "ci_high": frame["effect"] + 0.02}
    score = {"baseline": 0.8, "score": 0.8 + frame["effect"]}
    return frame.assign(unit=unit, mode=mode, split="dev", n=1000, **ends, **score)


def features() -> pd.DataFrame:
    frame = every_head(kind=KINDS, stage=["pretrained", "fine-tuned"], query=["all", "cls"])
    frame = frame[frame["seed"] == 1]
    frame = numbers(frame, attention=(0, 1), share=(0, 0.1))
    ends = {"ci_low": frame["attention"] - 0.2, "ci_high": frame["attention"] + 0.2}
    return frame.assign(**ends, tokens=0.05, n=10, n_without=2)


def curves() -> pd.DataFrame:
    axes = {"strategy": ["importance", "ablation", "random"], "pruned": range(0, 384, 38)}
    frame = numbers(rows(task=list(TASKS), seed=[1, 2], **axes), score=(0, 1))
    metric = [TASKS[task].main_metric for task in frame["task"]]
    ends = {"score_low": frame["score"] - 0.1, "score_high": frame["score"] + 0.1}
    ends |= {"change": 0, "change_low": 0, "change_high": 0, "n": 1000, "heads": 384}
    return frame.assign(metric=metric, draw=0, recomputed=False, **ends)


def training() -> tuple[pd.DataFrame, pd.DataFrame]:
    axes = {"epoch": range(1, 4), "pruned": range(0, 384, 38)}
    frame = numbers(rows(task=list(TASKS), seed=[1], **axes), score=(0, 1))
    frame["metric"] = [TASKS[task].main_metric for task in frame["task"]]
    agreement = numbers(rows(task=list(TASKS), epoch=range(1, 4)), agreement=(0, 1))
    ends = {"score_low": frame["score"] - 0.1, "score_high": frame["score"] + 0.1}
    return frame.assign(heads=384, n=1000, **ends), agreement


def pairs() -> tuple[pd.DataFrame, pd.DataFrame]:
    titles = [task.title for task in TASKS.values()]
    found = [("tasks", *pair) for pair in combinations(titles, 2)]
    found += [("datasets", "MNLI matched", "mismatched")]
    found += [("datasets", "SST-2 dev", name) for name in ("products", "tweets", "editorials")]
    found += [("halves", f"{title} dev", "other half") for title in titles if title != "MNLI"]
    frame = pd.DataFrame(found, columns=["kind", "one", "other"]).assign(mode="zero", n=384)
    frame = numbers(frame, pearson=(-1, 1), spearman=(-1, 1))
    for name, end, way in product(("pearson", "spearman"), ("low", "high"), (1,)):
        frame[f"{name}_{end}"] = frame[name] + way * (0.1 if end == "high" else -0.1)
    heads = rows(layer=range(LAYERS), head=range(HEADS))
    points = [
        numbers(heads, x=(-0.1, 0.02), y=(-0.1, 0.02)).assign(**pair[["kind", "one", "other"]])
        for _, pair in frame[frame["kind"] != "halves"].iterrows()
    ]
    return pd.concat(points).assign(mode="zero"), frame


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """The arguments of each figure's `main`, by its module."""
    points, correlations = pairs()
    scored, agreement = training()
    importance = numbers(every_head(), importance=(0, 1), normalised=(0, 1))
    made = {
        "heads": scores("head", "uniform"),
        "zero": scores("head", "zero"),
        "layers": scores("layer", "uniform"),
        "features": features(),
        "similarity": numbers(every_head(), similarity=(0.5, 1)).assign(n=10),
        "shared": numbers(
            every_head(stage=["pretrained", "fine-tuned"]), excess=(-0.1, 0.4), attention=(0, 1)
        ).assign(measure="copy", others=0.1, n=10, ci_low=0, ci_high=1),
        "importance": importance.assign(variant="paper", ci_low=0, ci_high=1, n=10),
        "curves": curves(),
        "training": scored,
        "agreement": agreement,
        "points": points,
    }
    for name, frame in made.items():
        tables.write(frame, folder / f"{name}.parquet")
    whole = pd.DataFrame({"task": [task.title for task in TASKS.values()], "value": 0.81})
    whole["metric"] = [task.main_metric for task in TASKS.values()]
    whole.assign(stage="fine-tuned", split="dev", n=40430).to_csv(folder / "metrics.csv")
    correlations.to_csv(folder / "pairs.csv", index=False)
    listed = {name: [folder / f"{name}.parquet"] for name in made}
    return {
        "ablation.kovaleva2019_fig8": {
            "scores": listed["heads"],
            "metrics": [folder / "metrics.csv"],
            "mode": "uniform",
        },
        "ablation.kovaleva2019_fig9": {"scores": listed["layers"], "mode": "uniform"},
        "ablation.michel2019_fig1": {"scores": listed["zero"]},
        "ablation.michel2019_fig2": {
            "points": folder / "points.parquet",
            "table": folder / "pairs.csv",
            "mode": "zero",
        },
        "finetuning.kovaleva2019_features": {"features": listed["features"]},
        "finetuning.kovaleva2019_fig5": {
            "similarity": listed["similarity"],
            "padded": listed["similarity"],
        },
        "finetuning.kovaleva2019_fig6": {"features": listed["features"]},
        "finetuning.kovaleva2019_fig7": {"features": listed["features"]},
        "finetuning.kovaleva2019_shared": {"shared": listed["shared"]},
        "pruning.michel2019_fig3": {"curves": listed["curves"], "bootstrap": 20, "seed": 1},
        "pruning.michel2019_fig5": {
            "curves": listed["training"],
            "importance": listed["agreement"],
        },
        "pruning.michel2019_importance": {"importance": listed["importance"], "variant": "paper"},
    }


@pytest.fixture(scope="module")
def large_study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return cases(tmp_path_factory.mktemp("large"))


@pytest.mark.parametrize(
    "module",
    [
        "ablation.kovaleva2019_fig8",
        "ablation.kovaleva2019_fig9",
        "ablation.michel2019_fig1",
        "ablation.michel2019_fig2",
        "finetuning.kovaleva2019_features",
        "finetuning.kovaleva2019_fig5",
        "finetuning.kovaleva2019_fig6",
        "finetuning.kovaleva2019_fig7",
        "finetuning.kovaleva2019_shared",
        "pruning.michel2019_fig3",
        "pruning.michel2019_fig5",
        "pruning.michel2019_importance",
    ],
)
def test_a_figure_of_a_large_study_fits_a_page(
    large_study: dict[str, dict[str, Any]],
    tmp_path: Path,
    module: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Figure] = []

    def save(figure: Figure, svg: Path, pdf: Path, png: Path) -> None:
        drawn.append(figure)
        figure.savefig(svg, format="svg")

    monkeypatch.setattr(figures, "save", save)
    chapter, _, name = module.partition(".")
    main = getattr(import_module(f"workflow_scripts.{chapter}.figures"), name)
    outputs = {kind: tmp_path / f"f.{kind}" for kind in ("svg", "pdf", "png")}
    if "table" in main.__annotations__ and "table" not in large_study[module]:
        outputs["table"] = tmp_path / "table.csv"
    main(**large_study[module], **outputs)
    assert clipped(drawn[0]) == []
    assert overlapping(drawn[0]) == []
    assert too_small(tmp_path / "f.svg") == []
    assert width_of(tmp_path / "f.svg") <= figures.TWO_COLUMNS + 0.01
    assert height_of(tmp_path / "f.svg") <= PAGE
