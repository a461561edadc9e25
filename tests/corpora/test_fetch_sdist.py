"""A source distribution fetched by pip from a folder, and every way in which one can be wrong."""

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.job import call
from workflow_scripts.corpora import fetch_sdist

SETUP = b"from setuptools import setup\nsetup(name='rated', version='1.0', py_modules=[])\n"
RAN = b"open('{}', 'w').close()\n"


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


def publish(index: Path, files: dict[str, bytes], setup: bytes = SETUP) -> str:
    """Put a distribution into the folder; returns its SHA-256."""
    info = b"Metadata-Version: 2.1\nName: rated\nVersion: 1.0\n"
    members = {"PKG-INFO": info, "setup.py": setup} | files
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


def test_no_code_runs_before_the_hash_is_checked(index: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    publish(index, {}, SETUP + RAN.replace(b"{}", str(ran).encode()))
    with pytest.raises(InputError, match=r"another SHA-256, [0-9a-f]{64}; correct sha256"):
        fetch(tmp_path, "0" * 64)
    assert not ran.exists()
    assert not (tmp_path / "fetched").exists()


def test_what_cannot_be_had_is_one_line(index: Path, tmp_path: Path) -> None:
    sha256 = publish(index, {})
    with pytest.raises(InputError, match=r"rated==2.0.*not fetched \(.*PIP_INDEX_URL") as error:
        fetch(tmp_path, sha256, "rated==2.0")
    assert "\n" not in str(error.value)


def to_link(info: tarfile.TarInfo) -> None:
    info.type, info.linkname = tarfile.SYMTYPE, "../../outside"


@pytest.mark.parametrize(
    "archive",
    [tar({"a/../../evil": b"x"}), tar({"link": b""}, to_link), b"no archive"],
    ids=["above", "link", "no archive"],
)
def test_an_unsafe_archive_is_refused(index: Path, tmp_path: Path, archive: bytes) -> None:
    with pytest.raises(InputError, match=r"rated==1.0: more.tar.gz: not unpacked"):
        fetch(tmp_path, publish(index, {"more.tar.gz": archive}))
    assert not (tmp_path / "fetched").exists()
    assert not list(tmp_path.rglob("evil"))
