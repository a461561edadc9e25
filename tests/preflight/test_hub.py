"""The hub and other sites: what they say of a file, and a site that cannot be reached."""

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

from workflow_scripts.core.run.errors import InputError
from workflow_scripts.preflight.hub import Network

ROOT = Path(__file__).parents[2]
ASK = """
import sys
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.preflight.hub import Network
network = Network()
for revision in sys.argv[1:]:
    try:
        print(network.of_hub("model", "someone/model", revision))
    except InputError as error:
        print(error)
"""


class Hub(BaseHTTPRequestHandler):
    """A hub with one model at the revision `good`."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        good = self.path.startswith("/api/models/someone/model/revision/good")
        files = [
            {"rfilename": "config.json", "size": 5},
            {"rfilename": "m.safetensors", "size": 70},
        ]
        body = json.dumps(
            {"id": "someone/model", "siblings": files} if good else {"error": "Invalid rev"}
        ).encode()
        self.send_response(200 if good else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if not good:
            self.send_header("X-Error-Code", "RevisionNotFound")
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "123")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Deaf(socketserver.BaseRequestHandler):
    """Takes a connection and never answers."""

    def handle(self) -> None:
        self.server.asked.append("")
        self.server.over.wait()


@contextmanager
def serving(server: socketserver.BaseServer) -> Iterator[socketserver.BaseServer]:
    server.asked, server.over = [], threading.Event()
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


def ask(port: int, *revisions: str) -> list[str]:
    """What of_hub gives or says, a line for each revision, of a hub at this port."""
    own = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
    done = subprocess.run(
        [sys.executable, "-c", ASK, *revisions],
        env=os.environ | own | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_hub_tells_sizes_and_refuses_a_revision() -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub)) as hub:
        good, bad = ask(hub.server_address[1], "good", "bad")
    assert good == "(2, 75)"
    assert bad.startswith("hub: someone/model at bad: the hub refuses it")


def test_a_hub_that_never_answers_is_not_asked_again() -> None:
    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Deaf)) as deaf:
        lines = ask(deaf.server_address[1], "one", "two", "three")
        assert len(deaf.asked) < 3  # the client itself may try a second time
    assert len(lines) == 3
    for line, revision in zip(lines, ("one", "two", "three"), strict=True):
        assert line.startswith(
            f"hub: someone/model at {revision}: not on this machine, and offline"
        )


def test_offline_is_said_plainly() -> None:
    with pytest.raises(InputError, match="HF_HUB_OFFLINE is set"):
        Network().of_hub("model", "someone/model", "good")


def test_files_on_the_web() -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Hub)) as site:
        assert Network().of_url(f"http://127.0.0.1:{site.server_address[1]}/a.txt") == 123
    network, url = Network(), f"http://127.0.0.1:{site.server_address[1]}"
    for file in ("a.txt", "b.txt"):
        with pytest.raises(InputError, match=f"{file}: not on this machine, and offline"):
            network.of_url(f"{url}/{file}")
