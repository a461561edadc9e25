"""What the Snakemake Workflow Catalog reads, and a study that runs where it is checked out."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from docs.configuration import CATALOG, JOINED, for_catalog, joined
from tests.test_repository import ROOT
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import check

SCHEMAS = ROOT / "rules/schemas"
SCHEMA = yaml.safe_load(joined())
STUDIES = [ROOT / "config.yaml", ROOT / ".test/config.yaml", *sorted(ROOT.glob("studies/*.yaml"))]


def test_the_reference_and_the_joined_schema_are_those_of_make_docs() -> None:
    assert CATALOG.read_text(encoding="utf-8") == for_catalog()
    assert JOINED.read_text(encoding="utf-8") == joined()


def test_the_joined_schema_is_that_of_the_chapters_but_for_a_path() -> None:
    """Next to `hub` or `fetch`, of which the workflow takes one."""
    own, written = (json.dumps(part) for part in (schema.assemble(SCHEMAS), SCHEMA))
    assert written != own
    assert written.replace('"anyOf"', '"oneOf"') == own.replace('"anyOf"', '"oneOf"')


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_the_joined_schema_accepts_what_the_workflow_does(study: Path) -> None:
    jsonschema.validate(yaml.safe_load(study.read_text(encoding="utf-8")), SCHEMA)


@pytest.mark.parametrize("source", [{}, {"hbu": "x"}])
def test_the_joined_schema_refuses_what_the_workflow_does(source: dict[str, str]) -> None:
    study = {"study": "s", "models": {"m": {"path": "x"}}, "tasks": {"mrpc": source}}
    with pytest.raises(InputError):
        check(study, SCHEMAS)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(study, SCHEMA)


def test_the_workflow_refuses_two_places_which_the_joined_schema_does_not() -> None:
    mrpc = {"path": "x", "sdist": "a/b"}
    study = {"study": "s", "models": {"m": {"path": "x"}}, "tasks": {"mrpc": mrpc}}
    with pytest.raises(InputError, match="give exactly one of"):
        check(study, SCHEMAS)


def test_links_of_the_reference_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)", CATALOG.read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        assert (CATALOG.parent / target).exists(), target


def test_the_study_of_the_checkout_is_one() -> None:
    check(yaml.safe_load((ROOT / ".test/config.yaml").read_text(encoding="utf-8")), SCHEMAS)


def test_the_catalog_knows_how_it_is_used() -> None:
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["software-stack-deployment"]["conda"]
    assert usage["mandatory-flags"]["flags"] == "--software-deployment-method conda"
    assert usage["report"]


def test_what_runs_elsewhere_names_what_there_is() -> None:
    """Targets of make, and files, of the GitHub workflow and of the container."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    container = (ROOT / "envs/Dockerfile").read_text(encoding="utf-8")
    targets = re.findall(r"make (?:-C \S+ )?(\w+)", "\n".join([*commands, container]))
    assert targets == ["lint", "unit", "setup"]
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
