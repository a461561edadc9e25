"""Another workflow imports this one as a module, from a folder of its own."""

import subprocess
import sys
from pathlib import Path

import yaml

from tests.default_study import MODEL, RESULTS

ROOT = Path(__file__).parents[2]
IMPORTING = f"""
configfile: "study.yaml"

module atlas:
    snakefile: "{ROOT}/Snakefile"
    config: config["atlas"]

use rule * from atlas as atlas_*

rule mine:
    input: "{RESULTS}/{MODEL}/figures/clark2019-fig4.svg"
    output: "mine.txt"
    shell: "wc {{input}} > {{output}}"
"""


def test_an_importing_workflow_plans_a_figure(tmp_path: Path) -> None:
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({"atlas": study}), encoding="utf-8")
    (tmp_path / "Snakefile").write_text(IMPORTING, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", "mine.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for rule in ("atlas_extract", "atlas_entropy", "atlas_clark2019_fig4", "mine"):
        assert f"rule {rule}:" in done.stdout + done.stderr
