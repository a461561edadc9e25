"""Source distributions in a study: what the config may hold on them, and where their files are."""

from pathlib import Path
from typing import Any

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import sdists
from workflow_scripts.core.run.config import check, check_paths

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"
PIN = {"requirement": "rated==1.0", "sha256": "0" * 64}


def study(**changes: Any) -> dict[str, Any]:
    task = {"sdist": "rated/more.tar.gz/films.txt", "format": "ratings"}
    task["domains"] = {"tweets": {"sdist": "rated/tweets.txt"}}
    config = {"study": "s", "models": {"m": {"package": "p/m"}}, "tasks": {"sst2": task}}
    return config | {"sdists": {"rated": PIN}} | changes


def test_files_are_where_the_distribution_is_unpacked() -> None:
    config = check(study(), SCHEMAS)
    check_paths(config, SCHEMAS)  # not there before a job has fetched them
    located = sdists.locate(config)["tasks"]["sst2"]
    assert located["path"] == "results/sdists/rated==1.0/more.tar.gz/films.txt"
    assert located["domains"]["tweets"] == {"path": "results/sdists/rated==1.0/tweets.txt"}
    assert "sdist" not in located
    assert config["tasks"]["sst2"]["sdist"] == "rated/more.tar.gz/films.txt"
    assert sdists.checksums(config) == {"rated==1.0": "0" * 64}


@pytest.mark.parametrize(
    ("path", "directory"),
    [
        ("results/sdists/rated==1.0/a/b.txt", "results/sdists/rated==1.0"),
        ("results/sdists/rated==1.0", "results/sdists/rated==1.0"),
        ("results/sdists", None),
        ("results/demo/a.txt", None),
        ("/results/sdists/rated==1.0/a", None),
    ],
)
def test_directory_of_a_path(path: str, directory: str | None) -> None:
    assert sdists.directory_of(path) == directory


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"sdists": {"other": PIN}},
            r"sst2.sdist: 'rated' is not in sdists; accepted: other",
        ),
        ({"sdists": {}}, "'rated' is not in sdists; accepted: none yet"),
        ({"sdists": {"rated": PIN, "again": PIN}}, r"rated==1.0 is also sdists.rated; remove one"),
        (
            {"sdists": {"rated": PIN, "again": PIN | {"requirement": "Rated==1.0"}}},
            r"Rated==1.0 is also sdists.rated; remove one",
        ),
        ({"sdists": {"rated": PIN | {"requirement": "rated"}}}, "requirement"),
        ({"sdists": {"rated": PIN | {"requirement": "rated>=1.0"}}}, "requirement"),
        ({"sdists": {"rated": PIN | {"requirement": "-r==/etc/passwd"}}}, "requirement"),
        ({"sdists": {"rated": PIN | {"sha256": "0" * 63}}}, "sha256"),
        ({"sdists": {"rated": {"requirement": "rated==1.0"}}}, "sha256"),
        ({"study": "sdists"}, r"'sdists' is taken by results/sdists/; choose another name"),
        ({"tasks": {"sst2": {"sdist": "rated/../../x"}}}, "leads out of the distribution"),
        ({"tasks": {"sst2": {"sdist": "rated//etc/x"}}}, "leads out of the distribution"),
        ({"tasks": {"sst2": {"sdist": "rated/x", "path": "y"}}}, r"tasks.sst2"),
    ],
)
def test_a_wrong_config_is_one_line(changes: dict, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        check(study(**changes), SCHEMAS)
    assert "\n" not in str(error.value)
