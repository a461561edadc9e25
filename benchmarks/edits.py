"""How many jobs each of twenty-odd edits plans again, where the default study is finished.

    python benchmarks/edits.py

Files of this checkout are edited, planned and put back: let nothing run in it meanwhile.
"""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.printed import rules_of  # noqa: E402

TRAININGS = {"mlm_head", "train_probes", "pattern_classifier", "translator_training"}
TRAININGS |= {"finetune", "finetune_every_epoch", "finetune_random"}
TRAININGS |= {"argument_grid", "argument_grid_words", "argument_run", "argument_run_words"}
# Keys of the study with their new values.
KEYS = (
    "attention.shards: 4",
    "ablation.shards: 4",
    "pruning.shards: 4",
    "device: cpu",
    "threads: 2",
    "tasks.sst2.n_dev: 300",
    "tasks.sst2.domains.products.n_dev: 50",
    "tasks.arct.from.generate.test: 38",
    "translation.data.from.generate.test: 90",
    "translation.generation.beams: 2",
    "checkpoints.finetune.every_epoch: []",
    "checkpoints.finetune.seeds: [1, 2]",
    "checkpoints.finetune.keep_weights: false",
    "arguments.seeds: [1, 2]",
    "untrained.copies: 4",
    "surface.threshold: 0.4",
    "report.about: other words",
)
# Files with what is put at their end.
FILES = {
    "workflow_scripts/core/errors.py": "ADDED = 1\n",
    "workflow_scripts/core/run/job.py": "ADDED = 1\n",
    "workflow_scripts/surface/figures.py": "ADDED = 1\n",
    "workflow_scripts/surface/entropy.py": "# a comment\n",
}


def changed(config: dict[str, Any], edit: str) -> dict[str, Any]:
    """A copy of a config with the value of the dotted key of an edit, as KEYS has them."""
    config = copy.deepcopy(config)
    ((name, value),) = yaml.safe_load(edit).items()
    *above, last = name.split(".")
    part = config
    for key in above:
        part = part.setdefault(key, {})
    part[last] = value
    return config


@contextmanager
def written(path: Path, text: str) -> Iterator[None]:
    """Within, `text` is what the file holds."""
    before = path.read_bytes()
    try:
        path.write_text(text, "utf-8")
        yield
    finally:
        path.write_bytes(before)


def planned() -> list[str]:
    """The rules of the jobs that a dry run in this checkout would run."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [rule for rule in rules_of(done.stdout + done.stderr) if rule != "all"]


def main() -> None:
    """Print a row for each edit, then all as a line of JSON."""
    study = ROOT / "config.yaml"
    config, found = yaml.safe_load(study.read_text("utf-8")), {}
    edits = [("none", study, study.read_text("utf-8"))]
    for edit in KEYS:
        edits.append((edit, study, yaml.safe_dump(changed(config, edit), sort_keys=False)))
    for name, text in FILES.items():
        edits.append((f"{name}: {text.strip()}", ROOT / name, (ROOT / name).read_text() + text))
    for edit, path, text in edits:
        with written(path, text):
            rules = planned()
        found[edit] = len(rules), sum(rule in TRAININGS for rule in rules)
        print(f"| {edit} | {found[edit][0]} | {found[edit][1]} |", flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
