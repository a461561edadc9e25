"""Jobs that train word models, with many seeds in one job."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.arguments.builders import made_up_arct
from workflow_scripts.arguments import argument_predictions, argument_run
from workflow_scripts.arguments.families import open_family
from workflow_scripts.core.data.vectors import write_vectors
from workflow_scripts.core.run import job

GRIDS = {
    "bov": {"learning_rate": [0.02], "dropout": [0.1]},
    "bilstm": {"learning_rate": [0.01], "dropout": [0.1], "hidden": [4]},
}
OUTPUTS = ("weights", "curves")


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    made_up_arct(tmp_path, 30, 10)
    matrix = np.random.default_rng(0).normal(size=(2, 8)).astype(np.float32)
    write_vectors(["not", "town"], matrix, tmp_path / "v.safetensors", tmp_path / "v.txt")
    files = {"table": "arct.parquet", "vectors": "v.safetensors", "words": "v.txt"}
    return {name: tmp_path / file for name, file in files.items()}


def params(name: str, seeds: list[int], **others: Any) -> dict[str, Any]:
    settings = {"grid": GRIDS[name], "epochs": 2, "batch_size": 16, "tune_vectors": False}
    settings |= {"search": "each", "decay": True, "anneal": {"factor": 1, "patience": 0}}
    values = {"family": name, "setups": ["W", "full"], "trained_on": "original"}
    return values | {"settings": settings, "seeds": seeds, "device": "cpu"} | others


def test_a_job_of_two_seeds_is_two_jobs_of_one(inputs: dict, tmp_path: Path) -> None:
    written, frame = {}, pd.read_parquet(inputs["table"])
    for seeds in ([3], [2], [3, 2]):
        out = {name: tmp_path / str(seeds) / name for name in OUTPUTS}
        job.call(argument_run.main, inputs | out | params("bov", seeds))
        (out["weights"] / ".snakemake_timestamp").touch()  # as Snakemake marks a folder
        scored = params("bov", seeds) | {"predictions": tmp_path / str(seeds) / "predictions"}
        del scored["seeds"]
        scored["weights"] = [out["weights"]]
        job.call(argument_predictions.main, inputs | scored)
        written[tuple(seeds)] = pd.read_parquet(scored["predictions"]), pd.read_csv(out["curves"])
        tune = {"tune_vectors": False}
        family = open_family("bov", tune, frame, None, inputs["vectors"], inputs["words"])
        kept = argument_run.kept_models(family, [out["weights"]], ["W"], torch.device("cpu"))
        assert [named for named, _ in kept] == [{"setup": "W", "seed": k} for k in sorted(seeds)]
    for both, one, other in zip(written[3, 2], written[3,], written[2,], strict=True):
        expected = pd.concat([one, other], ignore_index=True)
        columns = ["seed"] if "logit_0" in both else []
        ordered = [
            frame.sort_values(columns, kind="stable") if columns else frame
            for frame in (both, expected)
        ]
        pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in ordered))
        assert not both[both["seed"] == 3].equals(both[both["seed"] == 2].assign(seed=3))
