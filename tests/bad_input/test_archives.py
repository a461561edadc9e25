"""Broken archives, dumps and binary files: one line that names the file."""

import bz2
import io
import json
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from safetensors.numpy import save_file

from tests.bad_input.formats import FORMATS
from tests.bad_input.refused import refused
from tests.corpora.test_fetch_sdist import tar, zipped
from tests.corpora.test_segments import DUMP
from workflow_scripts.core.data import archives, tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.glue import TASKS
from workflow_scripts.core.data.hub import load_rows
from workflow_scripts.core.data.packages import inside_package
from workflow_scripts.core.data.vectors import read_vectors, write_vectors
from workflow_scripts.core.errors import InputError
from workflow_scripts.corpora import fetch_sdist, word_vectors
from workflow_scripts.corpora.sources import articles, articles_of_file
from workflow_scripts.corpora.tree_files import trees_of
from workflow_scripts.corpora.treebank import from_hub
from workflow_scripts.patterns.annotated_maps import stored_maps, write_maps
from workflow_scripts.tasks.glue_files import read_hub

LAUGHS = '<!DOCTYPE x [<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 12)
)
LAUGHS += "]>"
PACKED = bz2.compress(DUMP.encode())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", b""),
        ("a.xml", b"Plain text.\n"),
        ("a.xml", DUMP[:-20].encode()),
        ("a.xml", DUMP.replace("<title>", "<title", 1).encode()),
        ("a.xml", DUMP.replace("<text", "<text>&undefined;</text><text", 1).encode()),
        ("a.xml", (LAUGHS + DUMP.replace("<title>", "<title>&a11;", 1)).encode()),
        ("a.xml", b'<?xml version="1.0" encoding="klingon"?>' + DUMP.encode()),
        ("a.xml", b"\xff\xfe" + DUMP.encode()),
        ("a.xml", DUMP.replace("<title>", "<title>\0", 1).encode()),
        ("a.xml", DUMP.replace("<ns>0</ns>", "").replace("<title>", "<name>").encode()),
        ("a.xml.bz2", PACKED[:-5]),
        ("a.xml.bz2", PACKED[:30] + b"\0\0" + PACKED[32:]),
        ("a.xml.bz2", DUMP.encode()),
        ("a.xml.bz2", b""),
    ],
)
def test_a_broken_dump_is_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    refused(lambda: articles_of_file(path, "auto"), path)


def test_entities_of_a_file_outside_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("A secret.", encoding="utf-8")
    entity = f'<!DOCTYPE x [<!ENTITY out SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
    path = tmp_path / "a.xml"
    path.write_text(entity + DUMP.replace("<title>", "<title>&out;", 1), encoding="utf-8")
    line = refused(lambda: articles_of_file(path, "auto"), path)
    assert "secret" not in line.replace(str(tmp_path), "")


def test_laughs_of_a_lexical_unit_are_refused(tmp_path: Path) -> None:
    form = FORMATS["FrameNet"]
    path = tmp_path / form.name
    path.write_text(form.valid.replace("<lexUnit", f"{LAUGHS}<lexUnit", 1), encoding="utf-8")
    refused(lambda: form.read(path), f"{path}:1:", "a document type")


def archive_of_trees() -> bytes:
    return zipped({"a.conllx": FORMATS["CoNLL-X"].valid.encode() * 20})


def encrypted() -> bytes:
    """The archive with the mark of an encrypted member, in its header and in its directory."""
    data = bytearray(archive_of_trees())
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        archive_of_trees()[:-30],
        archive_of_trees().replace(b"dog", b"cat", 1),
        encrypted(),
        zipped({}),
        zipped({"README.md": b"none"}),
        zipped({"a.conllx": b"1\tThe\n"}),
        zipped({"a.conllx": b"\xff"}),
    ],
    ids="empty none cut-off another-byte encrypted nothing no-trees broken encoding".split(),
)
def test_a_broken_archive_of_trees_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trees.zip"
    path.write_bytes(content)
    refused(lambda: trees_of(path, "auto"), path)


FILES = {f"top/{k}.txt": bytes(range(256)) * 40 for k in range(3)}


def repacked(data: bytes, kind: str) -> bytes:
    """The same members, packed otherwise."""
    plain = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(data)) as source,
        tarfile.open(fileobj=plain, mode=f"w:{kind}") as target,
    ):
        for member in source:
            target.addfile(member, source.extractfile(member))
    return plain.getvalue()


def changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF, data[at + 1] ^ 0xFF]) + data[at + 2 :]


TAR = tar(FILES)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tar.gz", b""),
        ("a.tar.gz", TAR[:-40]),
        ("a.tar.gz", TAR[:200]),
        ("a.tar.gz", changed(TAR, 100)),
        ("a.tar.gz", changed(TAR, len(TAR) // 2)),
        ("a.tar.xz", repacked(TAR, "xz")[:-60]),
        ("a.tar.xz", changed(repacked(TAR, "xz"), 120)),
        ("a.tar.bz2", changed(repacked(TAR, "bz2"), 120)),
        ("a.tar", tar(FILES)),
        ("a.zip", zipped(FILES)[:-10]),
        ("a.zip", zipped(FILES).replace(bytes(range(256)), bytes(256), 1)),
        ("a.zip", b"PK"),
        ("a.tar.gz", tar({"one.txt": b"x"})),
        ("a.tar.gz", tar({"one/a.txt": b"x", "two/a.txt": b"x"})),
        ("a.tar.gz", tar({"top/in.tar.gz": TAR[:-40]})),
        ("a.tar.gz", tar({"top/in.zip": zipped({"../../out": b"x"})})),
        ("a.tar.gz", tar({"top/in.tgz": tar({"../../out": b"x"})})),
    ],
    ids=range(17),  # the content has the time of its packing
)
def test_a_broken_distribution_is_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if name == "a.tar":  # packed although its name states otherwise, which tarfile sees
        fetch_sdist.unpack(path, tmp_path / "out", "rated==1.0")
        return
    refused(lambda: fetch_sdist.unpack(path, tmp_path / "out", "rated==1.0"), "sdists: rated==1.0")
    assert not list(tmp_path.rglob("out*/../out.txt"))
    assert not (tmp_path / "out").is_file()


def test_an_lzma_error_is_among_those_that_are_caught() -> None:
    assert lzma.LZMAError in archives.UNREADABLE


def test_a_damaged_table_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    tables.write(pd.DataFrame({"id": [f"e{k}" for k in range(500)], "n": range(500)}), path)
    valid = path.read_bytes()
    for content in (b"", b"PAR1", valid[:-1], valid[:100], valid[4:], b"id,n\na,1\n"):
        path.write_bytes(content)
        refused(lambda: tables.read(path), path, "delete the file and run again")
    path.write_bytes(valid)
    refused(lambda: tables.read(path, ("id", "label")), path, "no column label")
    refused(lambda: tables.read(tmp_path / "none.parquet"), tmp_path / "none.parquet")


def test_a_changed_byte_of_a_table_is_one_line_or_changes_nothing(tmp_path: Path) -> None:
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
        except InputError as error:
            assert str(path) in str(error)
            refusals += 1
        else:
            pd.testing.assert_frame_equal(read, frame)
    assert refusals > 150


def test_damaged_vectors_are_one_line(tmp_path: Path) -> None:
    vectors, words = tmp_path / "v.safetensors", tmp_path / "w.txt"
    write_vectors(["the", "a\x85b"], np.eye(2), vectors, words)
    assert read_vectors(vectors, words).rows == {"the": 0, "a\x85b": 1}
    valid = vectors.read_bytes()
    for content in (b"", valid[:-1], valid[:20], b"\xff" * 40, valid + b"x"):
        vectors.write_bytes(content)
        refused(lambda: read_vectors(vectors, words), vectors, "run again")
    for matrix in (np.eye(2), np.ones(2, "f4"), np.full((2, 2), np.nan, "f4")):
        save_file({"vectors": matrix}, vectors)
        refused(lambda: read_vectors(vectors, words), vectors, "finite float32")
    save_file({"others": np.eye(2, dtype="f4")}, vectors)
    refused(lambda: read_vectors(vectors, words), vectors)
    vectors.write_bytes(valid)
    for content in (b"the\n", b"the\na\nb\n", b"the\n\xff\n"):
        words.write_bytes(content)
        refused(lambda: read_vectors(vectors, words), words)
    words.unlink()
    refused(lambda: read_vectors(vectors, words), words)


@pytest.mark.parametrize(
    "content", [b"", b"3 2\n", b"x y\n", b"2 1\nthe \x00\x00", b"1 2\nthe 1\n", b"1 1\nthe nan\n"]
)
@pytest.mark.parametrize("ending", [".bin", ".txt"])
def test_broken_downloaded_vectors_are_one_line(
    tmp_path: Path, content: bytes, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gensim import downloader

    path = tmp_path / f"mine{ending}"
    path.write_bytes(content)
    monkeypatch.setattr(downloader, "load", lambda name, return_path: str(path))
    if ending == ".bin" and content.startswith(b"1 "):
        return  # any four bytes are a number
    refused(lambda: word_vectors.from_downloader("mine"), path)


def test_binary_vectors_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gensim import downloader

    made = KeyedVectors(2)
    made.add_vectors(["the", "cat"], np.eye(2, dtype="f4"))
    path = tmp_path / "mine.bin"
    made.save_word2vec_format(str(path), binary=True)
    monkeypatch.setattr(downloader, "load", lambda name, return_path: str(path))
    words, matrix = word_vectors.from_downloader("mine")
    assert words == ["the", "cat"]
    assert np.array_equal(matrix, np.eye(2))
    path.write_bytes(path.read_bytes()[:-6])
    refused(lambda: word_vectors.from_downloader("mine"), "download: mine", path)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"null", b"\xff", b"[" * 100_000])
def test_a_damaged_card_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    refused(lambda: read_card(path), path, "delete it and run again")


def test_damaged_maps_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "annotation.h5"
    key = ("minilm", "wikipedia", "w-1", 0, 1, "12345678")
    write_maps(path, [key] * 2, [(np.eye(5), np.zeros(5), np.zeros(5))] * 2)
    assert stored_maps(path, []) == []
    valid = path.read_bytes()
    for content in (b"", valid[:-1], valid[: len(valid) // 2], b"\x89HDF\r\n\x1a\n" + b"\0" * 90):
        path.write_bytes(content)
        refused(lambda: stored_maps(path, []), path, "draw the sheets again")


@pytest.mark.parametrize("location", ["", "none/a", "gensim/../../x", "gensim/none", "gensim/\0"])
def test_a_wrong_file_of_a_package_is_one_line(location: str) -> None:
    refused(lambda: inside_package(location), "package: ")


def hub(folder: Path, rows: list[dict]) -> dict[str, str]:
    """A dataset in the hub's form, in a directory."""
    folder.mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    for split in ("train", "validation", "test"):
        (folder / f"{split}.jsonl").write_text(lines, encoding="utf-8")
    return {"hub": str(folder), "revision": "main", "name": "default"}


GOOD = {"sentence1": "A", "sentence2": "B", "label": 1}
TREE = {"tokens": ["It", "ran"], "head": ["2", "0"], "deprel": ["nsubj", "root"]}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([GOOD, GOOD | {"label": None}], ":2: label None"),
        ([GOOD, GOOD | {"label": 2}], ":2: label 2"),
        ([GOOD, GOOD | {"label": -1}], ":2: label -1"),
        ([GOOD | {"label": "1"}], ":1: label '1'"),
        ([GOOD | {"sentence1": 5}], ":1: a text that is no string"),
        ([GOOD, GOOD | {"sentence2": None}], ":2: an empty text"),
        ([{"sentence1": "A", "label": 1}], "no column sentence2"),
    ],
)
def test_wrong_rows_of_a_task_of_the_hub_are_one_line(
    tmp_path: Path, rows: list[dict], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    source = hub(tmp_path / "mrpc", rows)
    refused(lambda: read_hub(source, "mrpc", TASKS["mrpc"]), tmp_path / "mrpc", words)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([TREE, TREE | {"head": ["2"]}], ":2: not as many heads"),
        ([TREE, TREE | {"deprel": None}], ":2: not as many heads"),
        ([TREE | {"head": ["9", "0"]}], ":1: a head is outside"),
        ([TREE | {"head": ["2", "1"]}], ":1: no word of this sentence has head 0"),
        ([{"tokens": ["It"]}], "no column head"),
    ],
)
def test_wrong_trees_of_the_hub_are_one_line(
    tmp_path: Path, rows: list[dict], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    source = hub(tmp_path / "trees", rows) | {"split": "test"}
    refused(lambda: from_hub(source), tmp_path / "trees", words)


@pytest.mark.parametrize("row", [{"text": None}, {"title": None, "text": "A"}, {"words": "A"}])
def test_wrong_texts_of_the_hub_are_one_line(
    tmp_path: Path, row: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    source = hub(tmp_path / "text", [row])
    refused(lambda: articles(source), tmp_path / "text")
    refused(lambda: load_rows({"hub": str(tmp_path / "none"), "revision": "x"}), "hub", "none")
