"""config.yaml: a value that differs from the schema's default names the default in its comment."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from workflow_scripts.core.run import schema

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "config.yaml"


def changed() -> list[schema.Node]:
    """The values of the default study that differ from a default."""
    root = schema.assemble(ROOT / "rules/schemas")
    config = yaml.safe_load(STUDY.read_text(encoding="utf-8"))
    return [
        node
        for node in schema.nodes(config, root, root)
        if not isinstance(node.value, dict) and node.schema.get("default", node.value) != node.value
    ]


def lines_of_keys(node: yaml.MappingNode, keys: tuple = ()) -> Iterator[tuple[tuple, int]]:
    """Every key from the root and the index of its line."""
    for key, value in node.value:
        path = (*keys, key.value)
        yield path, key.start_mark.line
        if isinstance(value, yaml.MappingNode):
            yield from lines_of_keys(value, path)


def comment_above(lines: list[str], index: int) -> str:
    """The nearest comment above a line."""
    while not lines[index].lstrip().startswith("#"):
        index -= 1
    block = []
    while lines[index].lstrip().startswith("#"):
        block.insert(0, lines[index].strip().removeprefix("#"))
        index -= 1
    return " ".join(" ".join(block).split())


def scalars(value: Any) -> set[str]:
    """The values of a default as they stand in a comment."""
    if isinstance(value, list):
        return {text for item in value for text in scalars(item)}
    if value in (None, ""):
        return {"none"}
    return {f"{value:f}".rstrip("0") if isinstance(value, float) else str(value).lower()}


@pytest.mark.parametrize("node", changed(), ids=lambda node: node.name)
def test_a_changed_default_is_explained(node: schema.Node) -> None:
    text = STUDY.read_text(encoding="utf-8")
    line = dict(lines_of_keys(yaml.compose(text)))[node.keys]
    comment = comment_above(text.splitlines(), line)
    named = re.search(r"Defaults? (.*?): \w", comment)
    assert named, f"{comment!r} does not say why {node.value} and not {node.schema['default']}"
    assert scalars(node.schema["default"]) <= set(re.findall(r"[\w.-]+", named[1]))


def test_some_defaults_are_changed() -> None:
    assert len(changed()) > 20
