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


# Columns that a decoder's tables alone have: tests/<chapter>/test_decoders.py reads them.
OF_DECODERS = {"uniform", "uniform_a", "uniform_b", "coverage", "at_most_tenth_uniform"}
OF_DECODERS |= {"relative", "relative_low", "relative_high", "largest_uniform"}
# Tests of the battery that the study leaves out; tests/battery/ runs them.
LEFT_OUT = ("retrieval", "needles", "causal")


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
        if product.columns and not any(name in product.files[0] for name in LEFT_OUT):
            names = NAMES | ({"model": "decoder"} if page.stem == "battery" else {})
            name = chapter_pages.filled(product.files[0], names)
            lacking = {*product.columns} - columns(results / name)
            missing += [(name, each) for each in lacking - OF_DECODERS]
    assert missing == []
