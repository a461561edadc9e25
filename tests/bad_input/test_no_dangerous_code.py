"""No script and no rule could load a pickle or run text as code: read as syntax, not as text."""

import ast
from pathlib import Path

import pytest

from tests.parsed_rules import compiled_snakefiles

ROOT = Path(__file__).parents[2]
BUILT_IN = {"eval", "exec", "compile", "__import__", "shell"}
METHODS = (".to_pickle", ".read_pickle", ".unsafe_load")
CALLS = {"os.system", "os.popen", "torch.load", "torch.save", "pandas.read_pickle", "numpy.load"}
CALLS |= {"np.load", "yaml.load", "yaml.unsafe_load", "KeyedVectors.load", "Word2Vec.load"}
CALLS |= {"subprocess.getoutput", "subprocess.getstatusoutput", "builtins.eval", "builtins.exec"}
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
KEYWORDS = {"allow_pickle": True, "trust_remote_code": True, "shell": True, "weights_only": False}
KEYWORDS |= {"use_safetensors": False}
FOLDERS = {"workflow_scripts", "docs", "profiles", "rules", "tests", "envs"}
LOADERS = ("from_pretrained", "from_config")
NO_LOADERS = {"nn.Embedding", "models.Source", "Source"}  # others' methods of these names


def dangers(tree: ast.AST) -> list[str]:
    """What could load a pickle or run text as code: imports, names and arguments of calls."""
    found = []
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import))
    full = {name.asname: name.name for node in imports for name in node.names if name.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name.name}" for name in node.names]
            found += [name for name in names if name.split(".")[0] in MODULES or name in CALLS]
        elif isinstance(node, ast.Attribute):
            first, _, others = ast.unparse(node).partition(".")
            name = f"{full.get(first, first)}.{others}"
            found += [name] if name in CALLS or name.endswith(METHODS) else []
        elif isinstance(node, ast.Call):
            found += [called] if (called := ast.unparse(node.func)) in BUILT_IN else []
            for keyword in node.keywords:
                if keyword.arg in KEYWORDS:
                    safe = ast.Constant(not KEYWORDS[keyword.arg])
                    found += [] if ast.dump(keyword.value) == ast.dump(safe) else [keyword.arg]
    return found


def unguarded(tree: ast.AST) -> list[str]:
    """Calls that load a model, config or tokenizer and may run code that comes with it."""
    return [
        ast.unparse(call)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in LOADERS
        and ast.unparse(call.func.value) not in NO_LOADERS
        and "trust_remote_code=False" not in map(ast.unparse, call.keywords)
    ]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", ["pickle"]),
        ("from joblib import load", ["joblib.load"]),
        ("def f():\n    import dill", ["dill"]),
        ("from torch import load", ["torch.load"]),
        ("import torch as t\nt.load(path)", ["torch.load"]),
        ("write = torch.save", ["torch.save"]),
        ("from pandas import read_pickle", ["pandas.read_pickle"]),
        ("import pandas as p\np.read_pickle(path)", ["pandas.read_pickle"]),
        ("yaml.load(text)", ["yaml.load"]),
        ("x = eval(text)", ["eval"]),
        ("np.load(path)", ["np.load"]),
        ("frame.to_pickle(path)", ["frame.to_pickle"]),
        ("f(allow_pickle=x)", ["allow_pickle"]),
        (
            "f(trust_remote_code=True, use_safetensors=False)",
            ["trust_remote_code", "use_safetensors"],
        ),
        ("subprocess.run(x, shell=True)", ["shell"]),
        ("subprocess.run(x, shell=False); f(use_safetensors=True)", []),
        ("re.compile(x); json.load(f); yaml.safe_load(f)", []),
    ],
)
def test_dangers_are_found(source: str, found: list[str]) -> None:
    assert dangers(ast.parse(source)) == found


def test_no_script_loads_pickles_or_runs_text() -> None:
    paths = sorted((ROOT / "workflow_scripts").rglob("*.py"))
    assert len(paths) > 100
    paths += [*(ROOT / "docs").glob("*.py"), *(ROOT / "profiles").rglob("*.py")]
    found = {path: dangers(ast.parse(path.read_text(encoding="utf-8"))) for path in paths}
    assert {path: what for path, what in found.items() if what} == {}


@pytest.mark.parametrize(
    ("source", "n"),
    [
        ("AutoModel.from_pretrained(path, dtype=x)", 1),
        ("kind.from_config(config, trust_remote_code=x)", 1),
        ("transformers.AutoConfig.from_pretrained(path, **options)", 1),
        ("AutoModel.from_pretrained(path, trust_remote_code=False)", 0),
        ("models.Source.from_config(entry)", 0),
    ],
)
def test_unguarded_calls_are_found(source: str, n: int) -> None:
    assert len(unguarded(ast.parse(source))) == n


def test_no_call_may_run_a_models_own_code() -> None:
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    loading = [text for text in texts if any(name in text for name in LOADERS)]
    assert len(loading) > 30
    assert [call for text in loading for call in unguarded(ast.parse(text))] == []
    assert [call for tree in compiled_snakefiles().values() for call in unguarded(tree)] == []


def test_no_rule_loads_pickles_or_runs_text() -> None:
    """The rule files as the Python that Snakemake makes of them; none has a shell command."""
    trees = compiled_snakefiles()
    assert len(trees) > 15
    for path, tree in trees.items():
        assert dangers(tree) == [], path
        decorators = [ast.unparse(call) for call in ast.walk(tree) if isinstance(call, ast.Call)]
        assert not [call for call in decorators if call.startswith("workflow.shellcmd(")], path
