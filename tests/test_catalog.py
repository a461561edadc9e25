"""What the Snakemake Workflow Catalog reads, and a study that runs where it is checked out."""

import re

import yaml

from tests.test_repository import ROOT
from workflow_scripts.core.run.config import check

SCHEMAS = ROOT / "rules/schemas"


def test_the_study_of_the_checkout_is_one() -> None:
    check(yaml.safe_load((ROOT / ".test/config.yaml").read_text(encoding="utf-8")), SCHEMAS)


def test_what_runs_elsewhere_names_what_there_is() -> None:
    """Targets of make, and files, of the GitHub workflow."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    targets = re.findall(r"make (?:-C \S+ )?(\w+)", "\n".join(commands))
    assert targets == ["lint", "unit"]
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)
    assert any("-d .test" in command for command in commands)


def test_versions_agree() -> None:
    """The changelog's newest dated entry, the package and the citation."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(
        r"^## (\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)$", changelog, re.M
    ).groups()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{version}"' in project
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == version
    assert str(citation["date-released"]) == date
