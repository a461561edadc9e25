"""The study's config, checked against its schema before any key is read."""

import os
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from workflow_scripts.core.run.errors import InputError

RESERVED = {"corpora", "tasks", "patterns", "arguments", "logs", "benchmarks"}


def check(config: dict[str, Any], schema_path: Path) -> dict[str, Any]:
    """The config with the schema's defaults filled in.

    Raises InputError with one line, naming the key and the accepted values, for an unknown key,
    a wrong type or value, or a name that the study does not define.
    """
    schema = yaml.safe_load(schema_path.read_text(encoding="utf-8"))
    errors = sorted(Draft202012Validator(schema).iter_errors(config), key=_depth_first)
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise InputError(f"config: {_line(errors[0])}{more}")
    filled = fill(config, schema, schema)
    _check_names(filled)
    _place(filled)
    return filled


def fill(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """A copy of `value` in which every missing key has the schema's default."""
    schema = _resolve(schema, root)
    if not isinstance(value, dict):
        return deepcopy(value)
    filled = {key: deepcopy(item) for key, item in value.items()}
    known = schema.get("properties", {})
    for key, part in known.items():
        part = _resolve(part, root)
        if key not in filled and "default" in part:
            filled[key] = deepcopy(part["default"])
        if key in filled:
            filled[key] = fill(filled[key], part, root)
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        for key in filled.keys() - known.keys():
            filled[key] = fill(filled[key], others, root)
    return filled


def check_results_directory(results: Path) -> None:
    """Refuse a results directory that cannot be created or written, before any job starts."""
    place = results.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise InputError(f"{place}: is in the way of the results directory {results}; move it")
    if not os.access(place, os.W_OK | os.X_OK):
        raise InputError(f"{place}: not writable; make it so or run in another --directory")


def _check_names(config: dict[str, Any]) -> None:
    """Names that refer to other parts of the config must exist there."""
    for name in config["models"]:
        if name in RESERVED:
            raise InputError(f"config: models.{name}: this name is taken; choose another")
    seen = set(config["tasks"])  # their caches lie beside those of the corpora
    for kind, corpora in config["corpora"].items():
        for name in corpora:
            if name in seen:
                raise InputError(f"config: corpora.{kind}.{name}: this name is taken")
            seen.add(name)
    _check_tasks(config)
    if "arguments" in config:
        _check_arguments(config["arguments"], config["tasks"].get("arct"))
    for key, name, accepted in _references(config):
        if name not in accepted:
            raise InputError(
                f"config: {key}: {name!r} is not defined; accepted: {', '.join(sorted(accepted))}"
            )


def _check_tasks(config: dict[str, Any]) -> None:
    """What fine-tuning changes can be told where there are tasks and their checkpoints."""
    for part in {"finetuning", "patterns", "ablation", "pruning"} & config.keys():
        if not config["tasks"].keys() - {"arct"}:
            raise InputError(
                f"config: {part}: the study has no GLUE tasks; add some or remove {part}"
            )
        if "pretrained" not in config["checkpoints"]["finetune"]["inits"]:
            raise InputError(f"config: {part}: needs pretrained among checkpoints.finetune.inits")
    if "pruning" in config and "ablation" not in config:
        raise InputError("config: pruning: needs ablation; add it or remove pruning")
    patterns = config.get("patterns", {"builtin": True})
    if not patterns["builtin"] and not patterns["annotations"]:
        raise InputError("config: patterns: no annotated maps; set builtin or give annotations")


def _check_arguments(arguments: dict[str, Any], arct: dict[str, Any] | None) -> None:
    """Runs on ARCT need its points, and the set-ups whose weights are kept must be trained."""
    if arct is None:
        raise InputError("config: arguments: needs tasks.arct; add it or remove arguments")
    for name in arguments["keep"]:
        if name not in arguments["setups"]:
            raise InputError(f"config: arguments.keep: {name!r} is not among arguments.setups")
    if arct["adversarial"] == "none" and arguments["train_on"] != ["original"]:
        raise InputError(
            "config: arguments.train_on: without an adversarial set (tasks.arct.adversarial) "
            "models can be trained on original alone"
        )


def _place(config: dict[str, Any]) -> None:
    """Relative paths of corpora and tasks start from the data directory."""
    groups = [*config["corpora"].values(), config["tasks"]]
    for source in (one for group in groups for one in group.values()):
        for key in {"path", "trees", "test", "truth"} & source.keys():
            source[key] = os.path.normpath(os.path.join(config["data"], source[key]))


def _references(config: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Key, name and accepted names of every reference from one part of a config to another."""
    corpora = config["corpora"]
    kinds = {"corpus": "text", "treebank": "treebanks", "vectors": "vectors"}
    for part in ("surface", "clusters", "syntax", "probes", "arguments"):
        for key in kinds.keys() & config.get(part, {}).keys():
            yield f"{part}.{key}", config[part][key], list(corpora[kinds[key]])
    if "coreference" in config:
        yield "coreference.corpus", config["coreference"]["corpus"], list(corpora["coreference"])
    if "frames" in config:
        yield "frames.corpus", config["frames"]["corpus"], list(corpora["frames"])
    for kind, key in (("treebanks", "parse"), ("vectors", "train")):
        for name, corpus in corpora[kind].items():
            if key in corpus:
                yield f"corpora.{kind}.{name}.{key}", corpus[key], list(corpora["text"])


def _resolve(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    target: Any = root
    for part in schema["$ref"].removeprefix("#/").split("/"):
        target = target[part]
    return {**target, **{key: item for key, item in schema.items() if key != "$ref"}}


def _depth_first(error: ValidationError) -> tuple[bool, int, str]:
    """Unknown keys first: a missing key is often the same typo seen from the other side."""
    return (error.validator != "additionalProperties", -len(error.path), error.json_path)


def _line(error: ValidationError) -> str:
    key = ".".join(str(part) for part in error.absolute_path)
    prefix = f"{key}." if key else ""
    accepted = error.schema.get("properties", {})
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(accepted))[0]
        return f"{prefix}{unknown}: unknown key; accepted: {', '.join(sorted(accepted))}"
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{prefix}{missing}: missing; {accepted[missing].get('description', 'required')}"
    if error.validator == "oneOf":
        names = [name for option in error.validator_value for name in option.get("required", [])]
        return f"{key}: give exactly one of {', '.join(names)}"
    if error.validator == "enum":
        values = ", ".join(str(value) for value in error.validator_value)
        return f"{key}: {error.instance!r} is not accepted; accepted: {values}"
    if error.validator == "type":
        return f"{key}: {error.instance!r} is of the wrong type; accepted: {error.validator_value}"
    if error.validator == "pattern":
        accepted = error.schema.get("description", error.validator_value)
        return f"{key}: {error.instance!r} is not accepted; accepted: {accepted}"
    return f"{key}: {error.message}"
