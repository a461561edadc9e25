"""The hub and other sites: what they report about a file, and a site that cannot be reached."""

import ast
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.core.tiny_translators import save
from tests.papers.hub import Hub, Quiet, Repositories, Server, serving
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.errors import InputError

ROOT = Path(__file__).parents[2]
COMMIT = "a" * 40
NAMES = ("model", "translator")
ASK = """
import sys
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.data import network as sites
from workflow_scripts.preflight import models
from workflow_scripts.translation import preflight as translation

def translator(revision):
    source = {"hub": "someone/translator", "revision": revision, "prefix": ""}
    return translation.translator(source, network)[1]

def sizes(revision):
    return network.of_hub("model", "someone/model", revision)

def looked_at(revision):
    source = {"hub": "someone/model", "revision": revision}
    return models.check("m", source, {"cls": ["probes"]}, network)[1]

sites.SECONDS = float(sys.argv[1])
network = sites.Network()
for question in sys.argv[2:]:
    what, revision = question.split("@")
    try:
        print({"sizes": sizes, "looked_at": looked_at, "translator": translator}[what](revision))
    except InputError as error:
        print(error)
"""


class Asked(NamedTuple):
    """The folder of a hub's model, its answers to the questions, and the paths that were got."""

    model_folder: Path
    sizes: str
    refused: str
    model: str
    model_again: str
    translator: str
    got: list[str]


class Deaf(Quiet):
    """Takes a request and never answers."""

    over = threading.Event()

    def handle(self) -> None:
        """Wait until the test ends."""
        self.server.asked.append("")
        self.over.wait()


def ask(url: str, home: Path, *questions: str, seconds: float = 5) -> list[str]:
    """What is given or reported, a line for each `what@revision`, of a hub at this URL.

    The hub has so many seconds to answer.
    """
    own = {"HF_ENDPOINT": url, "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(seconds), *questions],
        env=os.environ | own | {"PYTHONPATH": str(ROOT), "HF_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def asked(tiny_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A hub with a model and a translator, and what one process is answered, in this order."""
    folder, home = (tmp_path_factory.mktemp(name) for name in ("hub", "home"))
    hub = Repositories(folder)
    model, translator = (hub.add("models", f"someone/{name}", COMMIT) for name in NAMES)
    shutil.copytree(tiny_model_dir, model, dirs_exist_ok=True)
    save(translator, "marian")
    # The model twice: what was downloaded must not pass for the whole model.
    questions = [f"sizes@{COMMIT}", "sizes@bad", *[f"looked_at@{COMMIT}"] * 2]
    with serving(Server(Hub, hub)) as server:
        lines = ask(server.url, home, *questions, f"translator@{COMMIT}")
        got = [line.removeprefix("GET ") for line in server.asked if line.startswith("GET ")]
    return Asked(model, *lines, got)


def test_the_hub_reports_sizes_and_refuses_a_revision(asked: Asked) -> None:
    sizes = {path.name: path.stat().st_size for path in asked.model_folder.iterdir()}
    assert ast.literal_eval(asked.sizes) == sizes
    assert asked.refused.startswith("hub: someone/model at bad: the hub refuses it")


def test_of_a_model_on_the_hub_no_weights_are_downloaded(asked: Asked) -> None:
    for line in (asked.model, asked.model_again):
        assert line.startswith("bert, 3 layers of 4 heads, weights 130 kB: on the hub, not down")
    got = [path for path in asked.got if "/translator/" not in path]
    assert [path for path in got if path.endswith("config.json")]
    assert not [path for path in got if path.endswith("safetensors")]


def test_of_a_translator_on_the_hub_its_vocabulary_is_downloaded(asked: Asked) -> None:
    assert asked.translator.startswith("marian, an encoder of 2 layers of 4 heads, weights ")
    assert asked.translator.endswith(": on the hub, not downloaded yet")
    got = {path.rpartition("/")[2] for path in asked.got if "/translator/" in path}
    assert got >= {"config.json", "source.spm", "target.spm", "vocab.json"}
    assert "model.safetensors" not in got


def test_a_hub_that_never_answers_is_not_asked_again(tmp_path: Path) -> None:
    with serving(Server(Deaf)) as deaf:
        questions = (f"sizes@{revision}" for revision in ("one", "two", "three"))
        lines = ask(deaf.url, tmp_path, *questions, seconds=1)
        Deaf.over.set()
        assert len(deaf.asked) < 3  # the client itself may try a second time
    assert len(lines) == 3
    for line, revision in zip(lines, ("one", "two", "three"), strict=True):
        assert line.startswith(
            f"hub: someone/model at {revision}: not on this machine, and offline"
        )


def test_offline_is_reported_plainly() -> None:
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        Network().of_hub("model", "someone/model", "good")
