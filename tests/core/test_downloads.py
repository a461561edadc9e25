"""The tables of public data, and how a study names what is fetched."""

import csv
import hashlib
import re
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.test_repository import ROOT
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads
from workflow_scripts.core.run.config import check, check_paths
from workflow_scripts.corpora import fetch_source

SCHEMAS = ROOT / "rules/schemas"
# Branches and releases, not commits: whether these change, their SHA-256 would tell, once known.
UNPINNED = {"framenet", "framenet-1.5", "glove", "newstest"}
LOCAL = {
    "arct": "arct",
    "gum": "gum_sd",
    "litbank": "litbank",
    "multi30k": "multi30k",
    "ud-ewt": "ud_ewt",
}
FOLDERS = {"dep/stanford": "dep_stanford", "coref/conll": "coref_conll"}


def study(**changes: Any) -> dict[str, Any]:
    base = {"study": "s", "models": {"m": {"package": "p/m"}}, "tasks": {"arct": {"fetch": "arct"}}}
    return base | changes


def rows(name: str) -> list[str]:
    """The source of each row of a table, which has the ends of lines that git gives it."""
    text = (downloads.TABLES / name).read_bytes().decode()
    assert "\r" not in text, name
    assert not text.startswith("\ufeff"), name
    return [row["source"] for row in csv.DictReader(text.splitlines())]


def test_the_tables_are_sorted_and_complete() -> None:
    names, of = (rows(name) for name in ("sources.csv", "files.csv"))
    assert names == sorted(set(names))
    assert of == sorted(of)
    assert set(of) == set(names)
    for source in downloads.sources().values():
        assert re.fullmatch("[a-z0-9.-]*[a-z0-9]", source.name)
        assert not source.name.endswith((".work", ".sha256"))
        assert source.what.strip(), source.name
        assert source.licence.strip(), source.name
        assert source.by in fetch_source.BY
        assert re.fullmatch("https://.*/", source.url)
        assert all(re.fullmatch("[a-z0-9.-]+", host) for host in source.hosts), source.name
        places = [PurePosixPath(file.name) for file in source.files]
        assert [str(place) for place in places] == [file.name for file in source.files]
        assert len({*places}) == len(places)
        assert not {*places} & {parent for place in places for parent in place.parents}
        assert all(re.fullmatch("[0-9a-f]{64}|", file.sha256) for file in source.files)
        for part in source.parts:
            assert any(file.name.startswith(f"{part}/") for file in source.files), part


def test_urls_have_a_fixed_commit() -> None:
    for source in downloads.sources().values():
        for file in source.files if source.name not in UNPINNED else ():
            parts = (source.url + file.at).split("/")
            assert any(re.fullmatch("[0-9a-f]{8}|[0-9a-f]{40}", part) for part in parts), file


def test_the_checksums_are_those_of_the_real_files(real_data: Path) -> None:
    seen = set()
    for name, folder in LOCAL.items():
        for file in downloads.sources()[name].files:
            inside = Path(file.name)
            inside = Path(FOLDERS.get(str(inside.parent), inside.parent), inside.name)
            path = real_data / folder / inside
            flat = real_data / folder / inside.name
            path = path if path.is_file() else flat
            if path.is_file() and file.sha256:
                assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256, file
                assert file.n_bytes == path.stat().st_size
                seen.add(name)
    assert seen == set(LOCAL)


def test_what_is_fetched_lies_in_its_sources_folder() -> None:
    mentions = {"fetch": "gum/coref/conll", "treebank": "gum"}
    pair = {"fetch": "multi30k", "source": "train.en.gz", "target": "train.de.gz"}
    config = study(
        corpora={
            "treebanks": {"gum": {"fetch": "gum/dep/stanford"}},
            "coreference": {"mentions": mentions},
        },
        translation={"data": {"train": pair, "validation": pair, "test": pair}, "train": {}},
    )
    checked = check(config, SCHEMAS)
    check_paths(checked, SCHEMAS)  # not there before a job has fetched them
    located = downloads.locate(checked, SCHEMAS)
    assert located["tasks"]["arct"]["path"] == "results/downloads/arct"
    assert located["corpora"]["treebanks"]["gum"]["path"] == "results/downloads/gum/dep/stanford"
    found = located["corpora"]["coreference"]["mentions"]
    assert found["path"] == "results/downloads/gum/coref/conll"
    assert found["trees"] == "results/downloads/gum/dep/stanford"
    assert located["translation"]["data"]["train"] == {
        "source": "results/downloads/multi30k/train.en.gz",
        "target": "results/downloads/multi30k/train.de.gz",
    }
    assert downloads.directories(located) == [
        "results/downloads/gum",
        "results/downloads/arct",
        "results/downloads/multi30k",
    ]
    assert checked["tasks"]["arct"]["fetch"] == "arct"


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        ("results/downloads/gum/a/b.txt", "results/downloads/gum"),
        ("results/downloads/gum", "results/downloads/gum"),
        ("results/downloads", None),
        ("results/demo/a.txt", None),
        ("/results/downloads/gum/a", None),
    ],
)
def test_directory_of_a_path(path: str, directory: str | None) -> None:
    assert downloads.directory_of(path) == directory


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"study": "downloads"}, "'downloads' is taken by results/downloads/"),
        ({"tasks": {"arct": {"fetch": "arkt"}}}, "tasks.arct.fetch: 'arkt' is no source; accepted"),
        ({"tasks": {"arct": {"fetch": "arct/../gum"}}}, "the source arct has no such file"),
        ({"tasks": {"mrpc": {"fetch": "gum/dep"}}}, ""),
        ({"tasks": {"mrpc": {"fetch": "gum"}}}, "accepted: gum/dep/stanford, gum/coref/conll"),
        ({"tasks": {"mrpc": {"fetch": "framenet/framenet_v17.zip/../x"}}}, "has no such file"),
        ({"tasks": {"mrpc": {"fetch": "arct/dev-full.txt/x"}}}, "has no such file"),
        ({"tasks": {"mrpc": {"fetch": "gum/depp"}}}, "the source gum has no such file or folder"),
        ({"tasks": {"mrpc": {"fetch": "gum/dep/stan"}}}, "the source gum has no such file"),
        ({"tasks": {"mrpc": {"fetch": "gum", "package": "x"}}}, "give exactly one of"),
        ({"tasks": {"sst2": {"fetch": "framenet/framenet_v17.zip/framenet_v17"}}}, ""),
    ],
)
def test_what_a_config_names_is_checked(changes: dict[str, Any], words: str) -> None:
    if not words:
        check(study(**changes), SCHEMAS)
        return
    with pytest.raises(InputError, match=re.escape(words)):
        check(study(**changes), SCHEMAS)


def test_a_changed_row_is_fetched_again_but_not_for_a_word() -> None:
    digests = {source.digest for source in downloads.sources().values()}
    assert len(digests) == len(downloads.sources())
    gum = downloads.sources()["gum"]
    assert replace(gum, licence="other", what="other").digest == gum.digest
    changed = replace(gum.files[0], sha256="0" * 64)
    moved = replace(gum.files[0], at="elsewhere")
    for file in (changed, moved):
        assert replace(gum, files=(file, *gum.files[1:])).digest != gum.digest
    for change in ({"url": "https://elsewhere/"}, {"by": "sacrebleu"}):
        assert replace(gum, **change).digest != gum.digest


@pytest.mark.parametrize(
    ("coreference", "words"),
    [
        ({"treebank": "parsed"}, "treebank: 'parsed' has no files of its own"),
        ({"treebank": "gum", "trees": "x"}, "treebank: trees is given, too"),
        ({"licensed": "../x"}, "'../x' leads out of the directory"),
        ({"licensed": 3}, "licensed: 3 is of the wrong type"),
    ],
)
def test_trees_and_licensed_data_are_checked(coreference: dict[str, Any], words: str) -> None:
    corpora = {
        "text": {"w": {"path": "x"}},
        "treebanks": {"gum": {"fetch": "gum/dep/stanford"}, "parsed": {"parse": "w"}},
        "coreference": {"c": {"fetch": "gum/coref/conll"} | coreference},
    }
    with pytest.raises(InputError, match=re.escape(words)):
        check(study(corpora=corpora, licensed="x"), SCHEMAS)


def test_sides_of_translations_are_files_of_the_source() -> None:
    pair = {"fetch": "multi30k", "source": "train.en.gz", "target": "train.de.gz"}
    for wrong in ("trian.en.gz", "../x", "/etc/passwd"):
        data = {"train": pair | {"source": wrong}, "validation": pair, "test": pair}
        with pytest.raises(InputError, match="has no such file or folder"):
            check(study(translation={"data": data, "train": {}}), SCHEMAS)


def test_licensed_data_count_where_their_directory_is_stated(tmp_path: Path) -> None:
    trees = {"fetch": "gum/dep/stanford", "licensed": "ptb/dev"}
    mentions = {"fetch": "gum/coref/conll", "treebank": "gum", "licensed": "conll-2012"}
    corpora = {"treebanks": {"gum": trees}, "coreference": {"mentions": mentions}}
    fetched = check(study(corpora=corpora), SCHEMAS)["corpora"]
    assert fetched["treebanks"]["gum"]["fetch"] == "gum/dep/stanford"
    assert fetched["coreference"]["mentions"]["treebank"] == "gum"
    own = check(study(corpora=corpora, licensed=str(tmp_path)), SCHEMAS)["corpora"]
    assert own["treebanks"]["gum"]["path"] == str(tmp_path / "ptb/dev")
    assert own["coreference"]["mentions"]["path"] == str(tmp_path / "conll-2012")
    assert not {"fetch", "treebank", "licensed"} & {*own["coreference"]["mentions"]}


def test_a_path_counts_where_data_are_stated() -> None:
    hub = {"hub": "nyu-mll/glue", "revision": "0" * 40}
    tasks = {"mrpc": {"path": "glue/MRPC", **hub}, "arct": {"path": "arct", "fetch": "arct"}}
    fetched = check(study(tasks=tasks), SCHEMAS)["tasks"]
    assert "path" not in fetched["mrpc"]
    assert fetched["arct"]["fetch"] == "arct"
    local = check(study(tasks=tasks, data="/data"), SCHEMAS)["tasks"]
    assert local["mrpc"]["path"] == "/data/glue/MRPC"
    assert "hub" not in local["mrpc"]
    assert local["arct"]["path"] == "/data/arct"
    assert "fetch" not in local["arct"]


def test_an_absolute_path_counts_without_data() -> None:
    hub = {"hub": "nyu-mll/glue", "revision": "0" * 40}
    tasks = {"mrpc": {"path": "/mine/MRPC", **hub}, "arct": {"path": "arct", "fetch": "arct"}}
    read = check(study(tasks=tasks), SCHEMAS)["tasks"]
    assert read["mrpc"]["path"] == "/mine/MRPC"
    assert "hub" not in read["mrpc"]
    assert read["arct"]["fetch"] == "arct"
