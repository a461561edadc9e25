"""How a step runs: partial outputs, errors and the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

from workflow_scripts.core.integrity import code_digest

ROOT = Path(__file__).parents[2]

STEP = '''
"""A step."""
from pathlib import Path
from workflow_scripts.core.run import job
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.job import Out

def main(text: Path, copy: Out, times: int = 1, options: dict = {}) -> None:
    content = text.read_text()
    if content == "bad":
        raise InputError(f"{text}:1: the text is bad; write another")
    if content == "bug":
        raise ZeroDivisionError("a bug")
    copy.write_text(content * times + options.get("end", ""))

if __name__ == "__main__":
    job.run(main, globals())
'''


def run_step(folder: Path, content: str, *options: str) -> subprocess.CompletedProcess:
    (folder / "step.py").write_text(STEP)
    (folder / "in.txt").write_text(content)
    return subprocess.run(
        [sys.executable, "step.py", "--text", "in.txt", "--copy", "sub/out.txt", *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_runs_from_a_shell(tmp_path: Path) -> None:
    done = run_step(tmp_path, "ab", "--times", "2", "--options", '{"end": "!"}')
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sub/out.txt").read_text() == "abab!"
    assert {path.name for path in (tmp_path / "sub").iterdir()} == {"out.txt", ".provenance"}


FIGURES = '''
"""Two figures."""
from pathlib import Path
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

def first(entropy: Path, svg: Out) -> None:
    svg.write_text("first of " + entropy.read_text())

def second(entropy: Path, svg: Out, seed: int = 0) -> None:
    svg.write_text(f"second of {entropy.read_text()}, {seed}")

if __name__ == "__main__":
    job.run_figure(globals())
'''

WORKFLOW = """
rule second:
    input:
        entropy="table.txt",
    output:
        svg="{name}.svg",
    params:
        figure="second",
        seed=3,
    script:
        "workflow_scripts/figures.py"
"""


def test_a_script_of_figures_draws_the_one_that_is_named(tmp_path: Path) -> None:
    script = tmp_path / "workflow_scripts/figures.py"
    script.parent.mkdir()
    script.write_text(FIGURES)
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    (tmp_path / "table.txt").write_text("a table")

    def run(*command: str) -> subprocess.CompletedProcess:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = (sys.executable, *command)
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    shell = run(str(script), "second", "--entropy", "table.txt", "--svg", "shell.svg")
    assert shell.returncode == 0, shell.stderr
    assert (tmp_path / "shell.svg").read_text() == "second of a table, 0"
    rule = run("-m", "snakemake", "--cores", "1", "--quiet", "all", "--", "rule.svg")
    assert rule.returncode == 0, rule.stderr
    assert (tmp_path / "rule.svg").read_text() == "second of a table, 3"
    record = json.loads((tmp_path / ".provenance/rule.svg.json").read_text())
    assert set(record["inputs"]) == {"table.txt"}
    assert record["params"] == {"figure": "second", "seed": 3}
    assert record["code"] == code_digest.digest(script)
    unknown = run(str(script), "third")
    assert unknown.returncode == 2
    assert "choose from" in unknown.stderr


def test_bad_input_is_one_line_without_traceback(tmp_path: Path) -> None:
    done = run_step(tmp_path, "bad")
    assert done.returncode == 1
    assert done.stderr == "Error: in.txt:1: the text is bad; write another\n"
    assert list((tmp_path / "sub").iterdir()) == []


def test_a_bug_shows_its_traceback(tmp_path: Path) -> None:
    done = run_step(tmp_path, "bug")
    assert done.returncode == 1
    first, *traceback = done.stderr.splitlines()
    assert first == "Error: step.py failed: ZeroDivisionError: a bug"
    assert traceback[-1] == "ZeroDivisionError: a bug"
