"""The work of planning a study: so much for each model, however many others there are."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
KEPT = ("corpora", "checkpoints", "surface", "clusters", "claims", "atlas", "report")
SIZES = (2, 4, 8)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What planning took for each number of models, by a Python that drops docstrings."""
    folder = tmp_path_factory.mktemp("studies")
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    model = study["models"]["minilm"]
    for n in SIZES:
        config = {key: study[key] for key in KEPT} | {"study": f"of-{n}"}
        config["models"] = {f"model-{number}": model for number in range(n)}
        (folder / f"{n}.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    files = [str(folder / f"{n}.yaml") for n in SIZES]
    command = [sys.executable, "-m", "tests.core.count_planning", *files]
    environment = os.environ | {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_planning_grows_with_the_models_and_no_faster(planned: dict[str, Any]) -> None:
    few, some, many = planned["counts"]
    assert some - few > 0
    # Twice where each model is the same work, four times where it is work for each other one.
    assert (many - some) / (some - few) < 2.3, planned["counts"]


def test_jobs_have_the_docstrings_that_transformers_reads(planned: dict[str, Any]) -> None:
    assert planned["environment"]["PYTHONDONTWRITEBYTECODE"]
    assert "PYTHONOPTIMIZE" not in planned["environment"]
