"""The records next to products: what they state and find, and that they refuse nothing right."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance, verify
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

ROOT = Path(__file__).parents[2]


def double(text: Path, made: Out, times: int = 2, seed: int = 7) -> None:
    """A step with a file as its output."""
    made.write_text(text.read_text() * times)


def weights(text: Path, folder: Out) -> None:
    """A step with a directory as its output."""
    (folder / "inner").mkdir(parents=True)
    (folder / "inner/a.bin").write_bytes(text.read_bytes())
    (folder / "b.bin").write_bytes(b"b" * 10)


def read(folder: Path, made: Out) -> None:
    """A step that reads such a directory."""
    made.write_text((folder / "inner/a.bin").read_text())


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a source and three products, made by jobs with relative paths."""
    monkeypatch.chdir(tmp_path)
    Path("source.txt").write_text("ab")
    make()
    return Path("results/tiny")


def make() -> None:
    first, second, third = (Path("results/tiny", *at) for at in (("a", "one"), ("b", "two"), ["3"]))
    job.call(double, {"text": Path("source.txt"), "made": first, "times": 2, "seed": 7})
    job.call(weights, {"text": first, "folder": second})
    job.call(read, {"folder": second, "made": third})


def records(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob(".provenance/*")}


def test_a_record_states_what_the_product_was_made_of(study: Path) -> None:
    record = json.loads((study / "a/.provenance/one.json").read_text())
    source = provenance.content(Path("source.txt"))
    assert record["inputs"] == {"source.txt": source}
    assert record["sha256"] == provenance.content(study / "a/one")["sha256"]
    assert (record["size"], record["seed"]) == (4, 7)
    assert record["params"] == {"times": 2, "seed": 7}
    assert record["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    folder = json.loads((study / "b/.provenance/two.json").read_text())
    assert (folder["size"], folder["files"]) == (14, 2)
    assert folder["inputs"] == {
        "results/tiny/a/one": {key: record[key] for key in ("sha256", "size")}
    }


def test_two_runs_give_equal_records(study: Path) -> None:
    before = records(study)
    assert len(before) == 4
    shutil.rmtree("results")
    make()
    assert records(study) == before


def test_the_files_of_a_directory_are_listed_next_to_it(study: Path) -> None:
    """As `sha256sum --check` reads it; by this list Snakemake sees that the directory changed."""
    files = [f"{digests.of(study / 'b/two' / file)}  {file}\n" for file in ("b.bin", "inner/a.bin")]
    listed = (study / "b/two.sha256").read_text()
    assert listed == "".join(line.replace("  ", "  two/") for line in files)


def test_an_untouched_folder_is_as_recorded_also_elsewhere(study: Path, tmp_path: Path) -> None:
    assert verify.verify(study) == []
    copied = tmp_path / "elsewhere/renamed"
    shutil.copytree(study, copied)
    assert verify.verify(copied) == []
    (copied / "a/one").write_text("abaB")
    wrong = verify.verify(copied)
    assert wrong == [f"{copied}/a/one: differs from its record"]


@pytest.mark.parametrize(
    "other", ["results/tiny/a/other", "results/tiny/c/one", "results/tiny/one"]
)
def test_a_product_with_the_record_of_another_is_refused(study: Path, other: str) -> None:
    """As after a swap of two products, perhaps of one name, together with their records."""
    job.call(double, {"text": Path("source.txt"), "made": Path(other), "times": 3})
    product = study / "a/one"
    for at in (lambda path: path, provenance.record_path):
        kept = at(product).read_bytes()
        os.replace(at(Path(other)), at(product))
        at(Path(other)).write_bytes(kept)
    with pytest.raises(InputError, match=f"a/one: the record next to it is of {other}; put"):
        job.call(weights, {"text": product, "folder": study / "b/two"})
    wrong = verify.verify(study)
    assert f"{product}: has the record of {other}" in wrong
    assert f"{other}: has the record of {product}" in wrong


def test_jobs_go_on_in_a_renamed_folder(study: Path) -> None:
    renamed = study.rename("results/renamed")
    job.call(read, {"folder": renamed / "b/two", "made": renamed / "3"})
    job.call(read, {"folder": (renamed / "b/two").absolute(), "made": renamed / "3"})
    assert verify.verify(renamed) == []


def test_touching_and_timestamps_of_snakemake_change_nothing(study: Path) -> None:
    (study / "b/two/.snakemake_timestamp").touch()
    for path in study.rglob("*"):
        os.utime(path, (1, 1))
    assert verify.verify(study) == []
    job.call(read, {"folder": study / "b/two", "made": study / "3"})


@pytest.mark.parametrize("change", ["other", "longer", "fewer"])
def test_a_changed_input_is_refused_and_named(study: Path, change: str) -> None:
    file = study / "b/two/inner/a.bin"
    match change:
        case "other":
            file.write_text("abaB")
        case "longer":
            file.write_text("ababab")
        case "fewer":
            (study / "b/two/b.bin").unlink()
    with pytest.raises(InputError, match="results/tiny/b/two: is not what its job wrote"):
        job.call(read, {"folder": study / "b/two", "made": study / "3"})
    assert f"{study}/b/two: differs from its record" in verify.verify(study)


def test_a_folder_names_what_is_missing_unrecorded_or_of_another_version(study: Path) -> None:
    (study / "3").unlink()
    (study / "logs").mkdir()
    (study / "logs/x.log").write_text("")
    (study / "own.csv").write_text("")
    Path("source.txt").write_text("abc")
    assert sorted(verify.verify(study)) == [
        "results/tiny/3: missing",
        "results/tiny/a/one: was made from another version of source.txt",
        "results/tiny/own.csv: unrecorded",
    ]
    done = subprocess.run(
        [sys.executable, "-m", verify.__name__, str(study)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout.endswith("results/tiny: 4 records, 3 things wrong\n")


def test_a_rerun_of_the_first_step_shows_what_is_out_of_date(study: Path) -> None:
    Path("source.txt").write_text("abc")
    job.call(double, {"text": Path("source.txt"), "made": study / "a/one", "times": 2, "seed": 7})
    assert verify.verify(study) == [
        f"results/tiny/b/{made}: was made from another version of results/tiny/a/one"
        for made in ("two", "two.sha256")
    ]


def test_records_of_removed_products_are_set_aside(study: Path) -> None:
    made_of = provenance.read(study / "b/two")
    shutil.rmtree(study / "b/two")
    assert verify.verify(study) == ["results/tiny/b/two: missing"]
    provenance.prune(study)
    assert verify.verify(study) == []
    assert provenance.last(study / "b/two") == made_of
    make()  # its own record is that of what is there
    assert provenance.read(study / "b/two") == provenance.last(study / "b/two") == made_of


def test_records_of_what_failed_jobs_should_have_made_are_deleted(study: Path) -> None:
    shutil.rmtree(study / "b/two")
    (study / "b/two.sha256").unlink()
    provenance.prune(study, {f"results/tiny/{path}" for path in ("b/two", "b/two.sha256", "3")})
    assert not (study / "b/.provenance").exists()
    assert provenance.read(study / "3")  # it is there


def test_an_input_named_twice_is_recorded_as_such(study: Path) -> None:
    twice = provenance.Origin((study / "3", study / "3", study / "a/one"), None, {})
    job.call(double, {"text": study / "3", "made": study / "4"}, twice)
    record = provenance.read(study / "4") or {}
    assert (len(record["inputs"]), record["repeated"]) == (2, ["results/tiny/3"])


def test_a_record_left_by_a_removed_product_does_not_refuse_the_next(study: Path) -> None:
    """Snakemake removes outputs before a job, and a job may be killed at any point."""
    stale = (study / "a/.provenance/one.json").read_bytes()
    (study / "a/one").unlink()
    Path("source.txt").write_text("abcd")
    job.call(double, {"text": Path("source.txt"), "made": study / "a/one"})
    assert (study / "a/.provenance/one.json").read_bytes() != stale
    job.call(weights, {"text": study / "a/one", "folder": study / "b/two"})


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.core.test_provenance import double
from workflow_scripts.core.integrity import provenance
from workflow_scripts.core.run import job
real = getattr({module}, "{name}")
def killing(*arguments):
    {before}
    os.kill(os.getpid(), signal.SIGKILL)
{module}.{name} = killing
job.call(double, {{"text": Path("source.txt"), "made": Path("results/tiny/a/one")}})
"""


@pytest.mark.parametrize(
    ("module", "name", "before", "text"),
    [
        ("provenance", "write_partial", "pass", "abab"),  # nothing replaced yet
        ("provenance", "write_partial", "real(*arguments)", "abab"),
        ("provenance", "forget", "real(*arguments)", "abab"),  # the old product without a record
        ("provenance", "put_in_place", "pass", "cdecde"),  # the new product without a record
        ("provenance", "put_in_place", "real(*arguments)", "cdecde"),
    ],
)
def test_no_moment_of_a_sigkill_leaves_a_product_with_anothers_record(
    study: Path, module: str, name: str, before: str, text: str
) -> None:
    Path("source.txt").write_text("cde")
    script = KILLED.format(module=module, name=name, before=before)
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == -signal.SIGKILL
    assert (study / "a/one").read_text() == text
    job.call(weights, {"text": study / "a/one", "folder": study / "b/two"})  # is not refused
    make()  # and a next run leaves everything whole
    assert verify.verify(study) == []


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"sha256": "x"}'])
def test_a_damaged_record_is_named(study: Path, damage: str) -> None:
    (study / "a/.provenance/one.json").write_text(damage)
    with pytest.raises(InputError, match=r"one\.json: not a record of one"):
        job.call(weights, {"text": study / "a/one", "folder": study / "b/two"})
    assert any("not a record of one" in line for line in verify.verify(study))
    make()
    assert verify.verify(study) == []


def test_a_failed_job_leaves_the_old_product_with_its_record(study: Path) -> None:
    before = records(study)

    def failing(text: Path, made: Out) -> None:
        made.write_text("half")
        raise InputError("stop")

    with pytest.raises(InputError, match="stop"):
        job.call(failing, {"text": Path("source.txt"), "made": study / "a/one"})
    assert records(study) == before
    assert verify.verify(study) == []
