"""What the chapters of a study need, as each declares it in its part of the schema.

    needs:
      chapters: [...]    other chapters
      study: [...]       conditions on the whole study, defined under `conditions` of a schema
      model: [...]       abilities of every model of the study, such as a [CLS] token

A condition has the words of the need, how to meet it, and the JSON Schema that holds then, of the
study with its defaults. A chapter is part of a study where its part of the config is not empty.
"""

from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from workflow_scripts.core.run import schema
from workflow_scripts.core.run.errors import InputError


def present(config: dict[str, Any], schemas: Path) -> list[str]:
    """The chapters that are part of a study whose defaults are filled in."""
    return [chapter for chapter in schema.chapters(schemas) if config.get(chapter)]


def of_chapter(chapter: str, schemas: Path) -> dict[str, list[str]]:
    """What a chapter declares under `needs`."""
    return schema.assemble(schemas)["properties"][chapter].get("needs", {})


def check_needs(config: dict[str, Any], schemas: Path) -> None:
    """Raise InputError where a chapter of the study lacks another or a condition."""
    conditions = schema.assemble(schemas)["conditions"]
    chapters = present(config, schemas)
    for chapter in chapters:
        needs = of_chapter(chapter, schemas)
        for other in needs.get("chapters", []):
            if other not in chapters:
                raise _missing(chapter, other, "add it")
        for name in needs.get("study", []):
            condition = conditions[name]
            if not Draft202012Validator(condition["holds"]).is_valid(config):
                raise _missing(chapter, condition["description"], condition["fix"])


def abilities(config: dict[str, Any], schemas: Path) -> dict[str, list[str]]:
    """The abilities that the study asks of every model, each with the chapters that need it."""
    needed: dict[str, list[str]] = {}
    for chapter in present(config, schemas):
        for ability in of_chapter(chapter, schemas).get("model", []):
            needed.setdefault(ability, []).append(chapter)
    return dict(sorted(needed.items()))


def _missing(chapter: str, need: str, fix: str) -> InputError:
    return InputError(f"config: {chapter}: needs {need}; {fix} or remove {chapter}")
