"""Cards of models."""

import os
from pathlib import Path

from workflow_scripts.core.data.cards import is_current, read_card, write_card
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def test_a_trained_model_is_next_to_its_card(tmp_path: Path) -> None:
    card = {"name": "tiny.sst2.finetuned.1", "source": {"trained": "sst2.finetuned.1"}}
    for folder in ("one", "moved"):
        (tmp_path / folder).mkdir()
        write_card(card, tmp_path / folder / "sst2.finetuned.1.json")
        found = read_card(tmp_path / folder / "sst2.finetuned.1.json")["source"]
        assert found == {"path": str(tmp_path / folder / "sst2.finetuned.1")}


def test_a_card_is_current_until_its_model_changes(tmp_path: Path) -> None:
    """Its contents decide, not the dates of its files."""
    path, source = tmp_path / "model.json", {"path": str(tmp_path / "model")}
    assert not is_current(path, source)
    (tmp_path / "model").mkdir()
    weights = tmp_path / "model/weights"
    weights.write_text("1")

    def main(files: list[Path], card: Out) -> None:
        write_card({"source": source}, card)

    job.call(main, {"files": [weights], "card": path})
    assert is_current(path, source)
    assert not is_current(path, {"path": str(tmp_path)})
    os.utime(weights, (path.stat().st_mtime + 9,) * 2)
    assert is_current(path, source)
    weights.write_text("2")
    os.utime(weights, (1, 1))
    assert not is_current(path, source)
