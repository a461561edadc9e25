"""The hub and other sites: what they report about a file, and a site that cannot be reached."""

import ast
import hashlib
import json
import os
import re
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.core.tiny_translators import save
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run.errors import InputError

ROOT = Path(__file__).parents[2]
COMMIT = "a" * 40
ASK = """
import sys
from workflow_scripts.core.run.errors import InputError
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
    """The folder of a hub's models, its answers to the questions, and the paths that were got."""

    folder: Path
    sizes: str
    refused: str
    model: str
    model_again: str
    translator: str
    got: list[str]


class Hub(BaseHTTPRequestHandler):
    """A hub with the models that are in `folder`, at the revision COMMIT."""

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path))
        if COMMIT not in self.path:
            self.answer(404, b'{"error": "Invalid rev"}', {"X-Error-Code": "RevisionNotFound"})
        elif self.path.startswith("/api/"):
            name = self.path.removeprefix("/api/models/").partition("/")[2].partition("/")[0]
            files = [
                {"rfilename": path.name, "size": path.stat().st_size}
                for path in (self.server.folder / name).iterdir()
            ]
            about = {"id": f"someone/{name}", "sha": COMMIT, "siblings": files}
            if "/tree/" in self.path:
                kinds = {"type": "file", "oid": "0"}
                about = [kinds | {"path": f["rfilename"], "size": f["size"]} for f in files]
            self.answer(200, json.dumps(about).encode(), {"Content-Type": "application/json"})
        else:
            name, file = re.fullmatch(r"(?:/someone/(\w+))?/.*?([^/]+)", self.path).groups("")
            body = (self.server.folder / name / file).read_bytes()
            etag = hashlib.sha256(body).hexdigest()
            self.answer(200, body, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})

    do_HEAD = do_GET

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Deaf(socketserver.BaseRequestHandler):
    """Takes a connection and never answers."""

    def handle(self) -> None:
        self.server.asked.append("")
        self.server.over.wait()


@contextmanager
def serving(
    server: socketserver.BaseServer, folder: Path | None = None
) -> Iterator[socketserver.BaseServer]:
    server.asked, server.over, server.folder = [], threading.Event(), folder
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


def ask(port: int, home: Path, *questions: str, seconds: float = 5) -> list[str]:
    """What is given or reported, a line for each `what@revision`, of a hub at this port.

    The hub has so many seconds to answer.
    """
    own = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
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
    shutil.copytree(tiny_model_dir, folder / "model")
    save(folder / "translator", "marian")
    # The model twice: what was downloaded must not pass for the whole model.
    questions = [f"sizes@{COMMIT}", "sizes@bad", *[f"looked_at@{COMMIT}"] * 2]
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub), folder) as hub:
        lines = ask(hub.server_address[1], home, *questions, f"translator@{COMMIT}")
        got = [path for command, path in hub.asked if command == "GET"]
    return Asked(folder, *lines, got)


def test_the_hub_reports_sizes_and_refuses_a_revision(asked: Asked) -> None:
    sizes = {path.name: path.stat().st_size for path in (asked.folder / "model").iterdir()}
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
    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Deaf)) as deaf:
        questions = (f"sizes@{revision}" for revision in ("one", "two", "three"))
        lines = ask(deaf.server_address[1], tmp_path, *questions, seconds=1)
        assert len(deaf.asked) < 3  # the client itself may try a second time
    assert len(lines) == 3
    for line, revision in zip(lines, ("one", "two", "three"), strict=True):
        assert line.startswith(
            f"hub: someone/model at {revision}: not on this machine, and offline"
        )


def test_offline_is_reported_plainly() -> None:
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        Network().of_hub("model", "someone/model", "good")
