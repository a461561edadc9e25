"""A source distribution fetched from a folder, and every way in which one can be wrong."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads
from workflow_scripts.core.run.job import call
from workflow_scripts.corpora import fetch_sdist


def tar(
    members: dict[str, bytes], change: Callable[[tarfile.TarInfo], None] | None = None
) -> bytes:
    """A .tar.gz of the members; `change` edits the last one's header."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for number, (name, content) in enumerate(members.items(), start=1):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            if change and number == len(members):
                change(info)
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip is set up to use instead of an index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def publish(index: Path, files: dict[str, bytes]) -> str:
    """Put a distribution, whose setup.py leaves a file `ran`, into the folder; its SHA-256."""
    setup = f"open({str(index.parent / 'ran')!r}, 'w').close()\n".encode()
    members = {"setup.py": setup} | files
    data = tar({f"rated-1.0/{name}": content for name, content in members.items()})
    (index / "rated-1.0.tar.gz").write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def fetch(folder: Path, sha256: str, requirement: str = "rated==1.0") -> Path:
    arguments = {"requirement": requirement, "sha256": sha256}
    call(fetch_sdist.main, arguments | {"fetched": folder / "fetched"})
    return folder / "fetched"


def test_files_and_archives_are_unpacked(index: Path, tmp_path: Path) -> None:
    inner = {"deep/films.txt": b"1\t2.0\tfine\n"}
    more = {"more.tar.gz": tar(inner), "data/more.zip": zipped(inner), "rated-1.0": b"a file\n"}
    fetched = fetch(tmp_path, publish(index, more))
    assert (fetched / "more.tar.gz/deep/films.txt").read_text() == "1\t2.0\tfine\n"
    assert (fetched / "data/more.zip/deep/films.txt").read_text() == "1\t2.0\tfine\n"
    assert (fetched / "rated-1.0").read_text() == "a file\n"
    assert (fetched / "setup.py").is_file()
    assert not list(fetched.rglob("*.unpacked"))


def test_no_code_of_a_distribution_runs(index: Path, tmp_path: Path) -> None:
    sha256 = publish(index, {})
    with pytest.raises(InputError, match=rf"another SHA-256, {sha256}; correct sha256"):
        fetch(tmp_path, "0" * 64)
    assert not (tmp_path / "fetched").exists()
    fetch(tmp_path, sha256)
    assert not (tmp_path / "ran").exists()


def test_what_cannot_be_had_is_one_line(index: Path, tmp_path: Path) -> None:
    sha256 = publish(index, {})
    with pytest.raises(InputError, match=r"rated==2.0.*not fetched \(.*PIP_INDEX_URL") as error:
        fetch(tmp_path, sha256, "rated==2.0")
    assert "\n" not in str(error.value)


def link_to(target: str, kind: bytes = tarfile.SYMTYPE) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = kind, target

    return change


ONE = tar({"a": b"content"})
ENDLESS = io.BytesIO(gzip.decompress(ONE)[:1024])  # the file without the archive's end


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        (tar({"a/../../evil": b"x"}), "leads out"),
        (tar({"/evil": b"x"}), "leads out"),
        (tar({"link": b""}, link_to("../../outside")), "not found"),
        (tar({"link": b""}, link_to("gone", tarfile.LNKTYPE)), "not found"),
        (tar({"link": b""}, link_to("link")), "recursion"),
        (gzip.compress(ENDLESS.getvalue()), "its end is missing"),
        (ONE[:60], "end"),
        (tar({"a": bytes(2**20)}), "more than .* bytes in one of"),
        (tar({str(number): b"" for number in range(9)}), "more than 8 files"),
        (b"no archive", "not a gzip file|could not be opened"),
    ],
    ids=lambda given: (
        f"{len(given)} bytes" if isinstance(given, bytes) else given
    ),  # they hold a time
)
def test_an_unsafe_archive_is_refused(
    index: Path, tmp_path: Path, archive: bytes, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "SMALL", 1000)
    monkeypatch.setattr(downloads, "FILES", 8)
    sha256 = publish(index, {"more.tar.gz": archive})
    with pytest.raises(InputError, match=rf"rated==1.0: more.tar.gz: not unpacked \(.*({reason})"):
        fetch(tmp_path, sha256)
    assert not (tmp_path / "fetched").exists()
    assert not list(tmp_path.rglob("evil"))


def test_a_link_becomes_a_copy(index: Path, tmp_path: Path) -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        inner = tar({"a": b"content", "link": b""}, link_to("a", kind))
        link = fetch(tmp_path, publish(index, {"more.tar.gz": inner})) / "more.tar.gz/link"
        assert link.read_bytes() == b"content"
        assert not link.is_symlink()
