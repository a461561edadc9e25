"""atlas.json is what docs/atlas.schema.json says."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from workflow_scripts.atlas import atlas_data
from workflow_scripts.core.data.cards import write_card

ROOT = Path(__file__).parents[2]
SCHEMA = Draft202012Validator(
    json.loads((ROOT / "docs/atlas.schema.json").read_text(encoding="utf-8"))
)
CARD = {
    "name": "tiny",
    "source": {"path": "tiny-model"},
    "architecture": "bert",
    "n_layers": 2,
    "n_heads": 3,
}


def read(path: Path) -> Any:
    """The content of an atlas.json; NaN and Infinity, which JSON has not, are errors."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{path}: {constant}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA.schema)


def test_a_study_without_tables_has_a_valid_atlas(tmp_path: Path) -> None:
    card = tmp_path / "tiny/attention/model.json"
    card.parent.mkdir(parents=True)
    write_card(CARD, card)
    atlas_data.main([card], [], tmp_path / "atlas.json", study="mine")
    atlas = read(tmp_path / "atlas.json")
    SCHEMA.validate(atlas)
    assert [model["name"] for model in atlas["models"]] == ["tiny"]
    with pytest.raises(ValidationError):
        SCHEMA.validate(atlas | {"colour": "red"})
