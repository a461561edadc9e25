"""The profiles name rules as the rule files do."""

from pathlib import Path

import yaml

from tests.rule_files import Rule, read_rules

ROOT = Path(__file__).parents[1]


def runs_a_model(rule: Rule) -> bool:
    """Whether the rule, or the rule that it is a twin of, has the resources of such jobs."""
    if rule.has("resources"):
        return "_JOB," in rule.body
    return rule.base is not None and runs_a_model(rule.base)


def test_slurm_sends_the_rules_that_run_a_model_to_the_gpu_partition() -> None:
    text = (ROOT / "profiles/slurm/config.yaml").read_text(encoding="utf-8")
    partitions = yaml.safe_load(text)["set-resources"]
    expected = {rule.name for rule in read_rules(ROOT) if runs_a_model(rule)}
    assert {"extract", "extract_task", "extract_checkpoint", "finetune"} <= expected
    assert partitions == {name: {"slurm_partition": "gpu"} for name in expected}
