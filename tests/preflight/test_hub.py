"""The hub and other sites: what they report about a file, and a site that cannot be reached."""

import ast
import hashlib
import json
import os
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.core.tiny_translators import save
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run.errors import InputError

ROOT = Path(__file__).parents[2]
COMMIT = "a" * 40
ASK = """
import sys
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.data.network import Network
from workflow_scripts.preflight import models
from workflow_scripts.translation import preflight as translation

def translator(revision):
    source = {"hub": "someone/model", "revision": revision, "prefix": ""}
    return translation.translator(source, network)[1]

def sizes(revision):
    return network.of_hub("model", "someone/model", revision)

def looked_at(revision):
    source = {"hub": "someone/model", "revision": revision}
    return models.check("m", source, {"cls": ["probes"]}, network)[1]

network = Network()
look = {"sizes": sizes, "looked_at": looked_at, "translator": translator}[sys.argv[1]]
for revision in sys.argv[2:]:
    try:
        print(look(revision))
    except InputError as error:
        print(error)
"""


class Hub(BaseHTTPRequestHandler):
    """A hub with one model, the files in `folder`, at the revision COMMIT."""

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path))
        if COMMIT not in self.path:
            self.answer(404, b'{"error": "Invalid rev"}', {"X-Error-Code": "RevisionNotFound"})
        elif self.path.startswith("/api/"):
            files = [
                {"rfilename": path.name, "size": path.stat().st_size}
                for path in self.server.folder.iterdir()
            ]
            about = {"id": "someone/model", "sha": COMMIT, "siblings": files}
            if "/tree/" in self.path:
                kinds = {"type": "file", "oid": "0"}
                about = [kinds | {"path": f["rfilename"], "size": f["size"]} for f in files]
            self.answer(200, json.dumps(about).encode(), {"Content-Type": "application/json"})
        else:
            body = (self.server.folder / self.path.rpartition("/")[2]).read_bytes()
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


def ask(port: int, home: Path, what: str, *revisions: str) -> list[str]:
    """What of_hub gives or reports, a line for each revision, of a hub at this port."""
    own = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
    done = subprocess.run(
        [sys.executable, "-c", ASK, what, *revisions],
        env=os.environ | own | {"PYTHONPATH": str(ROOT), "HF_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_hub_reports_sizes_and_refuses_a_revision(tiny_model_dir: Path, tmp_path: Path) -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub), tiny_model_dir) as hub:
        good, bad = ask(hub.server_address[1], tmp_path, "sizes", COMMIT, "bad")
    sizes = {path.name: path.stat().st_size for path in tiny_model_dir.iterdir()}
    assert ast.literal_eval(good) == sizes
    assert bad.startswith("hub: someone/model at bad: the hub refuses it")


def test_of_a_model_on_the_hub_no_weights_are_downloaded(
    tiny_model_dir: Path, tmp_path: Path
) -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub), tiny_model_dir) as hub:
        # Twice: what was downloaded must not pass for the whole model.
        lines = ask(hub.server_address[1], tmp_path, "looked_at", COMMIT, COMMIT)
        got = {path for command, path in hub.asked if command == "GET"}
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("bert, 3 layers of 4 heads, weights 130 kB: on the hub, not down")
    assert [path for path in got if path.endswith("config.json")]
    assert not [path for path in got if path.endswith("safetensors")]


def test_of_a_translator_on_the_hub_its_vocabulary_is_downloaded(tmp_path: Path) -> None:
    folder = save(tmp_path / "model", "marian")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub), folder) as hub:
        (line,) = ask(hub.server_address[1], tmp_path / "home", "translator", COMMIT)
        got = {path.rpartition("/")[2] for command, path in hub.asked if command == "GET"}
    assert line.startswith("marian, an encoder of 2 layers of 4 heads, weights ")
    assert line.endswith(": on the hub, not downloaded yet")
    assert got >= {"config.json", "source.spm", "target.spm", "vocab.json"}
    assert "model.safetensors" not in got


def test_a_hub_that_never_answers_is_not_asked_again(tmp_path: Path) -> None:
    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Deaf)) as deaf:
        lines = ask(deaf.server_address[1], tmp_path, "sizes", "one", "two", "three")
        assert len(deaf.asked) < 3  # the client itself may try a second time
    assert len(lines) == 3
    for line, revision in zip(lines, ("one", "two", "three"), strict=True):
        assert line.startswith(
            f"hub: someone/model at {revision}: not on this machine, and offline"
        )


def test_offline_is_reported_plainly() -> None:
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        Network().of_hub("model", "someone/model", "good")


def test_files_on_the_web(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("123")
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub), tmp_path) as site:
        url = f"http://127.0.0.1:{site.server_address[1]}/{COMMIT}"
        assert Network().of_url(f"{url}/a.txt") == 3
    network = Network()
    for file in ("a.txt", "b.txt"):
        with pytest.raises(InputError, match=f"{file}: not on this machine, and offline"):
            network.of_url(f"{url}/{file}")
