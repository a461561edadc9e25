"""What holds for all of the repository: style, safe formats, layering, and pins that agree."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "workflow_scripts"
MODULES = sorted(PACKAGE.rglob("*.py"))
SNAKEFILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
CHAPTERS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
CHAPTERS.remove("core")

MOST_LINES = 300
PICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
LOADERS = {"torch.load", "torch.save", "pandas.read_pickle", "pd.read_pickle"}
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
    assert len(text.splitlines()) <= MOST_LINES, f"more than {MOST_LINES} lines: split it"
    assert ast.get_docstring(ast.parse(text)), "no docstring"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_unsafe(path: Path) -> None:
    assert unsafe(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", ["pickle"]),
        ("from joblib import dump", ["joblib"]),
        ("def f():\n    import dill", ["dill"]),
        ("torch.load(path)", ["torch.load"]),
        ("f(trust_remote_code=True)", ["trust_remote_code"]),
        ("np.load(path, allow_pickle=True)", ["allow_pickle"]),
        ("frame.to_pickle(path)", ["to_pickle"]),
        ("json.loads(text); np.load(path); f(trust_remote_code=False)", []),
    ],
)
def test_unsafe_finds(source: str, found: list[str]) -> None:
    assert unsafe(source) == found


def test_core_knows_no_chapter() -> None:
    known = {
        (path.name, name)
        for path in (PACKAGE / "core").rglob("*.py")
        for name in imports(path.read_text(encoding="utf-8"))
        if name.startswith("workflow_scripts.")
    }
    assert known, "core imports nothing of its own: the check has lost its object"
    assert [pair for pair in known if not pair[1].startswith("workflow_scripts.core")] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_stands_in_its_places(chapter: str) -> None:
    assert (ROOT / f"rules/{chapter}.smk").is_file()
    assert list((ROOT / "tests" / chapter).glob("test_*.py")), "no test"
    included = (ROOT / "Snakefile").read_text(encoding="utf-8")
    assert f'include: "rules/{chapter}.smk"' in included


def test_every_smk_is_a_chapter() -> None:
    names = {path.stem for path in (ROOT / "rules").glob("*.smk")}
    assert names - {"common"} == set(CHAPTERS)


def test_snakefiles_do_not_import_torch() -> None:
    """They are parsed again for every remote job."""
    statements = [
        line
        for path in SNAKEFILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"(from|import) workflow_scripts", line)
    ]
    assert statements, "no import found: the check has lost its object"
    check = "import sys; sys.exit(', '.join({'torch', 'transformers'} & set(sys.modules)) or 0)"
    done = run("-c", "\n".join([*statements, check]))
    assert done.returncode == 0, done.stderr


def test_scripts_of_the_light_environment_need_no_more() -> None:
    """Rules with envs/analysis.yaml run where the packages of envs/torch.yaml alone are missing."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SNAKEFILES)
    rule = r'^ +"\.\./envs/analysis\.yaml"\n(?:(?!^rule ).*\n)*? +"\.\./workflow_scripts/(.+)\.py"$'
    scripts = [script.replace("/", ".") for script in re.findall(rule, text, re.MULTILINE)]
    assert len(scripts) == text.count("envs/analysis.yaml") > 0
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
    """Its build depends on the machine, so it is installed before the rest."""
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


def run(*arguments: str) -> subprocess.CompletedProcess:
    """Run a Python module (or `-c` code) in the repository's root."""
    how = [] if arguments[0] == "-c" else ["-m"]
    command = [sys.executable, *how, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def imports(source: str) -> list[str]:
    """Full names of the modules that a source imports, within functions too."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import: write the full name"
            names += [node.module] if node.module != "workflow_scripts" else []
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def unsafe(source: str) -> list[str]:
    """Pickles and foreign code in a source: modules, calls and keywords that must not be used."""
    found = sorted({name.split(".")[0] for name in imports(source)} & PICKLERS)
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in LOADERS:
            found.append(name)
        elif name.endswith(".to_pickle"):
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
