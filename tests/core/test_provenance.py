"""The records next to products: what they state and find, and that they refuse nothing right."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.integrity import digests, provenance
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


def test_the_files_of_a_directory_are_listed_next_to_it(study: Path) -> None:
    """As `sha256sum --check` reads it; by this list Snakemake sees that the directory changed."""
    names = ("b.bin", "inner/a.bin")
    lines = [f"{digests.sha256(study / 'b/two' / name)}  two/{name}\n" for name in names]
    assert (study / "b/two.sha256").read_text() == "".join(lines)


def test_a_folder_names_what_is_missing_unrecorded_or_of_another_version(study: Path) -> None:
    (study / "3").unlink()
    (study / "logs").mkdir()
    (study / "logs/x.log").write_text("")
    (study / "own.csv").write_text("")
    Path("source.txt").write_text("abc")
    done = subprocess.run(
        [sys.executable, "-m", provenance.__name__, str(study)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert sorted(done.stdout.splitlines()) == [
        "results/tiny/3: missing",
        "results/tiny/a/one: was made from another version of source.txt",
        "results/tiny/own.csv: unrecorded",
        "results/tiny: 4 records, 3 things wrong",
    ]


def test_records_of_what_is_gone_are_deleted(study: Path) -> None:
    shutil.rmtree(study / "b/two")
    provenance.prune(study)
    assert provenance.verify(study) == []
    assert provenance.read(study / "b/two") is None
    assert provenance.read(study / "3")


def test_a_failed_job_leaves_the_old_product_with_its_record(study: Path) -> None:
    before = records(study)

    def failing(text: Path, made: Out) -> None:
        made.write_text("half")
        raise InputError("stop")

    with pytest.raises(InputError, match="stop"):
        job.call(failing, {"text": Path("source.txt"), "made": study / "a/one"})
    assert records(study) == before
    assert provenance.verify(study) == []
    assert sorted(path.name for path in (study / "a").iterdir()) == [".provenance", "one"]
