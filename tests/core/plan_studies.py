"""Plan studies as `snakemake --dry-run` does, in one process: `plan_studies.py study.yaml ...`."""

import sys
import traceback
from pathlib import Path

import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

ROOT = Path(__file__).parents[2]


def plan(study: Path, folder: Path) -> None:
    """Build the jobs of the default targets, with `folder` as the working directory."""
    config = yaml.safe_load(study.read_text(encoding="utf-8"))
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, dryrun=True)) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(config=config),
            snakefile=ROOT / "Snakefile",
            workdir=folder,
        )
        workflow.dag().execute_workflow(executor="dryrun")


if __name__ == "__main__":
    failed = []
    for path in map(Path, sys.argv[1:]):
        try:
            plan(path.absolute(), path.parent.absolute())
        except Exception:
            traceback.print_exc()
            failed.append(path.stem)
    sys.exit(f"not planned: {', '.join(failed)}" if failed else 0)
