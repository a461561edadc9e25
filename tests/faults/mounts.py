"""Small and read-only file systems in place of a folder, where the machine lets tests mount."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """A tmpfs with a copy of `folder` in its place; the test is skipped without root."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    aside = folder.with_name(folder.name + ".aside")
    folder.rename(aside)
    folder.mkdir()
    command = [_found("mount"), "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        folder.rmdir()
        aside.rename(folder)
        pytest.skip(f"this machine lets root mount nothing: {done.stderr.strip()}")
    try:
        shutil.copytree(aside, folder, dirs_exist_ok=True, symlinks=True)
        yield folder
    finally:
        subprocess.run([_found("umount"), str(folder)], check=True)
        folder.rmdir()
        aside.rename(folder)


def make_read_only(folder: Path) -> None:
    """Take the right to write from the file system that is mounted at `folder`."""
    subprocess.run([_found("mount"), "-o", "remount,ro", str(folder)], check=True)


def _found(command: str) -> str:
    """The path of a command; the test is skipped without it."""
    path = shutil.which(command)
    if path is None:
        pytest.skip(f"there is no {command} on this machine")
    return path
