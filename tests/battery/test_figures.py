"""The figures of roles, sinks, copying and retrieval are readable at any number of heads."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.core import figure_checks
from workflow_scripts.battery import figures as battery_figures
from workflow_scripts.battery.measures import ROLES
from workflow_scripts.battery.role_correlations import PAIRS
from workflow_scripts.core.plots import figures

SHAPES = pytest.mark.parametrize("shape", [(30, 9), (2, 4)], ids=["270", "8"])
OUTPUTS = ("svg", "pdf", "png")


def made_up(shape: tuple[int, int], **columns: float) -> pd.DataFrame:
    """Heads whose scores rise from 0 to 1, with an interval; those above 0.9 have the role."""
    frame = pd.DataFrame(product(range(shape[0]), range(shape[1])), columns=["layer", "head"])
    frame["score"] = np.linspace(0, 1, len(frame))
    frame = frame.assign(ci_low=frame["score"] - 0.05, ci_high=frame["score"] + 0.05)
    return frame.assign(has_role=frame["score"] > 0.9, n=20, **columns)


@SHAPES
def test_roles(shape: tuple[int, int]) -> None:
    frame = pd.concat([made_up(shape, role=role) for role in ROLES], ignore_index=True)
    frame = frame.assign(n_segments=60, n_documents=40)
    frame["confirmed"] = (frame["role"] == "induction") & (frame["head"] == 1)
    with figures.style():
        figure = battery_figures.draw_roles(frame)
        assert figure_checks.clipped(figure) == []
        assert figure_checks.overlapping(figure) == []
    assert figure.get_figwidth() <= figures.TWO_COLUMNS
    (dots,) = figure.axes[2].lines
    assert dots.get_xydata().tolist() == [[1, layer] for layer in range(shape[0])]


@SHAPES
def test_copying(shape: tuple[int, int]) -> None:
    names = {"score": "top", "ci_low": "top_low", "ci_high": "top_high"}
    copying = made_up(shape, chance=0.02).rename(columns=names)
    copying["eigenvalue"] = np.sin(np.arange(len(copying)))
    copying["has_role"] = np.arange(len(copying)) % 50 == 7
    roles = made_up(shape, role="induction")
    roles["has_role"] = [True] + [False] * (len(roles) - 1)
    other = roles.assign(role="previous", has_role=True)
    frame = battery_figures.with_induction(copying, pd.concat([roles, other]))
    correlations = pd.DataFrame(PAIRS, columns=["of", "with"])
    correlations = correlations.assign(rho=0.1 * np.arange(len(PAIRS)), ci_low=0, ci_high=1)
    with figures.style():
        figure = battery_figures.draw_copying(frame, correlations, 0.3)
        assert figure_checks.clipped(figure) == []
        assert figure_checks.overlapping(figure) == []
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [f"rank correlation {rho} [0.00, 1.00]" for rho in ("0.10", "0.20")]
    others, inducting = figure.axes[0].containers
    assert len(others[0].get_xdata()) == len(copying) - 1
    assert inducting[0].get_xdata() == [0] and inducting[0].get_ydata() == [0]


@SHAPES
def test_retrieval(shape: tuple[int, int]) -> None:
    frame = made_up(shape, others=0.01)
    needles = pd.DataFrame({"depth": np.linspace(0, 1, 4), "produced": [5, 10, 0, 10]})
    needles = needles.assign(answer_tokens=10, whole=needles["produced"] == 10)
    with figures.style():
        figure = battery_figures.draw_retrieval(frame, needles, 0.1)
        assert figure_checks.clipped(figure) == []
        assert figure_checks.overlapping(figure) == []
    left, right = figure.axes
    assert left.get_yticklabels()[0].get_text() == f"{shape[0]}-{shape[1]}"  # the strongest
    assert len(left.get_yticks()) == min(20, len(frame))
    assert right.get_title() == "2 of 4 needles produced whole;\nmean share 0.62 (dashed)"


@SHAPES
def test_sinks(shape: tuple[int, int]) -> None:
    heads = made_up(shape, n_documents=9, uniform=0.07)
    heads = heads.assign(attention=heads["score"], by_norm=1 - heads["score"])
    frame = pd.concat([heads.assign(first=first) for first in battery_figures.FIRST_TOKENS])
    with figures.style():
        figure = battery_figures.draw_sinks(frame, 0.9)
        assert figure_checks.clipped(figure) == []
        assert figure_checks.overlapping(figure) == []
    above = heads["has_role"].sum()
    assert figure.axes[0].get_title().endswith(f"\n{above} of {len(heads)} heads above 0.9")
    weights, shares = (axes.lines for axes in (figure.axes[0], figure.axes[3]))
    assert weights[0].get_ydata().tolist() == heads["attention"].tolist()
    assert shares[0].get_ydata().tolist() == heads["by_norm"].tolist()
    assert len(weights) == len(shares) + 2  # the threshold and uniform attention are of weights


def test_the_jobs_of_copying_and_retrieval(tmp_path: Path) -> None:
    out = {kind: tmp_path / kind for kind in OUTPUTS}
    names = {"ci_low": "top_low", "ci_high": "top_high"}
    copying = made_up((2, 4), chance=0.1, eigenvalue=0.5, role="copying").rename(columns=names)
    copying.assign(top=copying["score"]).to_parquet(tmp_path / "copying")
    made_up((2, 4), role="induction").to_parquet(tmp_path / "roles")
    correlations = pd.DataFrame(PAIRS[:3], columns=["of", "with"])
    correlations.assign(rho=0.5, ci_low=0, ci_high=1).to_csv(tmp_path / "correlations")
    paths = [tmp_path / name for name in ("copying", "roles", "correlations")]
    battery_figures.battery_copying(*paths, **out, threshold=0.3)
    assert "Eigenvalue score" in out["svg"].read_text(encoding="utf-8")
    made_up((2, 4), others=0.01).to_parquet(tmp_path / "retrieval")
    needles = {"depth": [0, 1], "produced": [1, 2], "answer_tokens": 2, "whole": [False, True]}
    pd.DataFrame(needles).to_csv(tmp_path / "needles")
    battery_figures.battery_retrieval(
        tmp_path / "retrieval", tmp_path / "needles", **out, threshold=0.1
    )
    assert "1 of 2 needles produced whole;" in out["svg"].read_text(encoding="utf-8")
