"""How a step runs: outputs, errors, the command line, threads, its lock, and what it loads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run.job import locked

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


def test_a_script_of_figures_draws_the_one_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "figures.py").write_text(FIGURES)
    (tmp_path / "table.txt").write_text("a table")

    def run(figure: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "figures.py", figure, "--entropy", "table.txt", "--svg", "f.svg"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    assert run("second").returncode == 0
    assert (tmp_path / "f.svg").read_text() == "second of a table, 0"
    unknown = run("third")
    assert unknown.returncode == 2
    assert "choose from" in unknown.stderr


POOLS = """
import json
from pathlib import Path
import numpy, scipy.linalg, torch
from threadpoolctl import threadpool_info
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

def main(found: Out, threads: int = 1) -> None:
    pools = {pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()}
    within, between = torch.get_num_threads(), torch.get_num_interop_threads()
    found.write_text(json.dumps(pools | {"within": within, "between": between}))

job.run(main, globals())
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_libraries_take_the_threads_of_the_rule(threads: int, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(POOLS, encoding="utf-8")
    command = [sys.executable, "script.py", "--found", "found.json", "--threads", str(threads)]
    subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, timeout=120)
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert {"openblas", "openmp", "within", "between"} <= set(found)
    assert set(found.values()) == {threads}


HOLDER = """
import sys, time
from pathlib import Path
from workflow_scripts.core.run.job import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_job_is_refused_while_another_process_runs_it_and_not_after_it_was_killed(
    tmp_path: Path,
) -> None:
    log = tmp_path / "job.log"
    command = [sys.executable, "-c", HOLDER, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=r"job\.log\.lock: another process"), locked(log):
            pass
        other.kill()
    for _ in range(2):
        with locked(log):
            assert (tmp_path / "job.log.lock").exists()
        assert list(tmp_path.iterdir()) == []


# Libraries that take half a second or more each, which only some jobs need.
SLOW = ("torch", "transformers", "scipy", "sklearn", "spacy", "gensim", "nltk", "datasets")
LIGHT_ROOMS = ("run", "integrity", "data", "stats", "plots", "generated")


def test_core_loads_slow_libraries_only_where_used() -> None:
    core = ROOT / "workflow_scripts/core"
    files = [path for room in LIGHT_ROOMS for path in (core / room).glob("*.py")]
    modules = [f"workflow_scripts.core.{path.parent.name}.{path.stem}" for path in files]
    code = f"import {', '.join(modules)}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(SLOW) & set(done.stdout.split()) == set()
