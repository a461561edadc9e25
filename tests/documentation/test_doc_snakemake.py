"""Every `snakemake` command of the pages is one: its options are read, its jobs are planned."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from snakemake.cli import parse_args

from tests.documentation.blocks import ROOT, commands, of

# Options for something else than jobs: with these a command is read, but not planned.
NO_JOBS = {
    "--report": "needs a finished study; make demo runs it",
    "--touch": "needs a finished study",
    "--unlock": "needs a locked folder; tests/faults runs it",
}
TUTORIAL = "docs/tutorial.md"


def test_every_command_is_read_by_snakemake() -> None:
    found = commands("snakemake")
    assert len(found) > 60
    for _, words in found:
        if words != ["--profile"]:  # the option is named, no command given
            parse_args(["--snakefile", str(ROOT / "Snakefile"), *words])
    assert NO_JOBS.keys() <= {word for _, words in found for word in words}


def test_every_command_is_planned(tmp_path: Path) -> None:
    """Those that differ in targets alone are planned as one; a wrong one is found."""
    for name in ("config.yaml", "studies", "profiles"):
        (tmp_path / name).symlink_to(ROOT / name)
    (study,) = (block.text for block in of("yaml") if block.page == TUTORIAL)
    (tmp_path / "mine.yaml").write_text(study, encoding="utf-8")
    targets = defaultdict(set)
    for _, words in commands("snakemake"):
        if not NO_JOBS.keys() & set(words) and words != ["--profile"]:
            asked, options = parted(words)
            targets[tuple(options)] |= set(asked or ["all"])
    assert len(targets) > 10
    runs = [["no_such_rule"], *([*sorted(asked), *opts] for opts, asked in targets.items())]
    done = subprocess.run(
        [sys.executable, "-m", "tests.documentation.dry_runs"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        input=json.dumps(runs),
        capture_output=True,
        text=True,
    )
    assert done.stderr.endswith("\nnot planned: snakemake no_such_rule\n"), done.stderr[-3000:]


def parted(words: list[str]) -> tuple[list[str], list[str]]:
    """The targets of a command, and its options without the number of cores."""
    options = parse_args(["--snakefile", str(ROOT / "Snakefile"), *words])[1]
    asked = list(options.targets)
    rest = [word for word in words if word not in asked and word not in {"-n", "--"}]
    if "--cores" in rest:
        at = rest.index("--cores")
        rest[at : at + 2] = []
    return asked, rest
