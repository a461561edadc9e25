"""`snakemake preflight` itself, on the tiny study: what it reports, writes, and ends with."""

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.printed import rules_of
from tests.workflow.tiny_study import TinyStudy
from workflow_scripts.core.run.findings import ERROR, Finding
from workflow_scripts.preflight.preflight import problems_of

FIGURE = ("results/tiny/tiny/figures/clark2019-fig4.svg",)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> TinyStudy:
    return TinyStudy(tmp_path_factory.mktemp("preflight"), tiny_model_dir)


def report_of(study: TinyStudy) -> dict[str, list[str]]:
    """The lines of each part of the report, by its heading's first word."""
    text = (study.folder / "results/tiny/preflight.txt").read_text(encoding="utf-8")
    parts = [part.splitlines() for part in text.split("## ")[1:]]
    return {part[0].split()[0].strip(":,"): part[1:] for part in parts}


@pytest.fixture(scope="module")
def sound(study: TinyStudy) -> dict[str, list[str]]:
    """The report on a study that can run."""
    done = study.snakemake("preflight", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    report = report_of(study)
    assert "\n".join(report["Sources"]).strip() in done.stdout
    return report


def test_one_problem_of_many_things_is_one_line() -> None:
    found = [Finding(what, ERROR, why) for what, why in (("a", "x"), ("b", "y"), ("c", "x"))]
    assert problems_of(found) == ["a, c: x", "b: y"]


def test_a_sound_study_has_no_problem(sound: dict[str, list[str]]) -> None:
    assert sound["Problems"] == ["none found"]
    assert any(line.startswith("ok  corpora.text.made-up") for line in sound["Sources"])
    assert any(line.split()[:2] == ["ok", "models.tiny"] for line in sound["Models"])


def test_it_runs_nothing_and_locks_nothing(study: TinyStudy, sound: dict[str, list[str]]) -> None:
    results = study.folder / "results"
    written = {str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()}
    assert written == {"tiny/preflight.txt", "tiny/logs/preflight.log"}
    assert not list((study.folder / ".snakemake").glob("locks/*"))


def test_the_jobs_are_those_of_a_dry_run(study: TinyStudy, sound: dict[str, list[str]]) -> None:
    table = [line.split() for line in sound["What"][1:] if line]
    rules = {cells[0]: int(cells[1]) for cells in table if cells[1].isdigit()}
    planned = study.snakemake("--dry-run")
    named = rules_of(planned.stdout + planned.stderr)
    assert rules == Counter(name for name in named if name != "all")
    assert f"{sum(rules.values())} jobs" in sound["What"]


def test_all_problems_are_named_and_the_status_is_not_0(study: TinyStudy, tmp_path: Path) -> None:
    """Four bad sources, of which two paths and a package are missing, and a bad model."""
    broken = study.copy(tmp_path / "broken")
    (broken.folder / "trees/1.conllx").write_text("1\tno columns\n", encoding="utf-8")
    (broken.folder / "tiny-model/model.safetensors").write_bytes(b"no weights")
    for name in ("folder", "file"):
        broken.config["corpora"]["text"][f"gone-{name}"] = {"path": f"no-such-{name}"}
    broken.config["corpora"]["text"]["gone"] = {"package": "no_such_package/text"}
    broken.write_config()
    done = broken.snakemake("preflight", timeout=300)
    assert done.returncode != 0
    report = report_of(broken)
    problems = report["Problems"]
    missing = [f"no-such-{name}: no such file or directory" for name in ("folder", "file")]
    missing.append("'no_such_package' is not installed; install it with pip")
    messages = [*missing, "trees/1.conllx:1: ", "cannot be read"]
    assert len(problems) == len(messages)
    for text in messages:
        assert [line for line in problems if text in line], problems
    assert "Error: preflight: 5 problems" in done.stderr
    # No plan, as a run ends at once for the first missing path: nothing is stated of jobs.
    assert report["What"][0].startswith("no plan: ")
    assert "config: corpora.text.gone-folder.path: no-such-folder" in report["What"][0]
    unknown = [line for line in report["Machine"] if line.endswith("not looked at without a plan")]
    assert [line.split()[1] for line in unknown] == ["disk", "memory", "cores", "GPU"]


@pytest.mark.parametrize("asked", [(), ("preflight", "all"), ("--until", "preflight"), FIGURE])
def test_whoever_asks_for_more_meets_a_missing_path(
    study: TinyStudy, tmp_path: Path, asked: tuple[str, ...]
) -> None:
    """One error before any job, also where the figure needs another text."""
    broken = study.copy(tmp_path / "broken")
    broken.config["corpora"]["text"]["gone"] = {"path": "no-such-folder"}
    broken.write_config()
    done = broken.snakemake(*asked, "--dry-run")
    assert done.returncode != 0
    output = done.stdout + done.stderr
    assert output.count("config: corpora.text.gone.path: no-such-folder: no such file") == 1
    assert "rule " not in output


@pytest.fixture
def small_disk(study: TinyStudy, tmp_path: Path) -> Iterator[TinyStudy]:
    """The study with a disk of 2 MB for its results."""
    twin = study.copy(tmp_path / "small")
    results = twin.folder / "results"
    results.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(results)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no right to mount a tmpfs here")
    yield twin
    subprocess.run(["umount", str(results)], check=True)  # noqa: S607 - of the system


def test_a_disk_that_is_too_small_is_refused(small_disk: TinyStudy) -> None:
    done = small_disk.snakemake("preflight", timeout=300)
    assert done.returncode != 0
    (problem,) = report_of(small_disk)["Problems"]
    assert problem.startswith("1. disk of results/tiny: results/tiny: only 2.")
