"""docs/faults.md names a test for every fault, and every test of faults."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/faults.md").read_text(encoding="utf-8")
ROWS = [
    line
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| Fault |"))
]
NAMED = re.compile(r"`((?:tests/\w+/)?test_\w+\.py)::(test_\w+)`")


def named(text: str) -> set[tuple[str, str]]:
    """Files below the repository and tests that a text names."""
    return {
        (file if "/" in file else f"tests/faults/{file}", test)
        for file, test in NAMED.findall(text)
    }


def functions_of(path: Path) -> set[str]:
    """The test functions that a file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_a_row_names_tests_that_exist(row: str) -> None:
    assert row.count("|") == 6
    assert all(cell.strip() for cell in row.split("|")[1:-1])
    assert named(row)
    for file, test in named(row):
        assert test in functions_of(ROOT / file), f"{file}::{test}"


def test_the_page_names_every_test_of_faults() -> None:
    tests = {
        (f"tests/faults/{path.name}", test)
        for path in (ROOT / "tests/faults").glob("test_*.py")
        for test in functions_of(path)
    }
    assert tests
    assert tests <= named(PAGE)
