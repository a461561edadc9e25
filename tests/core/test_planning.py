"""The work of planning a study: so much for each model, however many others there are."""

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
KEPT = ("corpora", "checkpoints", "surface", "clusters", "claims", "atlas", "report")


def test_planning_grows_with_the_models_and_no_faster(tmp_path: Path) -> None:
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    (model,) = study["models"].values()
    sizes = (3, 6, 12)
    for n in sizes:
        config = {key: study[key] for key in KEPT} | {"study": f"of-{n}"}
        config["models"] = {f"model-{number}": model for number in range(n)}
        (tmp_path / f"{n}.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    files = [str(tmp_path / f"{n}.yaml") for n in sizes]
    command = [sys.executable, "-m", "tests.core.count_planning", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    few, some, many = map(int, done.stdout.split()[-3:])
    assert some - few > 0
    # Twice where each model is the same work, four times where it is work for each other one.
    assert (many - some) / (some - few) < 2.3, done.stdout
