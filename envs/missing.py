"""The pins of files that the Python running this lacks: `python missing.py file ...` prints them.

Exit status 1 where there are any. A pin's local part, as in 2.13.0+cpu, may be any.
"""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

OLDEST_PYTHON = (3, 11)


def missing(files: list[str]) -> list[str]:
    """Each pin that is not installed in this version, and what is there instead."""
    lines = [line for file in files for line in Path(file).read_text("utf-8").splitlines()]
    pins = [line.partition("#")[0].strip() for line in lines]
    wanted = [pin.partition("==")[::2] for pin in pins if pin]
    found = {name: installed(name) for name, _ in wanted}
    return [f"{name}=={pin} (has {found[name]})" for name, pin in wanted if pin != found[name]]


def installed(name: str) -> str:
    """The version of a package without its local part."""
    try:
        return version(name).partition("+")[0]
    except PackageNotFoundError:
        return "none"


if __name__ == "__main__":
    lacking = missing(sys.argv[1:])
    if sys.version_info < OLDEST_PYTHON:
        lacking = [f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer", *lacking]
    print("\n".join(lacking))
    sys.exit(bool(lacking))
