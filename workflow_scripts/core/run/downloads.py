"""What the workflow fetches: public data, and source distributions that the study pins.

sources/sources.csv has a row per source: its name, what it is, its licence, how it is fetched, the
URL of its files, the hosts to which that may redirect, and its parts where these are data of
different kinds. sources/files.csv has a row per file: its name in the source's folder, where it is
below the URL (if under another name), its SHA-256 and size. A file without a SHA-256 is unchecked:
its bytes were never seen by those who wrote the table. Names that end in a number, such as .zip.001
or .part00, are of pieces that are joined in the order of the table.
"""

import copy
import csv
import hashlib
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.files import ARCHIVES

TABLES = Path(__file__).parents[3] / "sources"
# Where both are, shared by all studies of a working directory.
FOLDER, SDISTS = "results/downloads", "results/sdists"
HUB = ("hub", "name", "revision")  # the keys of an entry that the hub has
# What the two libraries raise where an archive is damaged, encrypted or leads out.
DAMAGED_ARCHIVE = (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError)
DAMAGED_ARCHIVE += (zlib.error, lzma.LZMAError, RuntimeError, KeyError)
# What an archive may unpack to: files, and bytes as multiple of its own, or so many if it is small.
FILES, RATIO, SMALL = 200_000, 50, 2**30
CHUNK = 2**16


@dataclass(frozen=True)
class File:
    """A file of a source; `sha256` is empty and `n_bytes` 0 where they are unknown."""

    name: str
    at: str
    sha256: str
    n_bytes: int

    @property
    def whole(self) -> str:
        """The name of the file of which this is a piece, or its own."""
        return re.sub(r"[.](part\d+|\d{3})$", "", self.name)


@dataclass(frozen=True)
class Source:
    """A row of the table of sources with its files."""

    name: str
    what: str
    licence: str
    by: str  # url, sacrebleu or pip
    url: str
    hosts: tuple[str, ...]
    files: tuple[File, ...]
    parts: tuple[str, ...] = ()  # folders of data of different kinds, of which a study names one

    @property
    def unchecked(self) -> list[str]:
        """The names of the files whose bytes nobody has seen."""
        return [file.name for file in self.files if not file.sha256]

    @property
    def digest(self) -> str:
        """A digest of all that a fetch depends on, so that a changed row fetches again."""
        files = [(file.name, file.at, file.sha256) for file in self.files]
        return hashlib.sha256(repr((self.by, self.url, files)).encode()).hexdigest()[:16]


@cache
def sources() -> dict[str, Source]:
    """Every source of the tables by its name."""
    files = defaultdict(list)
    for source, name, at, sha256, n_bytes in _rows("files.csv"):
        files[source].append(File(name, at or name, sha256, int(n_bytes or 0)))
    return {
        name: Source(
            name, *about, tuple(hosts.split()), tuple(files[name]), parts=tuple(parts.split())
        )
        for name, *about, hosts, parts in _rows("sources.csv")
    }


def _rows(name: str) -> list[list[str]]:
    """The rows of a table but the first, which names its columns."""
    with (TABLES / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.reader(opened))[1:]


def check(config: dict[str, Any], root: dict[str, Any]) -> None:
    """Raise InputError where a checked config takes what no source or distribution has."""
    for node in _nodes(config, root, "fetch"):
        name, _, inside = node.value.partition("/")
        if name not in sources():
            accepted = ", ".join(sources())
            raise InputError(f"config: {node.name}: {name!r} is no source; accepted: {accepted}")
        if not inside and (parts := sources()[name].parts):
            raise InputError(
                f"config: {node.name}: {name} has data of several kinds; accepted: "
                + ", ".join(f"{name}/{part}" for part in parts)
            )
        part = schema.parent(config, node)
        sides = [part[side] for side in ("source", "target")] if "target" in part else [""]
        for path in (PurePosixPath(inside, side) for side in sides):
            if path.parts and not any(_leads(path, file) for file in sources()[name].files):
                raise InputError(
                    f"config: {node.name}: {name}/{path}: the source {name} has no such file or "
                    "folder; its files are in sources/files.csv"
                )
    for node in _named(config, root):
        if not {"path", "sdist", "fetch"} & {*_entry(config, node)}:
            raise InputError(
                f"config: {node.name}: {node.value!r} has no files of its own; name another"
            )
        if (also := node.schema["path_as"]) in schema.parent(config, node):
            raise InputError(f"config: {node.name}: {also} is given, too; remove one")


def _named(config: dict[str, Any], root: dict[str, Any]) -> list[schema.Node]:
    """The names of entries whose path the study reads under another key, `path_as`."""
    nodes = schema.nodes(config, root, root)
    return [node for node in nodes if "path_as" in node.schema and node.value]


def _entry(config: dict[str, Any], node: schema.Node) -> dict[str, Any]:
    entries: Any = config
    for key in node.schema["names"].split("."):
        entries = entries[key]
    return entries[node.value]


def choose(config: dict[str, Any]) -> dict[str, Any]:
    """A copy of a config whose corpora and tasks state one place where their data are.

    They may state several: `licensed`, a path below the study's `licensed`, counts where the study
    states that directory; of `path` and another, `fetch` or `hub`, the path counts where it is
    absolute or the study states `data`, other than the default, the other elsewhere.
    """
    stated = os.path.normpath(str(config.get("data", "."))) != ".", config.get("licensed")
    return {
        key: value if key == "models" else _chosen(value, *stated) for key, value in config.items()
    }


def _chosen(part: Any, data: bool, licensed: str | None) -> Any:
    if not isinstance(part, dict):
        return part
    part = {key: _chosen(value, data, licensed) for key, value in part.items()}
    if not {"fetch", "hub"} & {*part}:
        return part
    if isinstance(own := part.get("licensed"), str):  # else the schema refuses it
        del part["licensed"]
        if isinstance(licensed, str):
            path = str(Path(licensed).absolute() / own)
            return _without(part, *HUB, "fetch", "treebank") | {"path": path}
    if "path" in part or "target" in part:
        local = data or str(part.get("path", part.get("target"))).startswith("/")
        return _without(part, *HUB, "fetch") if local else _without(part, "path")
    return part


def _without(part: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in keys}


def _leads(path: PurePosixPath, file: File) -> bool:
    """Whether a path leads to a file, to a folder above it, or into it where it is an archive."""
    own = PurePosixPath(file.whole)
    packed = own.name.endswith(ARCHIVES) and own in path.parents
    return path == own or path in own.parents or packed


def _nodes(config: dict[str, Any], root: dict[str, Any], form: str) -> list[schema.Node]:
    nodes = schema.nodes(config, root, root)
    return [node for node in nodes if node.schema.get("format") == form]


def locate(config: dict[str, Any], schemas: Path) -> dict[str, Any]:
    """A copy of a checked config in which every `fetch` and `sdist` is where its files will lie.

    That is `path`, but where files are named next to `fetch`: they lie in its folder. The name of
    an entry that is read as a path (`path_as`) becomes that path.
    """
    located, root = copy.deepcopy(config), schema.assemble(schemas)
    for node in _nodes(located, root, "sdist"):
        part = schema.parent(located, node)
        name, _, inside = part.pop("sdist").partition("/")
        part["path"] = str(PurePosixPath(SDISTS, config["sdists"][name]["requirement"], inside))
    for node in _nodes(located, root, "fetch"):
        part = schema.parent(located, node)
        place = PurePosixPath(FOLDER, part.pop("fetch"))
        if "target" in part:
            part |= {side: str(place / part[side]) for side in ("source", "target")}
        else:
            part["path"] = str(place)
    for node in _named(located, root):
        part = schema.parent(located, node)
        part[node.schema["path_as"]] = _entry(located, node)["path"]
        del part[node.keys[-1]]
    return located


def directory_of(path: str) -> str | None:
    """The folder of the source or distribution that a path leads into; None for other paths."""
    parts = PurePosixPath(path).parts
    shared = parts[:2] in {PurePosixPath(folder).parts for folder in (FOLDER, SDISTS)}
    return str(PurePosixPath(*parts[:3])) if shared and len(parts) > 2 else None


def unpack(archive: Path, folder: Path, label: str, fix: str) -> None:
    """Unpack an archive into a new folder, or raise InputError where it cannot be.

    Only files and folders are made: a link becomes a copy of what it names in the archive. `label`
    names the archive in the error, which ends with `fix`.
    """
    folder.mkdir()
    n_bytes, most = 0, max(SMALL, RATIO * archive.stat().st_size)
    try:
        for number, (name, content) in enumerate(_members(archive), start=1):
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts:
                raise ValueError(f"{name} leads out of it")
            if number > FILES:
                raise ValueError(f"more than {FILES} files")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with (folder / path).open("wb") as out:
                while chunk := content.read(CHUNK):
                    if (n_bytes := n_bytes + len(chunk)) > most:
                        raise ValueError(
                            f"more than {most} bytes in one of {archive.stat().st_size}"
                        )
                    out.write(chunk)
    except DAMAGED_ARCHIVE as error:
        raise InputError(f"{label}: not unpacked ({error}); {fix}") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of each file; of a link, the content of the file that it names."""
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise ValueError(f"{info.filename} is a symbolic link")
                if not info.is_dir():
                    yield info.filename, zipped.open(info)
        return
    with tarfile.open(archive) as tarred:
        for member in tarred:
            content = tarred.extractfile(member)  # None for a folder, or a link to one
            if content:
                yield member.name, content
        # The library takes any other end, as of a file that is cut, for the archive's.
        tarred.fileobj.seek(tarred.offset)
        if tarred.fileobj.read(tarfile.BLOCKSIZE) != tarfile.NUL * tarfile.BLOCKSIZE:
            raise ValueError("its end is missing")
