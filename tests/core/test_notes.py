"""What a plan takes from the record of a product that Snakemake has no notes of."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.io import _IOFile
from snakemake.persistence import MetadataRecord, PersistenceBase
from snakemake.persistence.file import FilePersistence
from snakemake.rules import Rule

from workflow_scripts.core.integrity import notes, provenance
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out

RULE = SimpleNamespace(
    name="repeat",
    params={"times": lambda wildcards: 2, "needed": lambda wildcards, input: input},
    _is_deriving_function=Rule._is_deriving_function,
)


def output(path: Path | str) -> _IOFile:
    """An output as Snakemake holds it: a path that knows its rule."""
    held = _IOFile(str(path), None)
    held.rule = RULE
    return held


def repeat(text: Path, made: Out, times: int, needed: list) -> None:
    made.write_text(text.read_text() * times)


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A product of a job with relative paths; no plan of another test is remembered."""
    monkeypatch.chdir(tmp_path)
    notes._recorded.cache_clear()
    Path("source.txt").write_text("ab")
    made = Path("results/tiny/made")
    job.call(repeat, {"text": Path("source.txt"), "made": made, "times": 2, "needed": ["a"]})
    return made


def test_notes_are_those_of_snakemake(product: Path) -> None:
    found = notes._recorded(None, output(product))
    record = provenance.read(product) or {}
    assert (found.rule, found.input) == ("repeat", ["source.txt"])
    assert found.params == sorted([repr(record["code"]), "2"])  # not what follows from inputs
    digest = provenance.content(Path("source.txt"))["sha256"]
    assert found.input_checksums == {"source.txt": f"sha256:{digest}"}


def test_snakemake_itself_asks_for_them(product: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PersistenceBase, "metadata", PersistenceBase.metadata)  # to put it back
    asked = FilePersistence(path=Path(".snakemake"))
    assert asked.input(output(product)) is None
    notes.restore()
    assert asked.input(output(product)) == ["source.txt"]
    assert asked.params(output(product)) == notes._recorded(asked, output(product)).params


def test_inputs_of_a_renamed_study_are_its_own(product: Path) -> None:
    second = product.with_name("second")
    job.call(repeat, {"text": product, "made": second, "times": 2, "needed": []})
    shutil.copytree("results/tiny", "results/renamed")
    found = notes._recorded(None, output("results/renamed/second"))
    assert found.input == ["results/renamed/made"]


def test_an_unrecorded_product_has_no_notes_and_one_that_is_gone_has(product: Path) -> None:
    """Snakemake compares nothing of a job without the notes of all its outputs."""
    (product.parent / "own").write_text("a")
    assert notes._recorded(None, output(product.parent / "own")) is None
    product.unlink()
    assert notes._recorded(None, output(product)).input == ["source.txt"]


def test_notes_of_another_file_count_for_nothing(
    product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where results were copied over others; `snakemake --touch` writes the file's date."""
    of_another = MetadataRecord(input=["other.txt"], endtime=1.0)
    monkeypatch.setattr(notes, "NOTED", lambda persistence, product: of_another)
    assert notes._noted_or_recorded(None, output(product)).input == ["source.txt"]
    of_another.endtime = product.stat().st_mtime
    assert notes._noted_or_recorded(None, output(product)).input == ["other.txt"]


def test_a_damaged_record_ends_the_plan_in_one_line(product: Path) -> None:
    provenance.record_path(product).write_text("{")
    with pytest.raises(WorkflowError, match="not a record of made"):
        notes._recorded(None, output(product))
