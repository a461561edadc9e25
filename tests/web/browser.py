"""Finds the browser that the tests drive: `python -m tests.web.browser` prints its path.

Also `python -m tests.web.browser node ARGUMENTS`: the Node.js that the playwright package brings.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = """No browser was found, so the atlas cannot be tested in one. Get one:
  Debian, Ubuntu   apt-get install chromium
  elsewhere        {python} -m playwright install chromium
or name one: ATLAS_BROWSER=/path/to/chromium make test-web.
Where none can be had, ATLAS_BROWSER=none make test-web lints and runs the tests that need none."""


def find(environment: Mapping[str, str], own: Iterable[Path] = ()) -> Path | None:
    """The browser named in ATLAS_BROWSER, else the first on PATH, else the first of `own`.

    Raises FileNotFoundError where the one that ATLAS_BROWSER names does not exist.
    """
    if named := environment.get("ATLAS_BROWSER"):
        found = shutil.which(named, path=environment.get("PATH"))
        if found is None:
            raise FileNotFoundError(f"ATLAS_BROWSER={named}: there is no such program")
        return Path(found)
    for name in NAMES:
        if found := shutil.which(name, path=environment.get("PATH")):
            return Path(found)
    return next((path for path in own if path.is_file()), None)


def playwrights_own() -> list[Path]:
    """Where `playwright install chromium` puts its browser, present or not."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return [Path(playwright.chromium.executable_path)]


def installed() -> Path:
    """The browser to drive; ends the program with one message where there is none."""
    try:
        browser = find(os.environ) or find(os.environ, playwrights_own())
    except FileNotFoundError as error:
        sys.exit(str(error))
    return browser or sys.exit(MISSING.format(python=sys.executable))


def node(*arguments: str) -> int:
    """Run Node.js of the playwright package; its exit status."""
    from playwright._impl._driver import compute_driver_executable

    return subprocess.run([compute_driver_executable()[0], *arguments]).returncode


if __name__ == "__main__":
    if sys.argv[1:2] == ["node"]:
        sys.exit(node(*sys.argv[2:]))
    print(installed())
