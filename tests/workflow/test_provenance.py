"""The records of a finished study, and a second run with the same seed elsewhere."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.written_out import written_out
from tests.workflow.tiny_study import TinyStudy

# Texts, word vectors, a model's card, caches of attention, a measure and its table.
TARGETS = ("tiny/tables/clark2019-broad.csv", "tiny/surface/position.parquet")
TARGETS += ("corpora/own.vectors.safetensors", "corpora/trees.jsonl", "tasks/mrpc.parquet")


def reasons(study: TinyStudy) -> dict[str, set[str]]:
    """Why a dry run would run the jobs of each rule, as Snakemake prints it."""
    done = study.snakemake("--dry-run", *(f"results/tiny/{target}" for target in TARGETS))
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, set[str]] = {}
    printed = done.stdout + done.stderr
    jobs = re.findall(r"^ *(?:local)?rule (\w+):\n.*?reason: (.*?)$", printed, re.M | re.S)
    jobs += re.findall(r"^ *Job \d+: (\w+) makes .*\n *Reason: (.*)$", printed, re.M)
    for rule, reason in jobs:
        found.setdefault(rule, set()).add(reason)
    return found


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory, tiny_model_dir: Path) -> TinyStudy:
    """A part of the same study, made from scratch in another folder."""
    study = TinyStudy(tmp_path_factory.mktemp("again"), tiny_model_dir)
    study.run(*(f"results/tiny/{target}" for target in TARGETS))
    return study


def test_every_product_of_a_study_is_recorded_and_as_recorded(tiny_study: TinyStudy) -> None:
    command = [sys.executable, "-m", "workflow_scripts.core.integrity.verify", "results/tiny"]
    done = subprocess.run(command, cwd=tiny_study.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    count = int(done.stdout.split()[1])
    assert count > 300, done.stdout


def test_two_runs_with_one_seed_are_equal_to_the_byte_records_included(
    tiny_study: TinyStudy, again: TinyStudy
) -> None:
    first, second = (study.folder / "results/tiny" for study in (tiny_study, again))
    made = {path.relative_to(second) for path in second.rglob("*") if path.is_file()}
    compared = {path for path in made if path.parts[0] not in ("logs", "benchmarks")}
    assert {Path(target) for target in TARGETS} < compared
    assert Path("tiny/surface/.provenance/position.parquet.json") in compared
    differing = [str(p) for p in compared if (first / p).read_bytes() != (second / p).read_bytes()]
    assert differing == []


def test_an_input_that_its_job_did_not_write_stops_the_next_job(
    again: TinyStudy, tmp_path: Path
) -> None:
    copied = again.copy(tmp_path / "copied")
    damaged = copied.folder / "results/tiny/corpora/made-up.training.jsonl"
    lines = damaged.read_text(encoding="utf-8").splitlines(keepends=True)
    damaged.write_text("".join(lines[:-1]), encoding="utf-8")  # whole lines: no reader would see
    done = copied.snakemake(f"results/tiny/{TARGETS[2]}", "--retries", "0")
    assert done.returncode == 1
    error = "Error: results/tiny/corpora/made-up.training.jsonl: is not what its job wrote"
    assert error in done.stderr


def test_results_copied_without_the_notes_of_snakemake_are_stale_as_with_them(
    again: TinyStudy, tmp_path: Path
) -> None:
    copied = again.copy(tmp_path / "copied")
    notes = copied.folder / ".snakemake"
    kept = notes.rename(tmp_path / "notes")
    copied.config = written_out(again.config)
    copied.write_config()
    assert reasons(copied) == {}
    corpora, tasks = copied.config["corpora"], copied.config["tasks"]
    corpora["frames"]["roles"]["generate"] = 21  # nothing here reads them
    tasks["mrpc"]["generate"]["dev"] = 7
    copied.config["attention"]["batch_tokens"] = 300  # of parts of caches, which are removed
    copied.write_config()
    script = copied.folder / "workflow_scripts/corpora/word_vectors.py"
    script.write_text(script.read_text(encoding="utf-8") + "\nADDED = 1\n", encoding="utf-8")
    trees = copied.folder / "trees/0.conllx"
    trees.write_text(trees.read_text(encoding="utf-8").partition("\n\n")[2], encoding="utf-8")
    without = reasons(copied)
    direct = {rule for rule, found in without.items() if "job" not in " ".join(found)}
    assert direct == {"generate_task", "extract_shard", "word_vectors", "treebank"}
    assert without["treebank"] == {"Updated input files: trees/0.conllx"}
    shutil.rmtree(notes)
    kept.rename(notes)
    known = reasons(copied)
    assert set(known) == set(without)
    assert {rule: known[rule] for rule in direct} == {rule: without[rule] for rule in direct}


def test_a_shorter_text_and_a_removed_file_are_noticed_without_the_notes(
    again: TinyStudy, tmp_path: Path
) -> None:
    copied = again.copy(tmp_path / "copied")
    shutil.rmtree(copied.folder / ".snakemake")
    copied.config["corpora"]["text"]["made-up"]["n_segments"] = 10
    copied.write_config()
    (copied.folder / "trees/1.conllx").unlink()
    found = reasons(copied)
    assert "12" in str(found["segments"])
    assert "Set of input files has changed" in str(found["treebank"])
    assert not {"model_card", "generate_task", "prepare_task"} & set(found)
