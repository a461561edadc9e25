"""`make setup` uses an environment that has the pins, and empties only what it made itself."""

import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKE = shutil.which("make")
HERE = f"pytest=={version('pytest')}"
# A Python whose environments have a pip that installs nothing but the names of what it is asked
# for, as `make` asks, and fails where there is a file `offline` next to it.
PYTHON = """#!/usr/bin/env bash
if [ "$2" != venv ]; then exec "{python}" "$@"; fi
"{python}" "$@" --without-pip
for site in "$3"/lib/python*/site-packages; do
	mkdir "$site/pip"
	cp "{folder}/stub_of_pip.py" "$site/pip/__main__.py"
done
"""
PIP = """import sys
from pathlib import Path

assert not Path("{folder}/offline").exists(), "no network"
site = Path(__file__).parents[1]
files = [word for option, word in zip(sys.argv, sys.argv[1:]) if option == "-r"]
pins = [word for word in sys.argv if "==" in word]
for pin in pins + [line for file in files for line in Path(file).read_text().splitlines()]:
    name, _, version = pin.partition("==")
    info = site / (name + "-" + version + ".dist-info")
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text("Name: " + name + "\\nVersion: " + version + "\\n")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A fresh copy of what `make setup` reads, with pins of one package for each file."""
    return copy(tmp_path / "checkout")


def copy(folder: Path) -> Path:
    """The Makefile and envs/, with few pins, and a Python that makes environments offline."""
    (folder / "envs").mkdir(parents=True)
    for name in ("Makefile", "envs/setup.sh", "envs/missing.py"):
        shutil.copy2(ROOT / name, folder / name)
    for name in ("torch", "requirements", "models", "test", "web"):
        (folder / f"envs/{name}.txt").write_text(f"{name}pinned==1.0\n")
    (folder / "python").write_text(PYTHON.format(python=sys.executable, folder=folder))
    (folder / "python").chmod(0o755)
    (folder / "stub_of_pip.py").write_text(PIP.format(folder=folder))
    return folder


def make(checkout: Path, *words: str, venv: Path | None = None) -> subprocess.CompletedProcess:
    """`make` in a checkout, with its own Python for what it sets up."""
    given = [f"SYSTEM_PYTHON={checkout}/python", *([f"VENV={venv}"] if venv else []), *words]
    command = [MAKE, "-C", checkout, *given]
    return subprocess.run(command, capture_output=True, text=True)


def content(folder: Path) -> dict[Path, int]:
    """Every file and folder below, with the time of its last change."""
    return {path: path.lstat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def test_an_environment_with_the_pins_is_used_as_it_is(checkout: Path, tmp_path: Path) -> None:
    """Here that of this test, by way of a link, as if the user had given it."""
    for path in (checkout / "envs").glob("*.txt"):
        path.write_text(f"# why\n{HERE}\n")
    venv = tmp_path / "given"
    venv.symlink_to(sys.prefix)
    before = {path.name: path.lstat().st_mtime_ns for path in Path(sys.prefix).iterdir()}
    for target in ("setup", "setup-web"):
        done = make(checkout, target, venv=venv)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Setting up" not in done.stdout
    assert {p.name: p.lstat().st_mtime_ns for p in Path(sys.prefix).iterdir()} == before


def test_an_environment_without_the_pins_is_left_alone(checkout: Path, tmp_path: Path) -> None:
    venv = tmp_path / "given"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    before = content(venv)
    for target in ("setup", "setup-web", "distclean"):
        done = make(checkout, target, venv=venv)
        assert content(venv) == before
        assert (done.returncode == 0) == (target == "distclean")
    assert "was not made here, and is left" in done.stdout
    error = make(checkout, "setup", venv=venv).stderr
    assert f"Error: {venv} lacks torchpinned==1.0 (has none), requirementspinned" in error
    assert "nothing in it was changed" in error
    assert "pinned in envs/torch.txt, envs/requirements.txt, envs/models.txt, envs/t" in error


def test_what_was_made_here_follows_the_pins(checkout: Path) -> None:
    """By their content: a newer file with the same pins changes nothing."""
    venv = checkout / ".venv"
    assert "Setting up" in make(checkout, "setup").stdout
    (venv / "kept").touch()
    for name in ("torch", "requirements"):
        (checkout / f"envs/{name}.txt").touch()
    assert make(checkout, "setup-web").returncode == 0
    assert list(venv.glob("lib/*/site-packages/webpinned-1.0.dist-info"))
    assert (venv / "kept").exists()
    (checkout / "envs/test.txt").write_text("testpinned==2.0\n")
    assert "Setting up" in make(checkout, "setup").stdout
    assert not (venv / "kept").exists()
    assert make(checkout, "setup").stdout.count("Setting up") == 0
    assert make(checkout, "distclean").returncode == 0
    assert not venv.exists()


def test_what_another_checkout_made_is_used_but_not_changed(checkout: Path, tmp_path: Path) -> None:
    other = copy(tmp_path / "other")
    make(other, "setup")
    before = content(other / ".venv")
    assert make(checkout, "setup", venv=other / ".venv").returncode == 0
    (checkout / "envs/models.txt").write_text("modelspinned==2.0\n")
    done = make(checkout, "setup", venv=other / ".venv")
    assert "lacks modelspinned==2.0 (has 1.0), and was not set up in this folder" in done.stderr
    assert content(other / ".venv") == before


def test_an_interrupted_set_up_starts_again(checkout: Path) -> None:
    (checkout / "offline").touch()
    assert make(checkout, "setup").returncode != 0
    (checkout / ".venv/left").touch()
    (checkout / "offline").unlink()
    assert make(checkout, "setup").returncode == 0
    assert not (checkout / ".venv/left").exists()
    assert sorted(path.name for path in (checkout / ".venv").glob(".*")) == [".ready"]
