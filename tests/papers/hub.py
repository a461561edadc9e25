"""A stand-in of the Hugging Face hub on this machine, and of a network that refuses all else."""

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Repositories:
    """Folders that the hub has, each by its kind, its name and its only commit."""

    folder: Path
    commits: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kind: str, name: str, commit: str) -> Path:
        """The new and empty folder of a repository; `kind` is models or datasets."""
        self.commits[kind, name] = commit
        folder = self.at(kind, name)
        folder.mkdir(parents=True)
        return folder

    def at(self, kind: str, name: str) -> Path:
        """The folder of a repository."""
        return self.folder / kind / name


class Server(ThreadingHTTPServer):
    """Answers with a handler in threads; `asked` has what was asked for."""

    daemon_threads = True

    def __init__(
        self, handler: type[BaseHTTPRequestHandler], repositories: Repositories | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.repositories = repositories
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server, which answers until the end of the block."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def environment(hub: str, proxy: str, home: Path) -> dict[str, str]:
    """This process's, in which a hub answers for the real one and a proxy for all else."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HF_") and not name.lower().endswith("_proxy")
    }
    return kept | {
        "HF_ENDPOINT": hub,
        "HF_HOME": str(home),
        "HF_HUB_OFFLINE": "0",
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HTTP_PROXY": proxy,
        "HTTPS_PROXY": proxy,
        "NO_PROXY": "127.0.0.1",
    }


class Quiet(BaseHTTPRequestHandler):
    """Notes what is asked, and prints nothing."""

    server: Server
    protocol_version = "HTTP/1.1"

    def parse_request(self) -> bool:
        """As ever, and note the request."""
        parsed = super().parse_request()
        if parsed:
            self.server.asked.append(f"{self.command} {self.path}")
        return parsed

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        """Answer with this body, or with its length alone."""
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Nothing(Quiet):
    """A proxy that lets nobody out."""

    def do_GET(self) -> None:
        """Refuse."""
        self.close_connection = True
        self.answer(403, b"")

    do_CONNECT = do_HEAD = do_POST = do_GET


class Hub(Quiet):
    """The parts of the hub's interface that its clients ask for."""

    def do_GET(self) -> None:
        """A file of a repository, or what the interface says about one."""
        path, query = unquote(urlsplit(self.path).path), parse_qs(urlsplit(self.path).query)
        parts = path.strip("/").split("/")
        if parts[0] == "api":
            _, kind, owner, name, what, commit, *inside = parts
        else:
            kind = "datasets" if parts[0] == "datasets" else "models"
            owner, name, what, commit, *inside = parts[kind == "datasets" :]
        known = self.server.repositories.commits.get((kind, f"{owner}/{name}"))
        if known is None:
            return self.missing("RepoNotFound")
        if commit != known:
            return self.missing("RevisionNotFound")
        folder = self.server.repositories.at(kind, f"{owner}/{name}")
        place = folder.joinpath(*inside)
        if not place.exists():
            return self.missing("EntryNotFound")
        if what == "resolve":
            body = place.read_bytes()
            return self.answer(200, body, ETag=f'"{blob(body)}"', X_Repo_Commit=commit)
        if what == "tree":
            recursive = query.get("recursive", [""])[0].lower() in ("true", "1")
            paths = place.rglob("*") if recursive else place.iterdir()
            return self.json([entry(path, folder) for path in sorted(paths)])
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        siblings = [
            {"rfilename": str(path.relative_to(folder)), "size": path.stat().st_size}
            for path in files
        ]
        return self.json({"id": f"{owner}/{name}", "sha": commit, "siblings": siblings})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """What there is at some paths of a repository."""
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        _, kind, owner, name, _, _ = urlsplit(self.path).path.strip("/").split("/")
        folder = self.server.repositories.at(kind, f"{owner}/{name}")
        paths = [folder / path for path in asked["paths"]]
        self.json([entry(path, folder) for path in paths if path.exists()])

    def json(self, answer: object) -> None:
        """Answer with JSON."""
        self.answer(200, json.dumps(answer).encode(), Content_Type="application/json")

    def missing(self, code: str) -> None:
        """Answer that there is no such thing, as the hub words it."""
        self.answer(404, b"{}", X_Error_Code=code, X_Error_Message=code)


def entry(path: Path, folder: Path) -> dict[str, str | int]:
    """What the hub says about a file or a folder of a repository."""
    about: dict[str, str | int] = {"path": str(path.relative_to(folder)), "size": 0}
    if path.is_dir():
        return about | {"type": "directory", "oid": blob(str(path).encode())}
    body = path.read_bytes()
    return about | {"type": "file", "oid": blob(body), "size": len(body)}


def blob(body: bytes) -> str:
    """The name that git gives to a file."""
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()
