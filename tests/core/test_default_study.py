"""config.yaml: what differs from the schema's defaults alone stands there."""

from pathlib import Path

import yaml

from workflow_scripts.core.run import schema

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "config.yaml"
# Stated although they are the defaults: the seed of every number in the documentation, and whole
# grids, whose order is that of the columns of the curves.
STATED = {"seed", "arguments.bilstm.grid.dropout"}


def test_no_default_is_repeated() -> None:
    root = schema.assemble(ROOT / "rules/schemas")
    config = yaml.safe_load(STUDY.read_text(encoding="utf-8"))
    repeated = {
        node.name
        for node in schema.nodes(config, root, root)
        # `{}` names a chapter that the study has as it is.
        if node.value != {} and node.schema.get("default") == node.value
    }
    assert repeated == STATED


def test_the_study_is_read_at_one_sitting() -> None:
    assert len(STUDY.read_text(encoding="utf-8").splitlines()) <= 150
