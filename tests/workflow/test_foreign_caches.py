"""No script reads an attention cache of another model."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.workflow.tiny_study import ROOT, TinyStudy

ROW = "model,corpus,example,layer,head,class,tokens\ntiny,mrpc,e,1,1,block,0000000000000000\n"


def test_every_script_refuses_caches_of_another_model(
    tiny_study: TinyStudy, tmp_path: Path
) -> None:
    """Scripts are found by the names of their parameters, and none that opens caches is missed."""
    own = {"file": str(tmp_path / "mine.csv"), "caches": ["tiny/mrpc"]}
    Path(own["file"]).write_text(ROW, encoding="utf-8")
    patterns = tiny_study.config["patterns"] | {"builtin": False, "annotations": [own]}
    study = tiny_study.config | {"patterns": patterns}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    command = [sys.executable, ROOT / "tests/workflow/foreign_caches.py"]
    done = subprocess.run(
        [*command, tmp_path / "study.yaml", tmp_path / "written"],
        cwd=tiny_study.folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert openers() <= {name.partition(":")[0] for name in said}
    for name, error in said.items():
        assert "was made by another model (another)" in str(error), f"{name}: {error}"


def openers() -> set[str]:
    """The scripts that open a cache themselves, by their paths below workflow_scripts/."""
    scripts = {path: path.read_text("utf-8") for path in ROOT.glob("workflow_scripts/*/*.py")}
    return {
        f"{path.parent.name}/{path.name}"
        for path, text in scripts.items()
        if "\ndef main(" in text and re.search(r"\bCache\(", text)
    }
