"""studies/papers.yaml with what it downloads from the hub, of which this machine has a stand-in.

Nobody who wrote the workflow could reach the hub. The models here are tiny random BERTs, under the
names and commits of the study; GLUE and WikiText are made up. What the study fetches from elsewhere
is generated: tests/workflow/test_fetched.py fetches.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.papers import berts, data_sets
from tests.papers.hub import Hub, Nothing, Repositories, Server, environment, serving
from tests.workflow.copied import ROOT
from workflow_scripts.core.run import places, schema

STUDY = ROOT / "studies/papers.yaml"
RESULTS = "results/papers"


def without_fetching(study: dict[str, Any]) -> dict[str, Any]:
    """The study with generated data in the place of what it fetches, and few segments."""
    study = places.enter(study, schema.assemble(ROOT / "rules/schemas"))
    study["corpora"]["text"]["wikipedia"] |= {"n_segments": 6, "training_share": 0.1}
    study["corpora"] |= {
        "treebanks": {"trees": {"parse": "wikipedia"}},
        "coreference": {"mentions": {"generate": 8}},
        "frames": {"framenet": {"generate": 40}},
    }
    for name in study["corpora"]["vectors"]:
        study["corpora"]["vectors"][name] = {"train": "wikipedia", "dimensions": 4, "epochs": 1}
    points = {"train": 16, "dev": 8, "test": 8}
    study["tasks"]["arct"] = {"generate": points, "adversarial": "built"}
    del study["arguments"]["published_runs"]
    study["translation"]["data"] = {"generate": {"train": 40, "validation": 6, "test": 6}}
    return study


def write_repositories(study: dict[str, Any], repositories: Repositories) -> None:
    """Write the models and data sets that the study has from the hub."""
    for name, model in study["models"].items():
        place = repositories.add("models", model["hub"], model["revision"])
        berts.write(place, n_layers=3 if name == "large" else 2, cased=name == "cased")
    text = study["corpora"]["text"]["wikipedia"]
    place = repositories.add("datasets", text["hub"], text["revision"])
    data_sets.write_wikitext(place, text["name"])
    ((glue, commit),) = {
        (task["hub"], task["revision"]) for task in study["tasks"].values() if "hub" in task
    }
    data_sets.write_glue(repositories.add("datasets", glue, commit), 16, 6)


@pytest.fixture
def study(tmp_path: Path) -> dict[str, Any]:
    """The study, which lies in the folder of the test."""
    found = without_fetching(yaml.safe_load(STUDY.read_text(encoding="utf-8")))
    (tmp_path / "papers.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    return found


def test_what_the_hub_has_is_downloaded_once_and_then_read_offline(
    study: dict[str, Any], tmp_path: Path
) -> None:
    repositories = Repositories(tmp_path / "hub")
    write_repositories(study, repositories)

    def run(*options: str, **more: str) -> None:
        command = [sys.executable, "-m", "snakemake", *options, "--snakefile", ROOT / "Snakefile"]
        command += ["--cores", "2", "--directory", tmp_path, "--configfile", "papers.yaml"]
        done = subprocess.run(
            command, cwd=tmp_path, env=env | more, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-9000:] + done.stderr[-9000:]

    hub, nothing = Server(Hub, repositories), Server(Nothing)
    with serving(hub), serving(nothing):
        env = environment(hub.url, nothing.url, tmp_path / "home") | {"PYTHONPATH": str(ROOT)}
        run("check")
        run("all", "--dry-run")
        weights = [line for line in hub.asked if line.startswith("GET") and "safetensors" in line]
        assert len(weights) == len(study["models"])
        assert nothing.asked == []
        products = [f"{RESULTS}/corpora/wikipedia.jsonl", f"{RESULTS}/tasks/mnli.parquet"]
        allowed = ("--allowed-rules", "segments", "prepare_task")
        run(*products, "--force", *allowed, HF_HUB_OFFLINE="1")
