"""Every block of every page is executed by a test, but for a few that are listed with a reason."""

import pytest

from tests.documentation.blocks import Block, blocks
from tests.documentation.test_doc_python import PYTHON
from tests.documentation.test_doc_shell import STAND_INS
from tests.documentation.test_doc_snakefiles import SNAKEFILES
from tests.documentation.test_doc_yaml import STUDIES

NOT_EXECUTED = {
    ("README.md", "mermaid"): "a drawing, made by the site that shows the page",
    ("docs/preflight.md", "text"): "what preflight printed in one run",
}


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_a_block_is_executed_or_listed(block: Block) -> None:
    """Commands of the shell all are: tests/documentation/test_doc_shell.py has no list of pages."""
    executed = {"python": PYTHON, "snakemake": SNAKEFILES, "yaml": STUDIES}
    assert (
        block.language == "bash"
        or block.page in executed.get(block.language, ())
        or (block.page, block.language) in NOT_EXECUTED
    )


def test_what_is_listed_exists() -> None:
    found = {(block.page, block.language) for block in blocks()}
    assert found >= NOT_EXECUTED.keys()
    assert found >= {(page, "yaml") for page in STUDIES}
    assert found >= {(page, "bash") for page in STAND_INS}
