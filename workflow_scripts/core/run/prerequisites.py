"""What the chapters of a study need, as each declares it in its part of the schema.

    needs:
      chapters: [...]    other chapters
      study: [...]       conditions on the whole study, defined under `conditions` of a schema
      kinds: [...]       the kinds of models that it reads, by default encoders; `any` for a chapter
                         of the whole study, which gathers what the others found
      model: [...]       abilities of every encoder that it reads, such as a [CLS] token

A condition has the words of the need, how to meet it, and the JSON Schema that holds then, of the
study with its defaults. A chapter is part of a study where its part of the config is not empty.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema

# The kinds of models.
KINDS = ("encoder", "decoder")


def present(config: dict[str, Any], schemas: Path) -> list[str]:
    """The chapters that are part of a study whose defaults are filled in."""
    return [chapter for chapter in schema.chapters(schemas) if config.get(chapter)]


def declared_needs(chapter: str, schemas: Path) -> dict[str, list[str]]:
    """What a chapter declares under `needs`."""
    return schema.assemble(schemas)["properties"][chapter].get("needs", {})


def served(config: dict[str, Any], schemas: Path) -> dict[str, list[str]]:
    """The models that each chapter reads, in the study's order."""
    return {
        chapter: [name for name, model in config["models"].items() if _reads(chapter, model, kinds)]
        for chapter in schema.chapters(schemas)
        for kinds in [_kinds(chapter, schemas)]
    }


def reads(chapter: str, schemas: Path) -> str:
    """The kinds of models that a chapter reads, for people; empty for one of the whole study."""
    kinds = _kinds(chapter, schemas)
    return "" if kinds == "any" else " and ".join(f"{kind}s" for kind in kinds)


def _kinds(chapter: str, schemas: Path) -> str | Sequence[str]:
    """The kinds of models that a chapter reads, or `any`."""
    return declared_needs(chapter, schemas).get("kinds", KINDS[:1])


def _reads(chapter: str, model: dict[str, Any], kinds: str | Sequence[str]) -> bool:
    """Whether a chapter that reads `kinds` reads a model, which may take some chapters alone."""
    return kinds == "any" or (
        model["kind"] in kinds and chapter in model.get("chapters", [chapter])
    )


def check_models(config: dict[str, Any], schemas: Path, named: Iterable[str]) -> None:
    """Raise InputError where a model takes a chapter that it cannot, or a chapter has no model.

    Of the chapters `named`: the others are there by default.
    """
    chapters, models = present(config, schemas), served(config, schemas)
    for name, model in config["models"].items():
        for chapter in model.get("chapters", []):
            where = f"config: models.{name}.chapters"
            if chapter not in chapters:
                every = {"kind": model["kind"]}
                taken = [each for each in chapters if _reads(each, every, _kinds(each, schemas))]
                accepted = ", ".join(taken)
                raise InputError(f"{where}: {chapter!r} is not in the study; accepted: {accepted}")
            if name not in models[chapter]:
                raise InputError(f"{where}: {_reads_only(chapter, schemas)}; remove {chapter}")
            for other in declared_needs(chapter, schemas).get("chapters", []):
                if name not in models[other]:
                    raise InputError(
                        f"{where}: {chapter} needs {other}; add it or remove {chapter}"
                    )
    for chapter in (name for name in chapters if name in named and not models[name]):
        kinds = _kinds(chapter, schemas)
        if any(model["kind"] in kinds for model in config["models"].values()):
            raise InputError(
                f"config: {chapter}: no model takes it; add it to models.<name>.chapters or "
                f"remove {chapter}"
            )
        raise InputError(
            f"config: {_reads_only(chapter, schemas)}; add one, write kind: {kinds[0]} at a model "
            f"that is one, or remove {chapter}"
        )


def _reads_only(chapter: str, schemas: Path) -> str:
    return f"{chapter} reads {reads(chapter, schemas)} only"


def check_needs(config: dict[str, Any], schemas: Path) -> None:
    """Raise InputError where a chapter of the study lacks another or a condition."""
    conditions = schema.assemble(schemas)["conditions"]
    chapters = present(config, schemas)
    for chapter in chapters:
        needs = declared_needs(chapter, schemas)
        for other in needs.get("chapters", []):
            if other not in chapters:
                raise _missing(chapter, other, "add it")
        for name in needs.get("study", []):
            condition = conditions[name]
            if not Draft202012Validator(condition["holds"]).is_valid(config):
                raise _missing(chapter, condition["description"], condition["fix"])


def abilities(config: dict[str, Any], schemas: Path) -> dict[str, dict[str, list[str]]]:
    """The abilities that each model must have, with the chapters that need each; a decoder none."""
    models = served(config, schemas)
    needed: dict[str, dict[str, list[str]]] = {name: {} for name in config["models"]}
    for chapter in present(config, schemas):
        for ability in declared_needs(chapter, schemas).get("model", []):
            for name in models[chapter]:
                if config["models"][name]["kind"] == "encoder":
                    needed[name].setdefault(ability, []).append(chapter)
    return {name: dict(sorted(of_model.items())) for name, of_model in needed.items()}


def _missing(chapter: str, need: str, fix: str) -> InputError:
    return InputError(f"config: {chapter}: needs {need}; {fix} or remove {chapter}")
