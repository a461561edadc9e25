"""The digest of what a script computes."""

import sys
from pathlib import Path

import pytest

from tests.import_graph import file_of, import_graph
from workflow_scripts.core.integrity import code_digest
from workflow_scripts.core.integrity.code_digest import KEPT, _kept, _read, digest, modules


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    root = tmp_path / "workflow_scripts"
    (root / "core/run").mkdir(parents=True)
    (root / "__pycache__").mkdir()
    (root / "surface").mkdir()
    for folder in (root, root / "core", root / "core/run", root / "surface"):
        (folder / "__init__.py").write_text('"""Package."""\n')
    (root / "core/deep.py").write_text("VALUE = 1\n")
    (root / "core/run/job.py").write_text("import workflow_scripts.core.other\n")
    (root / "core/run/schema.py").write_text("from workflow_scripts.core.deep import VALUE\n")
    (root / "core/other.py").write_text("VALUE = 2\n")
    (root / "surface/entropy.py").write_text(
        '"""Entropy."""\nfrom workflow_scripts.core.run import job, schema\n\n'
        'def f(x):\n    """Doc."""\n    return x  # why\n'
    )
    return root


def fresh(path: Path) -> str:
    for read_before in (_read, _kept, digest):
        read_before.cache_clear()
    return digest(path)


@pytest.mark.parametrize(
    ("file", "old", "new", "changes"),
    [
        ("surface/entropy.py", "# why", "# because", False),
        ("surface/entropy.py", '"""Doc."""', '"""Other."""', False),
        ("surface/entropy.py", "return x", "return x + 1", True),
        ("core/deep.py", "1", "3", True),
        ("core/other.py", "2", "3", False),
        ("core/run/job.py", "other", "deep", False),
        ("core/__init__.py", '"""Package."""', "X = 1", True),
    ],
)
def test_only_meaning_counts(package: Path, file: str, old: str, new: str, changes: bool) -> None:
    script = package / "surface/entropy.py"
    before = fresh(script)
    text = (package / file).read_text()
    assert old in text
    (package / file).write_text(text.replace(old, new))
    assert (fresh(script) != before) == changes


def test_the_next_start_parses_nothing(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = package / "surface/entropy.py"
    before = fresh(script)
    monkeypatch.setattr(code_digest, "_code", None)
    assert fresh(script) == before
    (package / KEPT).unlink()
    with pytest.raises(TypeError):
        fresh(script)


def test_what_is_collected_of_every_chapter_counts(package: Path) -> None:
    script = package / "surface/entropy.py"
    script.write_text(
        'from workflow_scripts.chapters import collect\n\nFOUND = collect("measures")\n'
    )
    before = fresh(script)
    (package / "syntax").mkdir()
    (package / "syntax/measures.py").write_text("VALUE = 1\n")
    assert (collected := fresh(script)) != before
    (package / "syntax/other.py").write_text("VALUE = 1\n")
    assert fresh(script) == collected


def test_modules_are_those_that_an_independent_reading_of_the_imports_finds() -> None:
    graph = import_graph()
    for silent in ("workflow_scripts.core.errors", "workflow_scripts.core.run.job"):
        graph.remove_module(silent)
    names = {name for name in graph.modules if not graph.find_children(name)}
    assert len(names) > 100
    for name in names:
        reached = {name} | (graph.find_upstream_modules(name) & names)
        read = {path for path in modules(file_of(name)) if path.name != "__init__.py"}
        assert read == {file_of(module) for module in reached}, name
