"""The columns that the pages of docs/chapters/ name are in the tables of a finished study."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests import chapter_pages
from tests.chapter_pages import PAGES
from tests.workflow.tiny_study import TinyStudy

# The entries of the tiny study that stand for any in the pages' paths.
NAMES = {"model": "tiny", "task": "mrpc", "init": "pretrained", "seed": "1", "corpus": "trees"}
NAMES |= {"text": "made-up", "treebank": "trees", "coreference": "stories", "frames": "roles"}
NAMES |= {"vectors": "own"}


def columns(path: Path) -> set[str]:
    """The columns of a table."""
    if path.suffix == ".parquet":
        return set(pq.read_schema(path).names)
    return set(pd.read_csv(path, nrows=0).columns)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_have_the_columns_of_the_page(page: Path, tiny_study: TinyStudy) -> None:
    results = tiny_study.folder / "results/tiny"
    missing = []
    for product in chapter_pages.products(page):
        if product.columns:
            name = chapter_pages.filled(product.files[0], NAMES)
            missing += [(name, each) for each in {*product.columns} - columns(results / name)]
    assert missing == []
