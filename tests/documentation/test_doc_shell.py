"""The pages' commands other than `snakemake`: the shell, Python and make accept what is written."""

import argparse
import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.documentation.blocks import ROOT, Block, commands, of, typed

# Blocks that run here as they are written, with stand-ins for programs: a word of each, its page.
STAND_INS = {"squeue": "docs/cluster.md", "worktree": "docs/cluster.md"}
# Words that begin a command of another block: each is checked here or in test_doc_snakemake.py.
CHECKED = {"snakemake", "python", "make", "pip", "."}
READS_OPTIONS = re.compile(r"\bparse_args\(|\bjob\.run\(")


class Parsed(Exception):
    """A program has read its options, and would run now."""


@pytest.mark.parametrize("block", of("bash"), ids=str)
def test_a_block_is_of_commands_that_are_checked(block: Block) -> None:
    subprocess.run([shutil.which("bash"), "-n"], input=block.text, text=True, check=True)
    programs = {words[0] for where, words in typed() if where == str(block)}
    assert programs
    assert programs <= CHECKED or block in map(with_stand_ins, STAND_INS)


def with_stand_ins(word: str) -> Block:
    """The one block of STAND_INS that has a word."""
    (block,) = (b for b in of("bash") if b.page == STAND_INS[word] and word in b.text)
    return block


def python_commands() -> list[list[str]]:
    """The words after `python`, up to a redirection or a pipe, each once."""
    found = [re.split(r" [|>] ", " ".join(words))[0].split() for _, words in commands("python")]
    return sorted(set(map(tuple, found)))


@pytest.mark.parametrize("words", python_commands(), ids=" ".join)
def test_a_program_takes_its_options(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that reads options reads these without an error; others are there."""
    module = words[0] == "-m"
    name, *options = words[module:]
    if module and not (ROOT / name.split(".")[0]).is_dir():
        assert importlib.util.find_spec(name.split(".")[0])
        return
    path = ROOT / (name.replace(".", "/") + ".py" if module else name)
    if not READS_OPTIONS.search(path.read_text(encoding="utf-8")):
        return
    original = argparse.ArgumentParser.parse_args

    def parse(parser: argparse.ArgumentParser, *arguments: object) -> None:
        original(parser, *arguments)
        raise Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse)
    monkeypatch.setattr(sys, "argv", [str(path), *options])
    monkeypatch.syspath_prepend(path.parent)  # as Python does for a script
    with pytest.raises(Parsed):
        if module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(path), run_name="__main__")


def test_a_step_without_a_required_option_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["entropy", "--attention", "a.h5"])
    with pytest.raises(SystemExit):
        runpy.run_module("workflow_scripts.surface.entropy", run_name="__main__")


def test_make_has_the_targets() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    found = {words[-1] for _, words in commands("make")}
    assert {"demo", "test", "setup"} <= found <= set(phony.split())


def test_pip_installs_this_checkout_with_extras_that_exist() -> None:
    """The package is on no index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {words[-1] for _, words in commands("pip")}
    extras = {re.fullmatch(r"\.\[(\w+)\]", word)[1] for word in found}
    assert extras == {"slurm", "generic"} <= project["optional-dependencies"].keys()


def test_pending_jobs_without_a_future_are_cancelled(tmp_path: Path) -> None:
    waiting = "7 Priority\\n8 PartitionConfig\\n9 Resources\\n10 BadConstraints\\n"
    stand_in(tmp_path / "squeue", f"printf '{waiting}'")
    stand_in(tmp_path / "scancel", 'echo "$@" >> cancelled')
    run(with_stand_ins("squeue").text, tmp_path, tmp_path)
    assert (tmp_path / "cancelled").read_text().split() == ["8", "10"]


def test_a_run_in_a_work_tree_has_the_results(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    atlas = tmp_path / "atlas"
    for name in ("results", ".snakemake", ".venv/bin"):
        (atlas / name).mkdir(parents=True)
    for options in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "empty"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([git, *author, *options], cwd=atlas, check=True)
    stand_in(atlas / ".venv/bin/snakemake", "touch results/made .snakemake/locked")
    run(with_stand_ins("worktree").text, atlas, tmp_path)
    assert (atlas / "results/made").exists()
    assert (atlas / ".snakemake/locked").exists()


def stand_in(path: Path, commands: str) -> None:
    """A program of the shell."""
    path.write_text(f"#!/usr/bin/env bash\n{commands}\n", encoding="utf-8")
    path.chmod(0o755)


def run(text: str, folder: Path, programs: Path) -> None:
    """A block in a folder, with stand-ins before the programs of the machine."""
    path = f"{programs}:/usr/local/bin:/usr/bin:/bin"
    command = [shutil.which("bash"), "-euo", "pipefail", "-c", text]
    subprocess.run(command, cwd=folder, env={"PATH": path, "HOME": str(programs)}, check=True)
