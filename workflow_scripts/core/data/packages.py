"""Files that installed Python packages carry, found without importing the package."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workflow_scripts.core.run.errors import InputError


def path_of(source: dict[str, Any]) -> Path:
    """The file or directory of a source of the config, which has a key `package` or `path`."""
    return inside_package(source["package"]) if "package" in source else Path(source["path"])


def inside_package(location: str) -> Path:
    """The file or directory at `<package>/<path in it>`. Raises InputError if there is none."""
    package, _, rest = location.partition("/")
    spec = find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"package: {location}: {package!r} is not installed; install it with pip")
    if "\0" in rest:
        raise InputError(f"package: {location!r}: a NUL character; correct the path")
    root = Path(next(iter(spec.submodule_search_locations))).resolve()
    path = (root / rest).resolve()
    if not path.is_relative_to(root):
        raise InputError(f"package: {location}: leads out of the package; correct the path")
    if not path.exists():
        raise InputError(f"package: {location}: the package has no such file; correct the path")
    return path
