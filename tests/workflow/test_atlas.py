"""The atlas of a finished study: its numbers, and the tables that it has not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.atlas.plainly import DATA, check, tables_shown_and_not
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.atlas import Atlas


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


def test_the_table_of_heads_has_a_row_for_each(results: Path) -> None:
    table = pd.read_csv(results / "heads.csv")
    measures = Atlas(results).measures
    names = ["model", "type", "layer", "head"]
    assert len(table) == len(measures.drop_duplicates(names))
    assert table["entropy.all low [nats]"].count() > 0


def test_a_sentence_is_on_the_page_and_stays(copied_study: TinyStudy) -> None:
    """Of every model but the translators; what is built later has it too."""
    folder = copied_study.folder
    words = ["tiny.yaml", "the king built a town .", "--cores", "2"]
    subprocess.run(  # by the copy's own code, as the page depends on its files
        [sys.executable, "-m", "workflow_scripts.atlas.sentence", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        check=True,
    )
    page = folder / "results/tiny/atlas.html"
    data = json.loads(DATA.search(page.read_text(encoding="utf-8"))[1])
    models = {model["name"] for model in data["models"] if "types" not in model}
    assert {each["model"] for each in data["segments"] if each["id"] == "own-1"} == models
    assert data["study"]["file"] == "tiny.yaml"
    assert not {"sentence_maps", "atlas_data", "atlas_page"} & copied_study.planned()
