"""Broken archives, dumps and binary files: one line that names the file."""

from pathlib import Path

import pytest

from tests.bad_input.formats import CONLL, FORMATS
from tests.bad_input.refused import refused
from tests.corpora.test_fetch_sdist import zipped
from tests.corpora.test_segments import DUMP
from workflow_scripts.corpora.segments import articles_of_file
from workflow_scripts.corpora.tree_files import trees_of

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


@pytest.mark.parametrize(
    "content",
    [b"no archive", TREES[:-30], zipped({"README.md": b"none"}), zipped({"a.conllx": b"1\tThe\n"})],
    ids=["none", "cut off", "no trees", "broken trees"],
)
def test_a_broken_archive_of_trees_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trees.zip"
    path.write_bytes(content)
    refused(lambda: trees_of(path, "auto"), path)
