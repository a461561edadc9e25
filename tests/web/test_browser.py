"""The browser is found where it is, and its absence is reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.browser import find


def program(folder: Path, name: str) -> Path:
    """An executable file."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_the_named_browser_comes_first_then_the_path_then_playwrights(tmp_path: Path) -> None:
    named, chrome = program(tmp_path / "a", "mine"), program(tmp_path / "b", "google-chrome")
    own, path = program(tmp_path / "c", "chrome"), {"PATH": str(tmp_path / "b")}
    assert find(path | {"ATLAS_BROWSER": str(named)}, [own]) == named
    assert find(path, [own]) == chrome
    chromium = program(tmp_path / "b", "chromium")
    assert find(path, [own]) == chromium
    assert find({"PATH": str(tmp_path / "a")}, [tmp_path / "gone", own]) == own
    assert find({"PATH": str(tmp_path / "a")}) is None


def test_a_named_browser_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="ATLAS_BROWSER=nothing"):
        find({"PATH": str(tmp_path), "ATLAS_BROWSER": "nothing"}, [program(tmp_path, "chromium")])


def test_one_message_states_how_to_get_one(tmp_path: Path) -> None:
    environment = {name: os.environ[name] for name in os.environ if name != "ATLAS_BROWSER"}
    environment |= {"PATH": str(tmp_path), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    command = [sys.executable, "-m", "tests.web.browser"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert "apt-get install chromium" in done.stderr
    assert "playwright install chromium" in done.stderr
