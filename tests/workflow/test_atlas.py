"""The atlas of a finished study: its numbers, and the tables that it has not."""

from pathlib import Path

import pytest

from tests.atlas.plainly import check, tables_shown_and_not
from tests.workflow.tiny_study import TinyStudy


@pytest.fixture
def results(tiny_study: TinyStudy) -> Path:
    return tiny_study.folder / "results/tiny"


def test_every_number_is_that_of_its_table(results: Path) -> None:
    assert check(results / "atlas.json") > 80


def test_docs_list_which_tables_of_heads_are_not_in_the_atlas(results: Path) -> None:
    shown, explained, neither = tables_shown_and_not(results / "atlas.json", results)
    assert neither == set()
    assert shown & explained == set()
    assert shown
    assert explained
