"""Run studies/real.yaml from nothing to its claims, with no network but a server on this machine.

`python -m tests.papers.from_nothing DATA FOLDER`, from the repository, is given a directory of real
data and a new folder for a copy of the workflow, in which the study runs with the first of its
seeds. More options are Snakemake's. It takes about two hours on two cores, and may be stopped and
started again.
"""

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import yaml

from tests.papers import real_data
from tests.papers.hub import Hub, Mirror, Nothing, Repositories, Server, serving
from tests.workflow.copied import copy_workflow

STUDY = "studies/real.yaml"
SEED = {"checkpoints": {"finetune": {"seeds": [1]}}}


def main() -> int:
    """Make up the server's files where there are none, and run the study against it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    given, options = parser.parse_known_args()
    folder = given.folder.resolve()
    workflow, repositories = folder / "workflow", Repositories(folder)
    tasks = yaml.safe_load(Path(STUDY).read_text(encoding="utf-8"))["tasks"].values()
    ((name, commit),) = {(task["hub"], task["revision"]) for task in tasks if "hub" in task}
    if not workflow.exists():
        real_data.write_mirror(given.data, folder / "mirror")
        real_data.write_glue(given.data, repositories.add("datasets", name, commit))
        copy_workflow(workflow)
        (workflow / "one_seed.yaml").write_text(json.dumps(SEED), encoding="utf-8")
    repositories.commits["datasets", name] = commit
    with ExitStack() as servers:
        hub, mirror, nothing = (
            servers.enter_context(serving(Server(handler, repositories)))
            for handler in (Hub, Mirror, Nothing)
        )
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *options]
        env = {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(folder / "home"),
            "ATLAS_MIRROR": mirror.url,
            "HTTP_PROXY": nothing.url,
            "HTTPS_PROXY": nothing.url,
            "NO_PROXY": "127.0.0.1",
        }
        done = subprocess.run(
            [*command, "--configfile", STUDY, "one_seed.yaml"], cwd=workflow, env=os.environ | env
        )
        print(f"asked of the network: {sorted(set(nothing.asked))}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
