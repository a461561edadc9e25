"""The profiles name rules as the rule files do."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
RULE = r"^(?:use rule (\w+) as )?(?:rule )?(\w+)(?: with)?:\n((?: .*\n|\n)+)"


def rules_on_a_gpu() -> set[str]:
    """Rules with the resources of jobs that run or train a model, twins of such rules included."""
    found: set[str] = set()
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for base, name, body in re.findall(RULE, path.read_text(encoding="utf-8"), re.MULTILINE):
            if "_JOB," in body or ("resources:" not in body and base in found):
                found.add(name)
    return found


def test_slurm_sends_the_rules_that_run_a_model_to_the_gpu_partition() -> None:
    text = (ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8")
    asked = yaml.safe_load(text)["set-resources"]
    assert {"extract", "extract_task", "extract_checkpoint", "finetune"} <= rules_on_a_gpu()
    assert set(asked) == rules_on_a_gpu()
    assert all(entry == {"slurm_partition": "gpu"} for entry in asked.values())
