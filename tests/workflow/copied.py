"""A copy of all that the workflow consists of, in which a test may run and change it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ["Snakefile", "config.yaml", "rules", "workflow_scripts", "profiles", "report", "envs"]
PARTS += ["annotations", "claims", "studies", "sources"]


def copy_workflow(folder: Path) -> None:
    """Copy the workflow to `folder`, with its bytecode."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            half_written = shutil.ignore_patterns("*.pyc.*", "code.*.[0-9]*")
            shutil.copytree(source, folder / part, ignore=half_written)
        else:
            shutil.copy2(source, folder / part)
