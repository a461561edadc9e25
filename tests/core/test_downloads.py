"""What the workflow fetches: the tables of public data, and how a study names data and packages."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.test_repository import ROOT
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads
from workflow_scripts.core.run.config import check, check_paths
from workflow_scripts.corpora import fetch_source

SCHEMAS = ROOT / "rules/schemas"
# Releases, not commits.
UNPINNED = {"glove", "newstest"}
PAIR = {"from": "fetch:multi30k", "source": "train.en.gz", "target": "train.de.gz"}
TREES = {"from": "fetch:gum/dep/stanford", "licensed": "ptb/dev"}
MENTIONS = {"from": "fetch:gum/coref/conll", "treebank": "gum", "licensed": "conll-2012"}
CORPORA = {"treebanks": {"gum": TREES}, "coreference": {"mentions": MENTIONS}}
RATED = {
    "from": "sdist:rated/more.tar.gz/films.txt",
    "format": "ratings",
    "domains": {"tweets": {"from": "sdist:rated/tweets.txt"}},
}


def study(**changes: Any) -> dict[str, Any]:
    base = {"study": "s", "models": {"m": {"from": "package:p/m"}}}
    base["tasks"] = {"arct": {"from": "fetch:arct"}}
    base["sdists"] = {"rated": {"requirement": "rated==1.0", "sha256": "0" * 64}}
    return base | changes


def test_the_tables_are_complete_and_their_urls_have_a_fixed_commit() -> None:
    for source in downloads.sources().values():
        assert all((source.files, source.what, source.licence)), source.name
        assert source.by in fetch_source.BY
        for part in source.parts:
            assert any(file.name.startswith(f"{part}/") for file in source.files), part
        for file in source.files if source.name not in UNPINNED else ():
            if source.by == "pip":  # an index never changes a version
                assert re.fullmatch("[a-z0-9-]+==[0-9.]+", file.at), file
                continue
            parts = (source.url + file.at).split("/")
            assert any(re.fullmatch("[0-9a-f]{8}|[0-9a-f]{40}", part) for part in parts), file


def test_what_is_fetched_lies_in_the_folder_of_its_source() -> None:
    translation = {"data": {"train": PAIR, "validation": PAIR, "test": PAIR}, "train": {}}
    tasks = {"arct": {"from": "fetch:arct"}, "sst2": RATED}
    checked = check(study(corpora=CORPORA, translation=translation, tasks=tasks), SCHEMAS)
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
    rated = located["tasks"]["sst2"]
    assert rated["path"] == "results/sdists/rated==1.0/more.tar.gz/films.txt"
    assert rated["domains"]["tweets"] == {"path": "results/sdists/rated==1.0/tweets.txt"}
    assert downloads.directory_of(rated["path"]) == "results/sdists/rated==1.0"
    assert downloads.directory_of("results/downloads/arct") == "results/downloads/arct"
    assert downloads.directory_of("results/demo/a/b.txt") is None
    assert checked["tasks"]["arct"]["fetch"] == "arct"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tasks": {"arct": {"from": "fetch:arkt"}}}, "arct.from: 'arkt' is no source; accepted"),
        ({"tasks": {"mrpc": {"from": "fetch:gum/dep/stan"}}}, "the source gum has no such file"),
    ],
)
def test_what_a_config_names_is_checked(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        check(study(**changes), SCHEMAS)


def test_trees_of_mentions_have_files() -> None:
    corpora = {
        "text": {"w": {"from": "x"}},
        "treebanks": {"parsed": {"from": "parse:w"}},
        "coreference": {"c": {"from": "fetch:gum/coref/conll", "treebank": "parsed"}},
    }
    with pytest.raises(InputError, match="treebank: 'parsed' has no files of its own"):
        check(study(corpora=corpora), SCHEMAS)


def test_licensed_data_count_where_their_directory_is_stated(tmp_path: Path) -> None:
    fetched = check(study(corpora=CORPORA), SCHEMAS)["corpora"]
    assert fetched["treebanks"]["gum"]["fetch"] == "gum/dep/stanford"
    assert fetched["coreference"]["mentions"]["treebank"] == "gum"
    own = check(study(corpora=CORPORA, licensed=str(tmp_path)), SCHEMAS)["corpora"]
    assert own["treebanks"]["gum"]["path"] == str(tmp_path / "ptb/dev")
    assert own["coreference"]["mentions"]["path"] == str(tmp_path / "conll-2012")
    assert not {"fetch", "treebank", "licensed"} & {*own["coreference"]["mentions"]}


def test_a_path_counts_where_data_are_stated_or_it_is_absolute() -> None:
    hub = f"hub:nyu-mll/glue@{'0' * 40}"
    tasks = {"mrpc": {"from": ["glue/MRPC", hub]}, "arct": {"from": ["fetch:arct", "arct"]}}
    tasks["rte"] = {"from": [hub, "/mine/RTE"]}
    fetched = check(study(tasks=tasks), SCHEMAS)["tasks"]
    assert "path" not in fetched["mrpc"]
    assert fetched["arct"]["fetch"] == "arct"
    assert fetched["rte"]["path"] == "/mine/RTE"
    local = check(study(tasks=tasks, data="/data"), SCHEMAS)["tasks"]
    assert local["mrpc"]["path"] == "/data/glue/MRPC"
    assert local["arct"]["path"] == "/data/arct"
    assert not {"hub", "fetch"} & {*local["mrpc"], *local["arct"], *local["rte"]}
