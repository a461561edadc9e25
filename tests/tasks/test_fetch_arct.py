"""Fetching of ARCT's files, from a server on this machine."""

import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tasks.arct_builders import ROWS, run, write
from workflow_scripts.core.run.errors import InputError
from workflow_scripts.core.run.job import call
from workflow_scripts.tasks import fetch_arct
from workflow_scripts.tasks.fetch_arct import fetch


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A web server on this machine with ARCT's files."""
    folder = write(tmp_path / "served")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


def test_fetching(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = {name: f"{server}/{name}" for name in ROWS}
    monkeypatch.setattr(fetch_arct, "URLS", urls)
    monkeypatch.setattr(fetch_arct, "SHA256", {})
    call(fetch_arct.main, {"fetched": tmp_path / "arct.fetch", "checksums": {}})
    assert {p.name for p in (tmp_path / "arct.fetch").rglob("*.*")} == {Path(n).name for n in ROWS}
    digests = fetch(tmp_path / "fetched", urls, {})
    assert set(digests) == set(ROWS)
    frame, _ = run(tmp_path, tmp_path / "fetched")
    assert len(frame) == len(run(tmp_path, tmp_path / "served")[0])
    assert fetch(tmp_path / "again", urls, digests) == digests


@pytest.mark.parametrize(
    ("checksums", "missing", "message"),
    [
        ({"train-full.txt": "0" * 64}, "", r"train-full.txt: not fetched \(.*does not match"),
        ({"other.txt": "0" * 64}, "", r"tasks.arct.sha256: 'other.txt' is no file"),
        ({}, "/nowhere", r"not fetched \(404"),
    ],
)
def test_files_that_cannot_be_fetched(
    tmp_path: Path, server: str, checksums: dict[str, str], missing: str, message: str
) -> None:
    urls = {name: f"{server}{missing}/{name}" for name in ROWS}
    with pytest.raises(InputError, match=message):
        fetch(tmp_path / "fetched", urls, checksums)


def test_every_file_has_a_fixed_commit_and_a_checksum() -> None:
    assert set(fetch_arct.SHA256) == set(fetch_arct.URLS)
    commits = {"semeval2018-task12": "72a8d6a4", "semeval2018-task12-results": "c5ce6679"}
    for url in fetch_arct.URLS.values():
        repository, commit = url.split("/")[4:6]
        assert re.fullmatch("[0-9a-f]{8}|[0-9a-f]{40}", commit)
        assert commit.startswith(commits.get(repository, "2eb4502f"))
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in fetch_arct.SHA256.values())


def test_known_checksums_are_those_of_the_real_files(real_data: Path) -> None:
    import hashlib

    given = {"train-full.txt", "dev-full.txt"}
    given |= {name for name in fetch_arct.SHA256 if "adv" in name and "test" not in name}
    checked = set()
    for name, digest in fetch_arct.SHA256.items():
        path = real_data / "arct" / name
        if path.is_file():
            assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
            checked.add(name)
    assert checked >= given
