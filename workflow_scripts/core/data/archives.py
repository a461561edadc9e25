"""Archives unpacked safely: nothing outside their folder, no links out of it, no devices."""

import lzma
import stat
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from workflow_scripts.core.errors import InputError

# What the two libraries raise where an archive is damaged, encrypted or unsafe.
UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError)
UNREADABLE += (zlib.error, lzma.LZMAError, RuntimeError)


def extract(archive: Path, folder: Path, label: str, fix: str) -> None:
    """Unpack an archive into a new folder, or raise InputError where a member is unsafe.

    `label` names the archive in the error, which ends with `fix`.
    """
    folder.mkdir()
    try:
        if archive.name.endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                for member in zipped.infolist():
                    _check_member(member)
                    _check_name(member.filename)
                zipped.extractall(folder)  # noqa: S202 - its members are checked
        else:
            with tarfile.open(archive) as tarred:
                for name in tarred.getnames():
                    _check_name(name)
                tarred.extractall(folder, filter="data")
    except UNREADABLE as error:
        raise InputError(f"{label}: not unpacked ({error}); {fix}") from error


def _check_member(member: zipfile.ZipInfo) -> None:
    """Raise ValueError for a member of a zip that tarfile's `data` filter would refuse."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or stat.S_ISLNK(member.external_attr >> 16):
        raise ValueError(f"{member.filename!r} leads out of the archive or is a link")


def _check_name(name: str) -> None:
    """Raise ValueError for a name that is not UTF-8, which no rule could have as an input."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name!r} is not UTF-8") from error
