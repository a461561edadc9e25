"""Every chapter alone, and every pair of chapters: it can be planned, or what it lacks is named."""

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from copy import deepcopy
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.default_study import MODEL, RESULTS
from workflow_scripts.core.data import packages
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import prerequisites, schema
from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"
# What the others are made from, and the report; a study always has these, if by default.
SOURCES = ["attention", "checkpoints", "corpora", "report", "tasks"]
ANALYSES = [name for name in schema.chapters(SCHEMAS) if name not in SOURCES]
ALONE_AND_PAIRS = [{name} for name in ANALYSES] + [set(pair) for pair in combinations(ANALYSES, 2)]


def study(names: Iterable[str]) -> dict[str, Any]:
    """The default study with the analyses `names` alone, and the models that are not for others."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    models = config["models"].items()
    config["models"] = {
        name: model for name, model in models if set(model.get("chapters", ())) <= set(names)
    }
    return {key: part for key, part in config.items() if key not in set(ANALYSES) - set(names)}


def with_needed(names: Iterable[str]) -> set[str]:
    """`names` and the chapters that they need, and so on."""
    needed = {
        other
        for name in names
        for other in prerequisites.declared_needs(name, SCHEMAS).get("chapters", [])
    }
    return set(names) if needed <= set(names) else with_needed(needed | set(names))


def smallest(config: dict[str, Any]) -> dict[str, Any]:
    """The study without the corpora, tasks and settings that the check can do without."""
    corpora = [("corpora", kind, name) for kind, part in config["corpora"].items() for name in part]
    tasks = [("tasks", name) for name in config["tasks"]]
    for *parents, last in [*corpora, *tasks, ("attention",), ("checkpoints",)]:
        smaller = deepcopy(config)
        part = smaller
        for key in parents:
            part = part[key]
        del part[last]
        with contextlib.suppress(InputError):
            check(smaller, SCHEMAS)
            config = smaller
    return config


def label(names: Iterable[str]) -> str:
    return "+".join(sorted(names))


def test_the_default_study_has_all_chapters() -> None:
    filled = check(study(ANALYSES), SCHEMAS)
    assert prerequisites.present(filled, SCHEMAS) == schema.chapters(SCHEMAS)


def test_a_chapter_has_a_schema() -> None:
    assert schema.chapters(SCHEMAS) == sorted(
        path.parent.name
        for path in (ROOT / "workflow_scripts").glob("*/__init__.py")
        if path.parent.name != "core"
    )


def test_core_names_no_key_of_a_chapter() -> None:
    parts = schema.assemble(SCHEMAS)["properties"]
    keys = {
        f"{chapter}.{key}"
        for chapter in schema.chapters(SCHEMAS)
        for key in parts[chapter]["properties"]
    }
    for path in (ROOT / "workflow_scripts/core").rglob("*.py"):
        named = [
            key
            for key in keys
            if re.search(rf"\b{re.escape(key)}\b", path.read_text(encoding="utf-8"))
        ]
        assert named == [], path


@pytest.mark.parametrize("chapter", schema.chapters(SCHEMAS))
def test_needs_name_what_there_is(chapter: str) -> None:
    needed = prerequisites.declared_needs(chapter, SCHEMAS)
    assert needed.keys() <= {"chapters", "study", "model", "kinds"}
    assert set(needed.get("chapters", [])) <= set(ANALYSES)
    assert set(needed.get("study", [])) <= schema.assemble(SCHEMAS)["conditions"].keys()


@pytest.mark.parametrize("names", ALONE_AND_PAIRS, ids=label)
def test_a_study_of_some_chapters_is_accepted_or_what_is_missing_is_named(names: set[str]) -> None:
    missing = with_needed(names) - names
    if not missing:
        check(study(names), SCHEMAS)
        return
    with pytest.raises(InputError) as error:
        check(study(names), SCHEMAS)
    message = re.fullmatch(r"config: (\w+): needs (\w+); add it or remove (\w+)", str(error.value))
    assert message is not None
    assert message[1] == message[3]
    assert (message[1] in names, message[2] in missing) == (True, True)


# Claims and the atlas leave out the chapters that a study lacks, and translation has data of
# its own, so that they need nothing.
@pytest.mark.parametrize(
    "names", [n for n in ALONE_AND_PAIRS if not n <= {"claims", "atlas", "translation"}], ids=label
)
def test_without_texts_and_tasks_there_is_an_error(names: set[str]) -> None:
    config = study(with_needed(names)) | {"corpora": {}, "tasks": {}}
    with pytest.raises(InputError) as error:
        check(config, SCHEMAS)
    assert re.match(
        r"config: \w+(: needs (a GLUE task|tasks\.arct); add|\.\w+: .* is not in corpora\.\w+)",
        str(error.value),
    )


def test_snakemake_plans_what_the_check_accepts(tmp_path: Path) -> None:
    """Each chapter with no more than it declares: a rule that uses more would not be planned."""
    files = []
    for names in {label(with_needed([name])): with_needed([name]) for name in ANALYSES}.values():
        path = tmp_path / label(names) / f"{label(names)}.yaml"
        path.parent.mkdir()
        path.write_text(yaml.safe_dump(smallest(study(names))), encoding="utf-8")
        files.append(str(path))
    planned = plan(*files)
    assert planned.returncode == 0, planned.stderr[-3000:]


def test_a_chapter_that_joins_a_study_is_held_against_the_models_card(tmp_path: Path) -> None:
    config = study(["surface"])
    source = config["models"][MODEL]
    card = {
        "source": source | packages.pin(source["package"]),
        "special": {"cls": 1, "sep": 2, "mask": None, "pad": 0},
    }
    path = tmp_path / RESULTS / MODEL / "attention/model.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(card), encoding="utf-8")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    planned = plan(str(tmp_path / "study.yaml"))
    assert planned.returncode != 0
    assert f"config: models.{MODEL}: surface needs a mask token" in planned.stderr


def plan(*files: str) -> subprocess.CompletedProcess:
    """Plan studies in a process of its own, which Snakemake changes."""
    script = str(ROOT / "tests/core/plan_studies.py")
    return subprocess.run([sys.executable, script, *files], capture_output=True, text=True)
