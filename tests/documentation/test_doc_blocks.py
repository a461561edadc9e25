"""Every block of every page is tested, but for a few that are listed with a reason.

Python is executed, YAML checked against the schemas, Snakemake's rules and commands planned, other
commands checked for names and options.
"""

import pytest

from tests.documentation.blocks import Block, blocks
from tests.documentation.test_doc_python import PYTHON, RECIPES
from tests.documentation.test_doc_snakefiles import SNAKEFILES
from tests.documentation.test_doc_yaml import STUDIES

NOT_EXECUTED = {
    ("README.md", "mermaid"): "a drawing, made by the site that shows the page",
    ("docs/preflight.md", "text"): "what preflight printed in one run",
}


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_a_block_is_tested_or_listed(block: Block) -> None:
    """Commands of the shell are checked one by one, on every page, in test_doc_shell.py."""
    tested = {"python": {RECIPES, *PYTHON}, "snakemake": SNAKEFILES, "yaml": STUDIES}
    assert (
        block.language == "bash"
        or block.page in tested.get(block.language, ())
        or (block.page, block.language) in NOT_EXECUTED
    )


def test_what_is_listed_exists() -> None:
    found = {(block.page, block.language) for block in blocks()}
    assert found >= NOT_EXECUTED.keys()
    assert found >= {(page, "yaml") for page in STUDIES}
    assert found >= {(page, "python") for page in PYTHON}
