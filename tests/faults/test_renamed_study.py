"""A study that was copied or renamed reads its own files, and never those of the old folder."""

import shutil
from pathlib import Path

import pytest

from tests.faults.products import CHECKPOINT, EXAMPLES
from tests.workflow.tiny_study import TinyStudy, rules_of
from workflow_scripts.attention import extract

CARD = f"{CHECKPOINT}.json"
SETTINGS = {"max_tokens": 128, "batch_tokens": 64, "device": "cpu"}
ATTENTION = "results/renamed/tiny/attention/mrpc.finetuned.1.h5"


def attention(study: str, name: str) -> bytes:
    """A new cache of the fine-tuned model of a study, in the working directory."""
    card, corpus = (Path(path.replace("tiny", study, 1)) for path in (CARD, EXAMPLES))
    extract.main(model=card, corpus=corpus, attention=Path(name), **SETTINGS)
    return Path(name).read_bytes()


def test_a_copied_or_renamed_study_reads_its_own_checkpoint(
    study: TinyStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(study.folder)
    expected = attention("tiny", "own.h5")
    shutil.copytree("results/tiny", "results/copied")
    config = Path(CHECKPOINT, "config.json")
    config.write_text(config.read_text().replace('"gelu"', '"relu"'))
    assert attention("copied", "copied.h5") == expected
    shutil.rmtree("results/tiny")
    Path("results/copied").rename("results/renamed")
    study.config["study"] = "renamed"
    study.write_config()
    done = study.snakemake(ATTENTION)
    assert done.returncode == 0, done.stderr
    assert rules_of(done.stdout + done.stderr) == ["extract_checkpoint"]
    assert Path(ATTENTION).read_bytes() == expected
