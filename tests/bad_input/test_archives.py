"""Broken archives, dumps and binary files: one line that names the file."""

import bz2
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.bad_input.formats import CONLL, FORMATS
from tests.bad_input.refused import refused
from tests.corpora.test_fetch_sdist import zipped
from tests.corpora.test_segments import DUMP
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.sources import inside_package
from workflow_scripts.core.data.tasks import TASKS
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora.segments import articles_of_file
from workflow_scripts.corpora.tree_files import trees_of
from workflow_scripts.corpora.treebank import from_hub
from workflow_scripts.patterns.annotated_maps import stored_maps, write_maps
from workflow_scripts.tasks.glue_files import read_hub

LAUGHS = '<!DOCTYPE x [<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12)
)
LAUGHS += "]>"
OUTSIDE = '<!DOCTYPE x [<!ENTITY a11 SYSTEM "file:///etc/passwd">]>'
TREES = zipped({"a.conllx": CONLL.encode()})


@pytest.mark.parametrize("entities", [LAUGHS, OUTSIDE], ids=["laughs", "a file outside"])
def test_entities_are_not_filled_in(tmp_path: Path, entities: str) -> None:
    dump, form = tmp_path / "a.xml", FORMATS["FrameNet"]
    dump.write_text(entities + DUMP.replace("<title>", "<title>&a11;", 1), encoding="utf-8")
    refused(lambda: articles_of_file(dump, "auto"), dump)
    path = tmp_path / form.name
    path.write_text(form.valid.replace("<lexUnit", f"{entities}<lexUnit", 1), encoding="utf-8")
    refused(lambda: form.read(path), path)


def test_a_packed_dump_that_is_cut_off_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.xml.bz2"
    path.write_bytes(bz2.compress(DUMP.encode())[:-5])
    refused(lambda: articles_of_file(path, "auto"), path)


@pytest.mark.parametrize(
    "content",
    [b"no archive", TREES[:-30], zipped({"README.md": b"none"}), zipped({"a.conllx": b"1\tThe\n"})],
    ids=["none", "cut off", "no trees", "broken trees"],
)
def test_a_broken_archive_of_trees_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trees.zip"
    path.write_bytes(content)
    refused(lambda: trees_of(path, "auto"), path)


def test_a_changed_byte_of_a_table_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame({"id": [f"e{k}" for k in range(300)], "score": np.arange(300) / 7})
    tables.write(frame, path)
    valid = path.read_bytes()
    rng = np.random.default_rng(1)
    refusals = 0
    for at in rng.choice(len(valid), 300, replace=False):
        path.write_bytes(
            valid[:at] + bytes([valid[at] ^ (1 << int(rng.integers(8)))]) + valid[at + 1 :]
        )
        try:
            read = tables.read(path, ("id", "score"))
        except (InputError, OSError, ValueError, KeyError):
            refusals += 1
        else:
            pd.testing.assert_frame_equal(read, frame)
    assert refusals > 150


def test_damaged_sheets_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "product"
    key = ("minilm", "wikipedia", "w-1", 0, 1, "12345678")
    write_maps(path, [key] * 2, [(np.eye(5), np.zeros(5), np.zeros(5))] * 2)
    assert stored_maps(path, []) == []
    path.write_bytes(path.read_bytes()[:-1])
    refused(lambda: stored_maps(path, []), path, "draw the sheets again")


@pytest.mark.parametrize("location", ["none/a", "gensim/../../x", "gensim/none"])
def test_a_wrong_file_of_a_package_is_one_line(location: str) -> None:
    refused(lambda: inside_package(location), "package: ")


GOOD = {"sentence1": "A", "sentence2": "B", "label": 1}
TREE = {"tokens": ["It", "ran"], "head": ["2", "0"], "deprel": ["nsubj", "root"]}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([GOOD, GOOD | {"label": 2}], ":2: label 2"),
        ([GOOD, GOOD | {"sentence2": None}], ":2: an empty text"),
        ([{"sentence1": "A", "label": 1}], "no column sentence2"),
        ([TREE, TREE | {"head": ["2"]}], ":2: not as many heads"),
        ([{"tokens": ["It"]}], "no column head"),
    ],
)
def test_wrong_rows_of_the_hub_are_one_line(
    tmp_path: Path, rows: list[dict], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "mine"
    folder.mkdir()
    for split in ("train", "validation", "test"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(lines, encoding="utf-8")
    source = {"hub": str(folder), "revision": "main", "name": "default", "split": "test"}
    if "tokens" in rows[0]:
        refused(lambda: from_hub(source), folder, words)
    else:
        refused(lambda: read_hub(source, "mrpc", TASKS["mrpc"]), folder, words)
