"""The schema of a study's config, assembled from one file for each chapter.

`study.schema.yaml` has the keys that all chapters share; `<chapter>.schema.yaml` has the part of a
chapter, what the chapter needs and, in `$defs` and `conditions`, what it defines for all. In
addition to the keywords of JSON Schema these are known:

    names: PART.KEY       the value is the name of an entry of that part of the config
    path_as: KEY          with `names`: the path of that entry takes this key's place
    data: {kind: KIND}    what claims and the atlas call the data that the chapter reads here; with
                          `name` where the value is none
    format: path          a local path; data-path: one that starts from the key `data`;
                          sdist, fetch: one that the workflow fetches (see downloads.py)
    unique_names: true    the keys are names that the study chooses: those of all objects marked so
                          differ, in more than their case
    needs                 what a chapter needs (see config.py)
    conditions            conditions on the whole study, by name (see config.py)
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ENDING = ".schema.yaml"
STUDY = "study"
HOISTED = ("$defs", "conditions")
# Where data come from: the keys of entries, and how people write them under `from` (places.py).
FORMS = {
    "path": "a path",
    "hub": "hub:<name>@<commit>",
    "package": "package:<package>/<path>",
    "sdist": "sdist:<name>/<path>",
    "fetch": "fetch:<source>/<path>",
    "download": "download:<name>",
    "nltk": "nltk:<corpus>",
    "parse": "parse:<text>",
    "train": "train:<text>",
    "generate": "generate:<number>",
}


@dataclass(frozen=True)
class Node:
    """A value of a config: its keys from the root, and its schema with references resolved."""

    keys: tuple[str | int, ...]
    value: Any
    schema: dict[str, Any]

    @property
    def name(self) -> str:
        """The dotted key; positions in lists are left out."""
        return dotted([key for key in self.keys if isinstance(key, str)], self.value)


def dotted(keys: list[str], value: Any) -> str:
    """The key of a value, as the study writes it: `from` for the key of a form."""
    *above, last = keys or [""]
    if last in FORMS and isinstance(value, str | int) and "generate" not in above:
        return ".".join([*above, "from"])
    return ".".join("from.generate" if key == "generate" else key for key in keys)


@cache
def assemble(directory: Path) -> dict[str, Any]:
    """The schema of a whole study; treat it as read-only."""
    root = _read(directory / f"{STUDY}{ENDING}")
    for chapter in chapters(directory):
        part = _read(directory / f"{chapter}{ENDING}")
        for keyword in HOISTED:
            root.setdefault(keyword, {}).update(part.pop(keyword, {}))
        root["properties"][chapter] = part
    return root


def chapters(directory: Path) -> list[str]:
    """The names of all chapters, in alphabetical order."""
    names = {path.name.removesuffix(ENDING) for path in directory.glob(f"*{ENDING}")}
    return sorted(names - {STUDY})


def data_read(
    config: dict[str, Any], directory: Path, order: Sequence[str]
) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """What the chapters, in `order`, read that declare it: kind of data, its name and its entry."""
    properties = assemble(directory)["properties"]
    read = {}
    for chapter in (name for name in order if name in config):
        for key, part in properties[chapter]["properties"].items():
            if "data" in part:
                entry = value = config[chapter][key]
                if isinstance(value, str):
                    kind, table = part["names"].split(".")
                    entry = config[kind][table][value]
                read[chapter] = part["data"]["kind"], part["data"].get("name", value), entry
    return read


def resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """`schema` with its `$ref` replaced by what it refers to; keys next to it take precedence."""
    if "$ref" not in schema:
        return schema
    target: Any = root
    for part in schema["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**target, **{key: item for key, item in schema.items() if key != "$ref"}}


def fill(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """A copy of `value` in which every missing key has the schema's default.

    Keys are in the schema's order, so that the study's changes nothing. Names of models, corpora
    and tasks stay in the study's, which is that of figures.
    """
    schema = resolve(schema, root)
    if isinstance(value, list) and "items" in schema:
        return [fill(item, schema["items"], root) for item in value]
    if not isinstance(value, dict):
        return deepcopy(value)
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    ordered = list(value) if schema.get("unique_names") else [*known, *value]
    filled = {}
    for key in dict.fromkeys(ordered):
        part = resolve(known.get(key, others if isinstance(others, dict) else {}), root)
        if key in value or "default" in part:
            filled[key] = fill(value.get(key, part.get("default")), part, root)
    return filled


def nodes(
    value: Any, schema: dict[str, Any], root: dict[str, Any], keys: tuple[str | int, ...] = ()
) -> Iterator[Node]:
    """The value itself and all values within it that the schema describes, depth first."""
    schema = resolve(schema, root)
    yield Node(keys, value, schema)
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, item in value.items():
            part = known.get(key, others)
            if isinstance(part, dict):
                yield from nodes(item, part, root, (*keys, key))
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from nodes(item, schema["items"], root, (*keys, index))


def parent(config: dict[str, Any], node: Node) -> Any:
    """The part of the config that a node is a value of."""
    part: Any = config
    for key in node.keys[:-1]:
        part = part[key]
    return part


def _read(path: Path) -> dict[str, Any]:
    # Every start of Snakemake reads all schemas: in C it takes an eighth of the time.
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
