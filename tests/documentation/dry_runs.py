"""Dry runs of many commands in one process: `dry_runs.py <<< '[["all", "--cores", "1"], ...]'`.

Each is the words after `snakemake`, run in the current folder, with a folder of placeholders in
place of the user's data.
"""

import json
import sys
import traceback
from pathlib import Path

import yaml
from snakemake.cli import args_to_api, parse_args

from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"
QUIET = ["--dry-run", "--quiet", "all", "--snakefile", str(ROOT / "Snakefile")]


def dry_run(words: list[str]) -> bool:
    """Whether Snakemake plans the jobs of a command."""
    parser, options = parse_args([*QUIET, *words])
    place_data(options)
    return args_to_api(options, parser)


def place_data(options: object) -> None:
    """Put an empty file or folder wherever the study of a command expects the user's data."""
    given = dict(entry.split("=", 1) for entry in options.config or [])
    if "data" in given:
        given["data"] = given["data"].lstrip("/")
        options.config = [f"{key}={value}" for key, value in given.items()]
    for file in options.configfile or []:
        study = yaml.safe_load(Path(file).read_text(encoding="utf-8")) | given
        root = schema.assemble(SCHEMAS)
        for node in schema.nodes(check(study, SCHEMAS), root, root):
            if node.schema.get("format") in ("path", "data-path"):
                place(Path(node.value))


def place(path: Path) -> None:
    """A folder with a model's config.json, or an empty file where the name has an ending."""
    if path.exists():
        return
    if path.suffix:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    else:
        path.mkdir(parents=True)
        (path / "config.json").touch()


if __name__ == "__main__":
    failed = []
    for words in json.load(sys.stdin):
        try:
            planned = dry_run(words)
        except (Exception, SystemExit):
            traceback.print_exc()
            planned = False
        if not planned:
            failed.append("snakemake " + " ".join(words))
    sys.exit("not planned: " + "; ".join(failed) if failed else 0)
