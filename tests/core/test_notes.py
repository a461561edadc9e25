"""What a plan takes from the record of a product that Snakemake has no notes of."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.rules import Rule

from workflow_scripts.core.integrity import notes, provenance
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


class Product(str):
    """An output as Snakemake holds it: a path that knows its rule."""

    rule = SimpleNamespace(
        name="repeat",
        params={"times": lambda wildcards: 2, "needed": lambda wildcards, input: input},
        _is_deriving_function=Rule._is_deriving_function,
    )


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
    found = notes._recorded(None, Product(product))
    record = provenance.read(product) or {}
    assert (found.rule, found.input) == ("repeat", ["source.txt"])
    assert found.params == sorted([repr(record["code"]), "2"])  # not what follows from inputs
    digest = provenance.content(Path("source.txt"))["sha256"]
    assert found.input_checksums == {"source.txt": f"sha256:{digest}"}


def test_inputs_of_a_renamed_study_are_its_own(product: Path) -> None:
    second = product.with_name("second")
    job.call(repeat, {"text": product, "made": second, "times": 2, "needed": []})
    shutil.copytree("results/tiny", "results/renamed")
    found = notes._recorded(None, Product("results/renamed/second"))
    assert found.input == ["results/renamed/made"]


def test_a_missing_or_unrecorded_product_has_no_notes(product: Path) -> None:
    (product.parent / "own").write_text("a")
    assert notes._recorded(None, Product(product.parent / "own")) is None
    product.unlink()
    assert notes._recorded(None, Product(product)) is None


def test_a_damaged_record_ends_the_plan_in_one_line(product: Path) -> None:
    provenance.record_path(product).write_text("{")
    with pytest.raises(WorkflowError, match="not a record of made"):
        notes._recorded(None, Product(product))
