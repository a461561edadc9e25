"""Every chapter alone: it can be planned, or what it lacks is named."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.default_study import MODEL, RESULTS
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import config as run_config
from workflow_scripts.core.run import schema, sources
from workflow_scripts.core.run.config import check

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "rules/schemas"
# What the others are made from, and the report; a study always has these, if by default.
SOURCES = ["attention", "checkpoints", "corpora", "report", "tasks"]
ANALYSES = [name for name in schema.chapters(SCHEMAS) if name not in SOURCES]


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
        for other in run_config.declared_needs(name, SCHEMAS).get("chapters", [])
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


def test_the_default_study_has_all_chapters_for_models_of_several_shapes() -> None:
    filled = check(study(ANALYSES), SCHEMAS)
    others = [name for name in schema.chapters(SCHEMAS) if name not in ("compare", "context")]
    assert run_config.present(filled, SCHEMAS) == others


@pytest.mark.parametrize("chapter", ANALYSES)
def test_a_chapter_alone_is_accepted_or_what_is_missing_is_named(chapter: str) -> None:
    if missing := with_needed([chapter]) - {chapter}:
        with pytest.raises(InputError, match=f"^config: {chapter}: needs ({'|'.join(missing)}); "):
            check(study([chapter]), SCHEMAS)
    else:
        check(study([chapter]), SCHEMAS)


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
    package = config["models"][MODEL]["from"].removeprefix("package:")
    card = {
        "source": {"package": package, **sources.pin(package)},
        "special": {"cls": 1, "sep": None, "mask": 3, "pad": 0},
    }
    path = tmp_path / RESULTS / MODEL / "attention/model.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(card), encoding="utf-8")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    planned = plan(str(tmp_path / "study.yaml"))
    assert planned.returncode != 0
    assert f"config: models.{MODEL}: surface: needs a [SEP] token" in planned.stderr


def plan(*files: str) -> subprocess.CompletedProcess:
    """Plan studies in a process of its own, which Snakemake changes."""
    script = str(ROOT / "tests/core/plan_studies.py")
    return subprocess.run([sys.executable, script, *files], capture_output=True, text=True)
