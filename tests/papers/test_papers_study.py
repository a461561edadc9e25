"""studies/papers.yaml from its first download to its last page, on stand-ins of what it fetches.

Nobody who wrote the workflow could reach the hub or GitHub. So the models here are tiny random
BERTs, under the names and commits of the study, on a hub on this machine; GLUE and WikiText are
made up and lie there, too. The sources are made-up files in the official formats: the SHA-256 of
sources/files.csv are those of the real files, which are not here, so that the copied workflow has
a table with the SHA-256 of the made-up ones. `study.SMALL` lowers numbers and nothing else.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.papers.hub import Hub, Nothing, Server, serving
from tests.papers.study import PapersStudy
from tests.printed import outputs

PAPERS = ("clark2019", "kovaleva2019", "michel2019", "niven2019")
HUB_DATA = ["results/papers/corpora/wikipedia.jsonl", "results/papers/tasks/mnli.parquet"]


class Finished(PapersStudy):
    """The study after its run: what was planned, and what the hub and the network were asked."""

    def run_to_the_end(self) -> None:
        """Report what the study takes, plan it, and run it."""
        hub = Server(Hub, self.repositories)
        with serving(hub), serving(Server(Nothing)) as nothing:
            self.addresses = {"hub": hub.url, "proxy": nothing.url}
            self.checked("preflight")
            done = self.checked("--dry-run")
            self.plan = done.stdout + done.stderr
            self.checked()
            self.hub_asked, self.network_asked = hub.asked, nothing.asked

    def checked(self, *options: str, **env: str) -> subprocess.CompletedProcess:
        """What snakemake printed; the test fails where it does."""
        done = self.snakemake(*options, **self.addresses, **env)
        assert done.returncode == 0, done.stdout[-9000:] + done.stderr[-9000:]
        return done


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The finished study."""
    made = Finished(tmp_path_factory.mktemp("papers"))
    made.run_to_the_end()
    return made


def planned(plan: str, paper: str = "") -> set[str]:
    """The figures, tables and pages of a plan whose names begin with `paper`."""
    return {path for path in outputs(plan) if Path(path).name.startswith(paper)}


def test_every_planned_product_is_there(study: Finished) -> None:
    shown = {path for path in planned(study.plan) if re.search("/(figures|tables)/|[.]html$", path)}
    assert len(shown) > 300
    assert [path for path in sorted(shown) if not (study.folder / path).is_file()] == []
    assert (study.folder / "results/papers/atlas.html").is_file()


def test_the_papers_targets_are_complete(study: Finished) -> None:
    for paper in PAPERS:
        assert planned(study.plan, f"{paper}-"), paper
    done = study.checked(*PAPERS, "--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr


def test_nothing_but_the_hub_was_asked(study: Finished) -> None:
    """gensim's downloader asks for its list each time, and takes the one that it has."""
    assert set(study.network_asked) <= {"CONNECT raw.githubusercontent.com:443"}
    weights = [line for line in study.hub_asked if line.startswith("GET") and "safetensors" in line]
    assert len(weights) == len(study.config["models"])


def test_the_hubs_data_are_read_offline_once_they_are_here(study: Finished) -> None:
    """As on a machine without a network, to which the caches were carried."""
    rules = ("--allowed-rules", "segments", "prepare_task")
    study.checked(*HUB_DATA, "--force", *rules, HF_HUB_OFFLINE="1")
