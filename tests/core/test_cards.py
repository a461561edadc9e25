"""Cards of models."""

from pathlib import Path

import pytest

from workflow_scripts.core.data.cards import read_card, write_card
from workflow_scripts.core.run.errors import InputError


def test_a_card_is_read_as_it_was_written(tmp_path: Path) -> None:
    card = {"name": "größer", "n_layers": 2, "special": {"cls": None}}
    write_card(card, tmp_path / "model.json")
    assert read_card(tmp_path / "model.json") == card


def test_a_damaged_card_ends_in_one_line_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"name": "cut o', encoding="utf-8")
    with pytest.raises(InputError, match=r"model\.json: not a model's card .*delete it"):
        read_card(path)
