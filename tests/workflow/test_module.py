"""Another workflow imports this one as a module and makes one figure."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.test_repository import ROOT
from tests.workflow.tiny_study import made_up_text

SNAKEFILE = """\
configfile: "other.yaml"

module atlas:
    snakefile: "{root}/Snakefile"
    config: config["atlas"]

use rule * from atlas as atlas_*

rule paper:
    default_target: True
    input: "results/mine/mine/figures/clark2019-fig4.svg"
    output: "paper.svg"
    shell: "cp {{input}} {{output}}"
"""


def test_a_workflow_that_imports_this_one_makes_a_figure(
    tiny_model_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "texts").mkdir()
    for number in range(2):
        (tmp_path / f"texts/{number}.txt").write_text(made_up_text(number), encoding="utf-8")
    atlas = {
        "study": "mine",
        "device": "cpu",
        "models": {"mine": {"path": str(tiny_model_dir)}},
        "corpora": {"text": {"texts": {"path": "texts", "n_segments": 6, "max_tokens": 24}}},
        "surface": {"corpus": "texts"},
    }
    (tmp_path / "other.yaml").write_text(yaml.safe_dump({"atlas": atlas}), encoding="utf-8")
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(root=ROOT), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2"],
        cwd=tmp_path,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<svg" in (tmp_path / "paper.svg").read_text(encoding="utf-8")
