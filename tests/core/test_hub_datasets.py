"""Datasets of the hub, from a hub on this machine, and without it from what was read before."""

import os
import subprocess
import sys
from pathlib import Path

from tests.papers.data_sets import write_wikitext
from tests.papers.hub import Hub, Repositories, Server, serving

ROOT = Path(__file__).parents[2]
COMMIT, OTHER = "a" * 40, "b" * 40
READ = """
import sys
from workflow_scripts.core.data.sources import load_rows
from workflow_scripts.core.errors import InputError
for revision in sys.argv[1:]:
    source = {"hub": "some/text", "name": "raw", "split": "validation", "revision": revision}
    try:
        print("".join(row["text"] for row in load_rows(source)).count("Later"))
    except InputError as error:
        print(error)
"""


def read(home: Path, *revisions: str, **env: str) -> list[str]:
    """What a process prints that reads these revisions, a line for each."""
    own = {"PYTHONPATH": str(ROOT), "HF_HOME": str(home), "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", READ, *revisions],
        env=os.environ | own | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_dataset_is_read_without_the_hub_at_the_revision_that_was_read_before(
    tmp_path: Path,
) -> None:
    repositories = Repositories(tmp_path / "hub")
    write_wikitext(repositories.add("datasets", "some/text", COMMIT), "raw")
    with serving(Server(Hub, repositories)) as hub:
        online = {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0"}
        assert read(tmp_path / "home", COMMIT, **online) == ["6"]
        (nowhere,) = read(tmp_path / "other home", COMMIT, HF_HUB_OFFLINE="1")
    here, other = read(tmp_path / "home", COMMIT, OTHER, HF_HUB_OFFLINE="1")
    assert here == "6"
    assert other.startswith(f"hub: some/text at {OTHER}: cannot be fetched (the hub cannot be ")
    assert f"here it is at {COMMIT})" in other
    assert nowhere.startswith(f"hub: some/text at {COMMIT}: cannot be fetched (")
