"""Which files a path of the study names, as rules and readers both ask; JSON within a page."""

import base64
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from workflow_scripts.core.errors import InputError

# CoNLL-2012 has each document twice: with gold and with a program's annotation.
GOLD, AUTO = "_gold_conll", "_auto_conll"
# Files with these endings that a job fetches are unpacked to folders of their names.
ARCHIVES = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")

# json.dumps leaves ASCII; these characters could end a script element or begin a comment.
UNSAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def files_below(path: Path, endings: Iterable[str] = ("",), deep: bool = True) -> list[Path]:
    """The file at `path`, or the files below a directory with one of `endings`, sorted by path.

    Files of folders in it, links among them, count unless `deep` is false; hidden ones, whose name
    starts with a dot, never do, nor does `<stem>_auto_conll` next to `<stem>_gold_conll`. There may
    be none. Raises InputError for a folder that cannot be opened.
    """
    if not path.is_dir():
        return [path] if path.exists() else []
    found: list[Path] = []
    seen: set[str] = set()  # a link may lead back to a folder above it
    for folder, folders, names in os.walk(path, onerror=_refuse_folder, followlinks=True):
        real = os.path.realpath(folder)
        folders[:] = sorted(name for name in folders if deep and not is_hidden(name))
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        gold = {name.removesuffix(GOLD) + AUTO for name in names if name.endswith(GOLD)}
        inside = (Path(folder, name) for name in set(names) - gold if not is_hidden(name))
        # Neither pipes nor devices; a link to nothing is for its reader to refuse.
        data = (file for file in inside if file.is_file() or file.is_symlink())
        found += [file for file in data if file.name.endswith(tuple(endings))]
    return sorted(found)


def files_at(path: Path, endings: Iterable[str]) -> list[Path]:
    """As `files_below`. Raises InputError if there is none."""
    if not path.exists():
        raise InputError(f"{path}: no such file or directory; correct the path")
    files = files_below(path, endings)
    if not files:
        raise InputError(f"{path}: no {', '.join(endings)} file; put one there")
    return files


def inside(path: Path, folder: str) -> Path:
    """The directory `folder` in `path` if there is one, else `path`."""
    return path / folder if (path / folder).is_dir() else path


def is_hidden(name: str) -> bool:
    """Whether a file or folder is a program's own, such as .git or macOS's ._a.conllu."""
    return name.startswith(".")


def _refuse_folder(error: OSError) -> NoReturn:
    raise InputError(
        f"{error.filename}: cannot be opened ({error.strerror}); change its permissions"
    ) from error


def json_in_script(data: Any) -> str:
    """JSON in ASCII that cannot end the script element it stands in, whatever the texts state."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(UNSAFE)


def script_digest(script: str) -> str:
    """The SHA-256 by which a content policy allows a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
