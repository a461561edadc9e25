"""Where data come from: files that installed Python packages carry, and datasets of the hub.

A package is not imported. What is installed is pinned when a run is planned: the version and the
SHA-256 of what is read become part of the source, so that another version, or an edited file, makes
stale what was made of it.
"""

import copy
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError, and_more, one_line
from workflow_scripts.core.integrity import digests

# Of files that hold data alone; others, such as archives of examples, may hold pickles.
DATASET_FORMS = ("arrow", "csv", "json", "parquet", "text")
# What the library has prepared before, as Arrow, where it cannot reach the hub.
DATASET_CACHED = "cache"


def pinned(config: dict[str, Any], refuse: bool = True) -> dict[str, Any]:
    """A copy of a checked config whose sources in packages have their `version` and `sha256`.

    One that cannot be read, as where its package is not installed, has neither; InputError where
    such are to `refuse`.
    """
    config, problems = copy.deepcopy(config), []
    for name, source in _sources(config):
        try:
            source |= pin(source["package"])
        except InputError as error:
            problems.append(f"config: {name}: {error}")
    if problems and refuse:
        raise InputError(problems[0] + and_more(problems))
    return config


def pin(package: str) -> dict[str, str]:
    """The `version` and `sha256` of what is at `<package>/<path in it>`, of a directory all files.

    A package that no distribution brought, such as a folder on PYTHONPATH, has no version.
    """
    sha256 = digests.sha256(inside_package(package))
    version = _version(package.partition("/")[0])
    return ({"version": version} if version else {}) | {"sha256": sha256}


def path_of(source: dict[str, Any]) -> Path:
    """The file or directory of a source of the config, which has a key `package` or `path`.

    Raises InputError where a package has no such file.
    """
    return inside_package(source["package"]) if "package" in source else Path(source["path"])


def inside_package(location: str) -> Path:
    """The file or directory at `<package>/<path in it>`. Raises InputError if there is none."""
    package, _, rest = location.partition("/")
    spec = find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"package: {location}: {package!r} is not installed; install it with pip, or write the "
            "name that is imported"
        )
    root = Path(next(iter(spec.submodule_search_locations))).resolve()
    path = (root / rest).resolve()
    if not path.is_relative_to(root) or not path.exists():
        raise InputError(f"package: {location}: the package has no such file; correct the path")
    return path


def _sources(part: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The sources in packages within a part of the config, with their dotted keys."""
    if not isinstance(part, dict):
        return
    if isinstance(part.get("package"), str):
        yield f"{name}.from", part
    for key, value in part.items():
        yield from _sources(value, f"{name}.{key}" if name else key)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # a distribution of another name, found in 0.6 s
        names = metadata.packages_distributions().get(package, [])
        return metadata.version(names[0]) if names else None


def load_rows(
    source: dict[str, Any], columns: tuple[str, ...] = ("text",)
) -> Iterator[dict[str, Any]]:
    """The rows of a dataset in hub format, by name or in a local directory, one at a time.

    Where the hub cannot be reached, they are those that were prepared before, of this revision.
    Raises InputError if it cannot be fetched or lacks one of `columns`.
    """
    from datasets import load_dataset_builder

    name, revision = source["hub"], source.get("revision")
    try:
        builder = load_dataset_builder(name, source.get("name"), revision=revision)
        form = type(builder).__module__.split(".")[-1]
        if form == DATASET_CACHED and builder.hash != revision:
            raise ValueError(f"the hub cannot be reached; here it is at {builder.hash}")
        if form not in (*DATASET_FORMS, DATASET_CACHED):
            raise ValueError(f"its files are {form}; accepted: {', '.join(DATASET_FORMS)}")
        # The library's load_dataset would choose a builder anew, perhaps of another revision.
        builder.download_and_prepare()
        rows = builder.as_dataset(split=source.get("split", "train"))
    except Exception as error:
        raise InputError(
            f"hub: {name} at {revision}: cannot be fetched ({one_line(error)}); connect this "
            "machine to the network, or download the data elsewhere and give their path as from"
        ) from error
    for column in columns:
        if column not in rows.column_names:
            names = ", ".join(rows.column_names)
            raise InputError(f"hub: {name}: no column {column}; the dataset has {names}")
    return iter(rows)
