"""Run studies/real.yaml from nothing to its claims, with no network but a server on this machine.

`python -m tests.papers.from_nothing DATA FOLDER`, from the repository, is given a directory of real
data and a new folder for a copy of the workflow, in which the study runs with the first of its
seeds. More options are Snakemake's. It takes about two hours on two cores, and may be stopped and
started again.
"""

import argparse
import json
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import yaml

from tests.papers import real_data
from tests.papers.hub import Hub, Mirror, Nothing, Repositories, Server, environment, serving
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
    overlay = workflow / "one_seed.yaml"
    if not overlay.is_file():  # the last that is written
        for made in (workflow, folder / "mirror", folder / "datasets"):
            shutil.rmtree(made, ignore_errors=True)
        real_data.write_mirror(given.data, folder / "mirror")
        real_data.write_glue(given.data, repositories.add("datasets", name, commit))
        copy_workflow(workflow)
        overlay.write_text(json.dumps(SEED), encoding="utf-8")
    repositories.commits["datasets", name] = commit
    with ExitStack() as servers:
        hub, mirror, nothing = (
            servers.enter_context(serving(Server(handler, repositories)))
            for handler in (Hub, Mirror, Nothing)
        )
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *options]
        env = environment(hub.url, nothing.url, folder / "home") | {"ATLAS_MIRROR": mirror.url}
        done = subprocess.run(
            [*command, "--configfile", STUDY, overlay.name], cwd=workflow, env=env
        )
        print(f"asked of the network: {sorted(set(nothing.asked))}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
