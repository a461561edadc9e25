"""What holds for all of the repository: style, safe formats, layering, and pins that agree."""

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from tests.rule_files import Rule, read_rules, snakefiles
from workflow_scripts import chapters

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workflow_scripts"
MODULES = sorted(PACKAGE.rglob("*.py"))
SNAKEFILES = snakefiles(ROOT)
CHAPTERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
CHAPTERS.remove("core")

RULES = read_rules(ROOT)
WITH_SCRIPT = [rule for rule in RULES if rule.script]
MAX_LINES = 300
MAX_ARGUMENTS = 8
# What the import is called where the distribution is called otherwise.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "pyyaml"}


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff(arguments: list[str]) -> None:
    done = run("ruff", *arguments, "--no-cache", ".")
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakefmt() -> None:
    done = run("snakefmt", "--check", *map(str, SNAKEFILES))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_LINES, f"more than {MAX_LINES} lines: split it"
    assert ast.get_docstring(ast.parse(text)), "no docstring"


def test_functions_take_few_arguments() -> None:
    """Only the parameters of a script's `main` are as many as its rule has."""
    many = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name != "main":
                number = len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
                many += [f"{path}: {node.name}"] if number > MAX_ARGUMENTS else []
    assert many == [], f"more than {MAX_ARGUMENTS} arguments: group them in a dataclass"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_unsafe(path: Path) -> None:
    assert unsafe(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("f(trust_remote_code=True)", ["trust_remote_code"]),
        ("np.load(path, allow_pickle=True)", ["allow_pickle"]),
        ("frame.to_pickle(path)", ["to_pickle"]),
        ("json.loads(text); np.load(path); f(trust_remote_code=False)", []),
    ],
)
def test_unsafe_finds(source: str, found: list[str]) -> None:
    assert unsafe(source) == found


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("import pickle", "TID251"),
        ("from joblib import dump", "TID251"),
        ("def f():\n    import dill", "TID251"),
        ("import torch\ntorch.load(path)", "TID251"),
        ("import torch\ntorch.save(model, path)", "TID251"),
        ("import pandas as pd\npd.read_pickle(path)", "TID251"),
        ("eval(text)", "S307"),
        ("import subprocess\nsubprocess.run(text, shell=True)", "S602"),
        ("import yaml\nyaml.load(text)", "S506"),
        ("from .errors import InputError", "TID252"),
    ],
)
def test_ruff_refuses(source: str, rule: str) -> None:
    options = ("--no-cache", "--output-format=concise", "--stdin-filename")
    done = run("ruff", "check", *options, str(PACKAGE / "core/new.py"), "-", text=source)
    assert re.search(rf": {rule} ", done.stdout), done.stdout + done.stderr


def test_layers() -> None:
    """The contracts of pyproject.toml: chapters, rooms of core."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_layers_refuse_imports_of_chapters(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    wrong = {
        "core/stats/wrong.py": "workflow_scripts.surface.entropy",
        "surface/wrong.py": "workflow_scripts.syntax.counting",
        "core/data/wrong.py": "workflow_scripts.core.model.models",
    }
    for path, module in wrong.items():
        (tmp_path / PACKAGE.name / path).write_text(f"import {module}\n", encoding="utf-8")
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    for path, module in wrong.items():
        name = "workflow_scripts." + path.removesuffix(".py").replace("/", ".")
        assert f"{name} -> {module}" in done.stdout


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_stands_in_its_places(chapter: str) -> None:
    assert (ROOT / f"rules/{chapter}.smk").is_file()
    assert list((ROOT / "tests" / chapter).glob("test_*.py")), "no test"
    assert chapter in (*chapters.CHAPTERS, "preflight")


def test_every_smk_is_a_chapter_or_a_part_of_one() -> None:
    """A long chapter is cut into rules/<chapter>_<part>.smk, which rules/<chapter>.smk includes."""
    names = {path.stem for path in (ROOT / "rules").glob("*.smk")} - {"common"}
    parts = names - set(CHAPTERS)
    assert names - parts == set(CHAPTERS)
    for part in parts:
        chapter = (ROOT / "rules" / f"{part.partition('_')[0]}.smk").read_text(encoding="utf-8")
        assert f'include: "{part}.smk"' in chapter


@pytest.mark.parametrize("rule", WITH_SCRIPT, ids=lambda rule: rule.name)
def test_rule_is_whole_and_named_after_its_script(rule: Rule) -> None:
    assert (PACKAGE / rule.script).is_file()
    assert rule.code == rule.script, "code= and script: name different files"
    stem = Path(rule.script).stem
    # Other rules that run the same script begin with its name.
    twin = rule.name.startswith(f"{stem}_") and stem in {other.name for other in RULES}
    assert rule.name == stem or twin, f"it runs {stem}.py"
    # A rule that always runs has no product; a benchmark would be one.
    for directive in ("log", "benchmark") if rule.has("output") or rule.base else ("log",):
        assert rule.has(directive), f"no {directive}"
    assert rule.conda and (ROOT / "envs" / rule.conda).is_file(), "no conda environment"


def test_inputs_of_mains_are_of_types_that_a_job_makes() -> None:
    """A job turns the paths that Snakemake gives into these; others would stay texts."""
    made = {"Path", "Path | None", "list[Path]"}
    for path in sorted((ROOT / "workflow_scripts").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == "main":
                hints = {ast.unparse(each.annotation) for each in node.args.args}
                assert {hint for hint in hints if "Path" in hint} <= made, path


def test_every_script_is_run_by_a_rule() -> None:
    written = [path.relative_to(PACKAGE) for path in MODULES if "job.run(main" in path.read_text()]
    assert {rule.script for rule in WITH_SCRIPT} == set(map(str, written))


def test_a_rule_without_a_script_only_names_targets() -> None:
    for rule in RULES:
        targets = not rule.has("output") and not rule.has("shell") and not rule.has("run")
        assert rule.script or targets, rule.name


def test_snakefiles_import_neither_torch_nor_pandas() -> None:
    """They are parsed again for every remote job; pandas would double the time."""
    statements = [
        line
        for path in SNAKEFILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"(from|import) workflow_scripts", line)
    ]
    assert statements, "no import found: nothing is checked"
    slow = "{'torch', 'transformers', 'pandas'}"
    check = f"import sys; sys.exit(', '.join({slow} & set(sys.modules)) or 0)"
    done = run("-c", "\n".join([*statements, check]))
    assert done.returncode == 0, done.stderr


def test_scripts_of_the_light_environment_need_no_more() -> None:
    """Rules with envs/analysis.yaml run where the packages of envs/torch.yaml alone are missing."""
    light = [rule for rule in WITH_SCRIPT if rule.conda == "analysis.yaml"]
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


def test_requirements_leave_torch_alone() -> None:
    """Its build depends on the machine, so it is installed before other packages."""
    assert "torch" not in pins("requirements.txt") | pins("test.txt") | pins("models.txt")


def test_dependencies_are_declared_and_pinned() -> None:
    imported = {
        name.split(".")[0] for path in MODULES for name in imports(path.read_text(encoding="utf-8"))
    }
    imported -= {*sys.stdlib_module_names, "workflow_scripts"}
    used = {normal(DISTRIBUTIONS.get(name, name)) for name in imported}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {normal(re.split(r"[<>=]", entry)[0]) for entry in project["dependencies"]}
    assert "torch" in used
    assert used - declared == set(), "used, but not in pyproject.toml"
    # Snakemake itself comes from the process that starts the job.
    assert used - conda_pins("torch").keys() - {"snakemake"} == set(), "not in envs/torch.yaml"
    assert declared - (pins("requirements.txt") | pins("torch.txt")).keys() == set(), "not pinned"


def test_versions_of_the_project_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]


@pytest.mark.parametrize("name", ["snakemake", "transformers", "h5py", "numpy"])
def test_the_pinned_version_is_installed(name: str) -> None:
    assert importlib.metadata.version(name) == pins("requirements.txt")[name]


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


def unsafe(source: str) -> list[str]:
    """Pickles and foreign code that ruff has no rule for: methods and keywords of calls."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        if ast.unparse(node.func).endswith(".to_pickle"):
            found.append("to_pickle")
        for keyword in node.keywords:
            off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            if keyword.arg in {"trust_remote_code", "allow_pickle"} and not off:
                found.append(keyword.arg)
    return found


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
