"""What runs elsewhere: the study of the checkout, and targets of make that others name."""

import re
from pathlib import Path

import yaml

from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[1]


def test_the_study_of_the_checkout_is_one() -> None:
    study = yaml.safe_load((ROOT / ".test/config.yaml").read_text(encoding="utf-8"))
    check(study, ROOT / "rules/schemas")


def test_what_runs_elsewhere_names_targets_that_there_are() -> None:
    """The GitHub workflow, the container and the continuous integration."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    files = (".github/workflows/test.yml", "envs/Dockerfile", ".ci/run")
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in files)
    targets = set(re.findall(r"make (?:-C \S+ )?([a-z][\w-]*)", text))
    assert {"lint", "unit", "setup", "test-web"} <= targets
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.M)] == []


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
