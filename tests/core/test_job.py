"""How a step runs: partial outputs, errors and the command line."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError, one_line
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ROOT = Path(__file__).parents[2]

STEP = '''
"""A step."""
from pathlib import Path
from workflow_scripts.core.run import job
from workflow_scripts.core.errors import InputError, one_line
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


@pytest.mark.parametrize(("wanted", "threads"), [("3", 3), ("", os.cpu_count())])
def test_threads_from_a_shell(
    monkeypatch: pytest.MonkeyPatch, wanted: str, threads: int | None
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", wanted)
    assert job._shell_threads() == threads


def test_bad_input_is_one_line_without_traceback(tmp_path: Path) -> None:
    done = run_step(tmp_path, "bad")
    assert done.returncode == 1
    assert done.stderr == "Error: in.txt:1: the text is bad; write another\n"
    assert list((tmp_path / "sub").iterdir()) == []


def test_a_message_stays_on_one_line_whatever_a_path_holds() -> None:
    assert str(InputError("a\nb.txt: bad\r")) == "a\\nb.txt: bad\\r"


def test_an_error_of_a_library_is_one_line_of_limited_length() -> None:
    assert one_line(OSError("no\n\tfile  here")) == "no file here"
    assert one_line(KeyError()) == "KeyError"
    assert len(one_line(ValueError("x" * 500))) == 200


def test_a_bug_shows_its_traceback(tmp_path: Path) -> None:
    done = run_step(tmp_path, "bug")
    assert done.returncode == 1
    first, *traceback = done.stderr.splitlines()
    assert first == "Error: step.py failed: ZeroDivisionError: a bug"
    assert traceback[-1] == "ZeroDivisionError: a bug"


def test_old_output_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def main(out: Out) -> None:
        out.write_text("half")
        assert target.read_text() == "old"
        raise InputError("stop")

    with pytest.raises(InputError):
        job.call(main, {"out": target})
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_leftovers_of_a_killed_run_are_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "dir.part").mkdir()
    (tmp_path / "dir.part" / "old").write_text("stale")

    def main(out: Out) -> None:
        out.mkdir()
        (out / "new").write_text("fresh")

    job.call(main, {"out": tmp_path / "dir"})
    assert [path.name for path in (tmp_path / "dir").iterdir()] == ["new"]


def test_a_forgotten_output_is_an_error(tmp_path: Path) -> None:
    def main(out: Out) -> None:
        pass

    with pytest.raises(RuntimeError, match="did not write its output"):
        job.call(main, {"out": tmp_path / "x"})


def test_unwritable_place_names_itself(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    def main(out: Out) -> None:
        out.write_text("x")

    with pytest.raises(InputError, match="file: cannot be written"):
        job.call(main, {"out": tmp_path / "file" / "x"})


def test_progress_in_a_log_is_sparse(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert list(job.progress(range(1000), desc="work")) == list(range(1000))
    assert len(caplog.messages) == 10
    assert caplog.messages[-1].startswith("work: 1000 of 1000")
