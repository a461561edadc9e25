"""The studies of the pages, whole or in part, and the schema of a new chapter are accepted."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documentation.blocks import ROOT, Block, of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.config import check

SCHEMAS = ROOT / "rules/schemas"
# What the pages' studies leave out, by page; CONTRIBUTING.md's block is a chapter's schema.
LEFT_OUT: dict[str, Any] = {"study": "s", "models": {"m": {"path": "m"}}}
STUDIES: dict[str, dict[str, Any]] = {
    "README.md": {},
    "docs/tutorial.md": {},
    "docs/data.md": LEFT_OUT,
    "CONTRIBUTING.md": {},
}


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_a_study_is_accepted(block: Block, tmp_path: Path) -> None:
    content = yaml.safe_load(block.text)
    if block.page == "CONTRIBUTING.md":
        return with_chapter(block.text, tmp_path)
    study = STUDIES[block.page] | content
    assert "study" not in content or not STUDIES[block.page], "nothing is left out"
    check(copy.deepcopy(study), SCHEMAS)
    for key in content:
        with pytest.raises(InputError, match="unknown key"):
            check(study | {f"{key}x": content[key]}, SCHEMAS)


def with_chapter(text: str, folder: Path) -> None:
    """Check the default study with the chapter of the recipe, and without what it needs."""
    schemas = folder / "schemas"
    shutil.copytree(SCHEMAS, schemas)
    (schemas / "fifth.schema.yaml").write_text(text, encoding="utf-8")
    assert "fifth" in schema.chapters(schemas)
    study = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    assert check(study | {"fifth": {"corpus": "wikipedia"}}, schemas)["fifth"]
    for wrong, words in (({}, "corpus"), ({"corpus": "none"}, "corpora.text")):
        with pytest.raises(InputError, match=f"fifth.*{words}"):
            check(study | {"fifth": wrong}, schemas)
    for needed in ("surface", "tasks"):
        less = {key: part for key, part in study.items() if key in {"study", "models", "corpora"}}
        less |= {key: study[key] for key in {"surface", "tasks", "sdists"} - {needed}}
        less["models"] = {name: m for name, m in less["models"].items() if "chapters" not in m}
        with pytest.raises(InputError, match="fifth: needs"):
            check(less | {"fifth": {"corpus": "wikipedia"}}, schemas)
