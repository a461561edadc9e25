"""Write docs/configuration.md, the reference of a study's keys, from rules/schemas: `make docs`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.core.data.cards import NEEDED_TOKENS
from workflow_scripts.core.run import config, places, schema

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "rules/schemas"
REFERENCE = ROOT / "docs/configuration.md"
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
HEAD = """\
# Configuration

<!-- Written by `make docs` from rules/schemas/; change the descriptions there. -->

A study is one YAML file: [config.yaml](../config.yaml) is the default study, [studies/](../studies)
has others, and `snakemake --cores 8 figures --configfile mine.yaml` runs yours. A key that is
not known is an error that names the accepted keys; so is a chapter without what it needs.
A key that a study does not give has the default. A chapter that a study does not name is not part
of it, except `corpora`, `tasks`, `attention` and `checkpoints`, from which the others are made.

The file is YAML 1.1 or JSON: `5e-5` is a text there (write `0.00005`), `010` is 8, `no` is false.

Relative paths of models start from the working directory, those of corpora, tasks and published
runs from `data`.

## Within another workflow

A workflow imports this one as a module, with a study under a key of its own config, and its rules
take any product, such as `results/mine/mine/figures/clark2019-fig4.svg`, as input. Products lie in
`results/` of that workflow. Plain `snakemake` runs `atlas_all`, unless a rule of yours has
`default_target: True`:

```snakemake
module atlas:
    snakefile: "attention-atlas/Snakefile"
    config: config["atlas"]

use rule * from atlas as atlas_*
```

Snakemake does not read this checkout's `profiles/default` then: copy it into that workflow, or its
settings, on which [staleness](running.md#what-makes-a-result-stale) rests.
"""
LIST = ", or [a list](inputs.md#public-data-that-the-workflow-fetches) of a path and another"
TABLE_HEAD = "| key | value | default | description |\n| --- | --- | --- | --- |\n"


def reference() -> str:
    """The text of configuration.md."""
    root = schema.assemble(SCHEMAS)
    chapters = _in_order_of_use()
    own = {key: part for key, part in root["properties"].items() if key not in chapters}
    study = {**root, "properties": own}
    parts = [HEAD, _section("The study", study, "", root)]
    for chapter in chapters:
        part = root["properties"][chapter]
        parts.append(_section(chapter, part, _needs(chapter, root), root))
    return "\n".join(parts)


def _in_order_of_use() -> list[str]:
    """The chapters in the order of the default study."""
    default = list(yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")))
    chapters = schema.chapters(SCHEMAS)
    return sorted(chapters, key=lambda name: (name not in default, [*default, name].index(name)))


def _needs(chapter: str, root: dict[str, Any]) -> str:
    declared = config.declared_needs(chapter, SCHEMAS)
    needed = [f"the chapter [{name}](#{name})" for name in declared.get("chapters", [])]
    needed += [root["conditions"][name]["description"] for name in declared.get("study", [])]
    if "model" in declared:
        needed.append(
            f"of every encoder: {', '.join(NEEDED_TOKENS[name] for name in declared['model'])}"
        )
    reads = config.reads(chapter, SCHEMAS)
    return (f"Reads {reads}. " if reads else "") + (f"Needs {'; '.join(needed)}." if needed else "")


def _section(title: str, part: dict[str, Any], needed: str, root: dict[str, Any]) -> str:
    """A heading, the description, the needs, and a table of the keys; then shared parts."""
    shared: dict[str, list[str]] = {}
    rows = "".join(_rows(part, "", root, shared))
    text = f"## {title}\n\n{_escaped(part['description'])}\n"
    text += f"\n{needed.strip()}\n" if needed else ""
    text += f"\n{TABLE_HEAD}{rows}"
    while shared:  # an object within one that is described has its own description below
        reference, keys = next(iter(shared.items()))
        del shared[reference]
        target = schema.resolve({"$ref": reference}, root)
        text += f"\n### {', '.join(f'`{key}`' for key in keys)}\n\n"
        text += TABLE_HEAD + "".join(_rows(target, "", root, shared))
    return text


def _rows(
    part: dict[str, Any], prefix: str, root: dict[str, Any], shared: dict[str, list[str]]
) -> Iterator[str]:
    """A row for each key; objects with a definition of their own are entered into `shared`."""
    forms, properties = places.forms(part, root), part.get("properties", {})
    if forms:
        parts = {form: schema.resolve(properties[form], root) for form in forms}
        described = [
            f"{text if form == 'path' else f'`{text}`'}: {_escaped(parts[form]['description'])}"
            for form, text in forms.items()
        ]
        accepted = f"one of these forms{LIST if {'path', 'fetch'} <= {*forms} else ''}"
        needed = all(
            {*option["required"]} & {*forms} for option in part.get("oneOf", [{"required": []}])
        )
        default = "required" if needed else ""
        yield f"| `{prefix}from` | {accepted} | {default} | {'<br>'.join(described)} |\n"
    for key, declared in properties.items():
        value = schema.resolve(declared, root)
        name, entries = f"{prefix}{key}", value.get("additionalProperties")
        if key in forms or key not in places.shown(part, root):
            yield from _rows(value, f"{prefix}from.{key}.", root, shared)
            continue
        if isinstance(entries, dict) and schema.resolve(entries, root).get("type") == "object":
            shared.setdefault(entries["$ref"], []).append(f"{name}.<name>")
            accepted = "entries by name, see below"
        elif value.get("type") == "object" and "$ref" in declared:
            shared.setdefault(declared["$ref"], []).append(name)
            accepted = "see below"
        elif "properties" in value:
            accepted = "the keys below"
        else:
            accepted = _accepted(declared, root)
        default = "required" if key in part.get("required", []) else _default(value)
        yield f"| `{name}` | {accepted} | {default} | {_escaped(value['description'])} |\n"
        if "properties" in value and "$ref" not in declared:
            yield from _rows(value, f"{name}.", root, shared)
    if "properties" in part and (others := part.get("additionalProperties")):
        shared.setdefault(others["$ref"], []).append(f"{prefix}<name>")
        words = schema.resolve(others, root)["description"]
        yield f"| `{prefix}<name>` | see below |  | {_escaped(words)} |\n"


def _accepted(declared: dict[str, Any], root: dict[str, Any]) -> str:
    """What a key accepts, in words."""
    value = schema.resolve(declared, root)
    if "enum" in value:
        return ", ".join(f"`{_written(option)}`" for option in value["enum"])
    if "const" in value:
        return f"`{_written(value['const'])}`"
    if "names" in value:
        return f"an entry of `{value['names']}`"
    if "pattern" in value:
        pattern = schema.resolve({"$ref": declared["$ref"]}, root) if "$ref" in declared else value
        return _escaped(pattern["description"])
    if value["type"] == "array":
        return ("one or more: " if value.get("minItems") else "list: ") + _of_items(value, root)
    if value["type"] == "object":
        return f"mapping to {_accepted(value['additionalProperties'], root)}"
    if value["type"] == "boolean":
        return "`true`, `false`"
    if value.get("format") in ("path", "data-path"):
        return "path"
    limits = [f"{sign} {value[name]}" for name, sign in BOUNDS.items() if name in value]
    return f"{value['type']} {', '.join(limits)}".strip().replace("<", "\\<")


def _of_items(value: dict[str, Any], root: dict[str, Any]) -> str:
    """What the items of a list accept."""
    items = value["items"]
    keys = [
        f"`{key}` ({_accepted(part, root)})" for key, part in items.get("properties", {}).items()
    ]
    return f"mappings with {' and '.join(keys)}" if keys else _accepted(items, root)


def _default(value: dict[str, Any]) -> str:
    return f"`{_written(value['default'])}`" if value.get("default", {}) != {} else ""


def _written(value: Any) -> str:
    """A value as YAML writes it, and small numbers without an exponent."""
    if isinstance(value, list):
        return f"[{', '.join(_written(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(k)}: {_written(v)}' for k, v in value.items())}}}"
    if isinstance(value, float):
        return f"{value:f}".rstrip("0")
    if isinstance(value, bool):
        return str(value).lower()
    return '""' if value == "" else str(value)


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
