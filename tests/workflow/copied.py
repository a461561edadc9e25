"""A copy of all that the workflow consists of, in which a test may run and change it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ["Snakefile", "config.yaml", "rules", "workflow_scripts", "profiles", "report", "envs"]
PARTS += ["annotations", "claims", "studies", "sources"]


def copy_workflow(folder: Path) -> None:
    """Copy the workflow to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / part)
