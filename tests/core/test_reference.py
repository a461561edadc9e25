"""docs/configuration.md is what the schema gives."""

import runpy
from pathlib import Path

from workflow_scripts.core.run import schema

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")


def test_the_reference_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "docs/configuration.py"))["reference"]()
    assert written == REFERENCE, "docs/configuration.md is out of date; run `make docs`"


def test_every_chapter_has_a_section() -> None:
    for chapter in schema.chapters(ROOT / "rules/schemas"):
        assert f"\n## {chapter}\n" in REFERENCE
