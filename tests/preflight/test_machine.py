"""What the machine has against what a study asks for."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.parsed_rules import ROOT, compiled_snakefiles
from workflow_scripts.core.run.findings import ERROR, NOTE, OK
from workflow_scripts.core.run.units import duration, size
from workflow_scripts.preflight import machine
from workflow_scripts.preflight.plan import Job
from workflow_scripts.preflight.preflight import table

JOBS = (
    Job("light", (), (), "", mem_mb=1000, disk_mb=40),
    Job("heavy", (), (), "", threads=4, mem_mb=6000, disk_mb=60),
)


@pytest.mark.parametrize(("free_mb", "state"), [(4.9, ERROR), (5, NOTE), (99, NOTE), (100, OK)])
def test_a_disk_that_is_too_small_is_an_error(free_mb: float, state: str) -> None:
    finding = machine.disk_finding(Path("results/s"), JOBS, int(1e6 * free_mb))
    assert finding.state == state
    words = "declare 100 MB (docs/preflight.md), as if every example had max_tokens tokens"
    assert words in finding.why
    assert ("work in another --directory" in finding.why) == (state == ERROR)


def test_a_local_model_has_caches_of_its_own_size(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    helpers = ROOT / "rules/common_chapters.smk"
    exec(compile(compiled_snakefiles()[helpers], helpers.name, "exec"), names)  # noqa: S102
    about = {"num_hidden_layers": 6, "num_attention_heads": 12}
    (tmp_path / "config.json").write_text(json.dumps(about), encoding="utf-8")
    assert names["maps_of"]({"path": str(tmp_path)}) == 72
    assert names["maps_of"]({"path": str(tmp_path / "none")}) == 144
    assert names["maps_of"]({"hub": "organisation/name"}) == 144


def test_a_decoders_cache_is_declared_as_a_triangle() -> None:
    names: dict[str, Any] = {}
    helpers = ROOT / "rules/common_chapters.smk"
    exec(compile(compiled_snakefiles()[helpers], helpers.name, "exec"), names)  # noqa: S102
    names |= {"CORPORA": {"text": {"n_segments": 1000, "max_tokens": 99}}, "TASKS": {}}
    names |= {"ATTENTION_MAPS": {"encoder": 100, "decoder": 100}}
    names["config"] = {"models": {kind: {"kind": kind} for kind in ("encoder", "decoder")}}
    assert names["cache_mb"]("encoder", "text") == 1961
    assert names["cache_mb"]("decoder", "text") == 990


def test_free_disk_is_that_of_the_nearest_folder_there_is(tmp_path: Path) -> None:
    assert machine.free_disk(tmp_path / "not/yet/there") > 0


def test_the_largest_job_is_held_against_the_free_memory() -> None:
    small = machine.memory_finding(JOBS, 5_000_000_000, submits=False)
    assert (small.state, small.why.split()[0]) == (NOTE, "heavy")
    assert machine.memory_finding(JOBS, 7_000_000_000, submits=False).state == OK
    assert machine.memory_finding(JOBS, 5_000_000_000, submits=True).state == OK


@pytest.mark.parametrize(
    ("here", "given", "state"), [(2, 2, NOTE), (8, 8, OK), (2, 8, NOTE), (8, None, OK)]
)
def test_cores(here: int, given: int | None, state: str) -> None:
    assert machine.cores_finding(JOBS, here, given, submits=False).state == state
    assert machine.cores_finding(JOBS, here, given, submits=True).state == OK


@pytest.mark.parametrize(
    ("device", "names", "submits", "state", "message"),
    [
        ("cuda", [], False, ERROR, "profiles/slurm"),
        ("cuda", [], True, OK, "ask the cluster"),
        ("auto", [], False, OK, "profiles/default"),
        ("auto", ["H100"], False, OK, "profiles/gpu"),
        ("cpu", ["H100"], False, OK, "device: auto would use it"),
    ],
)
def test_gpus(device: str, names: list[str], submits: bool, state: str, message: str) -> None:
    finding = machine.gpu_finding(device, (names, ""), 3, submits)
    assert finding.state == state
    assert message in finding.why


def test_hidden_gpus_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert machine.gpus()[1] == "CUDA_VISIBLE_DEVICES is ''"


def test_numbers_and_tables_for_people() -> None:
    assert [size(n) for n in (0, 950, 1.5e6, 99.95e6, 2.34e9, 4e11)] == [
        "0.0 kB",
        "0.9 kB",
        "1.5 MB",
        "100 MB",
        "2.3 GB",
        "400 GB",
    ]
    assert [duration(s) for s in (0.26, 12.4, 240, 7200)] == ["0.3 s", "12 s", "4 min", "2.0 h"]
    assert table(("a", "n"), [("long", "1")], right=(1,)) == "a     n\nlong  1"
