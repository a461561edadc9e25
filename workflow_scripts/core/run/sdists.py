"""Files inside pinned source distributions: checked in the config, and where they are unpacked."""

import copy
from pathlib import Path, PurePosixPath
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema

# Shared by all studies of a working directory.
FOLDER = "results/sdists"


def checksums(config: dict[str, Any]) -> dict[str, str]:
    """The SHA-256 of each requirement (name==version) of a checked config."""
    return {pin["requirement"]: pin["sha256"] for pin in config["sdists"].values()}


def check(config: dict[str, Any], root: dict[str, Any]) -> None:
    """Raise InputError for a study named as FOLDER, a requirement pinned twice, a wrong location.

    A wrong location names no pinned distribution, or leads out of it.
    """
    if config["study"].casefold() == Path(FOLDER).name:
        raise InputError(
            f"config: study: {config['study']!r} is taken by {FOLDER}/; choose another name"
        )
    seen: dict[str, str] = {}
    for name, pin in config["sdists"].items():
        first = seen.setdefault(pin["requirement"].lower(), name)  # of one folder, on some disks
        if first != name:
            raise InputError(
                f"config: sdists.{name}: {pin['requirement']} is also sdists.{first}; remove one"
            )
    for node in schema.nodes(config, root, root):
        if node.schema.get("format") == "sdist":
            name, _, inside = node.value.partition("/")
            if name not in config["sdists"]:
                names = ", ".join(sorted(config["sdists"])) or "none yet, add it to sdists"
                raise InputError(
                    f"config: {node.name}: {name!r} is not in sdists; accepted: {names}"
                )
            if inside.startswith("/") or ".." in PurePosixPath(inside).parts:
                raise InputError(
                    f"config: {node.name}: {node.value}: leads out of the distribution; write "
                    "<name in sdists>/<path in it>"
                )


def locate(config: dict[str, Any]) -> dict[str, Any]:
    """A copy of a checked config in which every `sdist` is the `path` where it is unpacked."""
    located = copy.deepcopy(config)
    _locate(located, config["sdists"])
    return located


def _locate(part: Any, pins: dict[str, Any]) -> None:
    if not isinstance(part, dict):
        return
    if isinstance(part.get("sdist"), str):
        name, _, inside = part.pop("sdist").partition("/")
        part["path"] = str(PurePosixPath(FOLDER, pins[name]["requirement"], inside))
    for value in part.values():
        _locate(value, pins)


def directory_of(path: str) -> str | None:
    """The directory of the unpacked distribution that a path leads into; None where it does not."""
    parts = PurePosixPath(path).parts
    depth = len(PurePosixPath(FOLDER).parts)
    inside = parts[:depth] == PurePosixPath(FOLDER).parts and len(parts) > depth
    return str(PurePosixPath(*parts[: depth + 1])) if inside else None
