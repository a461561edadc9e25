"""Archives unpacked safely: nothing outside their folder, no links out of it, no devices."""

import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path

from workflow_scripts.core.errors import InputError

# What the two libraries raise where an archive is damaged, encrypted or leads out.
UNREADABLE = (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError)
UNREADABLE += (zlib.error, lzma.LZMAError, RuntimeError)


def extract(archive: Path, folder: Path, label: str, fix: str) -> None:
    """Unpack an archive into a new folder, or raise InputError where it cannot be.

    `label` names the archive in the error, which ends with `fix`.
    """
    folder.mkdir()
    try:
        if archive.name.endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)  # noqa: S202 - it leads no member out, and makes no links
        else:
            with tarfile.open(archive) as tarred:
                tarred.extractall(folder, filter="data")
    except UNREADABLE as error:
        raise InputError(f"{label}: not unpacked ({error}); {fix}") from error
