"""A study's config, checked against the schema, what it refers to, and the needs of its chapters.

A chapter is part of a study where its part of the config is not empty. What it needs it declares in
its part of the schema:

    needs:
      chapters: [...]    other chapters
      study: [...]       conditions on the whole study, defined under `conditions` of a schema
      kinds: [...]       the kinds of models that it reads, by default encoders; `any` for a chapter
                         of the whole study, which gathers what the others found
      model: [...]       abilities of every encoder that it reads, such as a [CLS] token
      base: true         it compares classifiers with the model before fine-tuning, so that it reads
                         no model that is a classifier already

A condition has the words of the need, how to meet it, and the JSON Schema that holds then, of the
study with its defaults.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from workflow_scripts.core.errors import InputError, and_more
from workflow_scripts.core.run import downloads, model_sources, own_tasks, places, schema
from workflow_scripts.core.run.files import files_below

KINDS = ("encoder", "decoder")  # of models
BASIC = ("corpora", "tasks", "attention", "checkpoints")  # chapters that every study has
MARKS = set("{}<>")  # of wildcards and path variables, which a path cannot escape

# Whole numbers without a point, as YAML writes them: Python counts with no others.
Strict = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)

# The id, comment and folder of each job of this user in SLURM's queue.
QUEUE = ("squeue", "--me", "--noheader", "--format=%i|%k|%Z")

# Segments of a corpus whose attention is stored by default: of BERT-base, 47 GB at 128 tokens.
STORED = 10_000

# Folders other than those of the models and of the chapters in results/<study>/, and files there.
TAKEN = {"benchmarks", "figures", "logs", "tables"}
TAKEN |= {"atlas.html", "atlas.json", "report.html", "report.zip"}


def check(config: dict[str, Any], schemas: Path) -> dict[str, Any]:
    """The config with defaults filled in, paths that start from `data`, and no `from` (places.py).

    `schemas` is the schema's directory; a chapter that is false is left out. Raises InputError with
    one line, naming the key and the accepted values, for an unknown key, a wrong type or value, a
    name that the study does not define, or an unmet need of a chapter.
    """
    root = schema.assemble(schemas)
    optional = set(schema.chapters(schemas)) - set(BASIC)
    left_out = [key for key, value in config.items() if value is False and key in optional]
    config = {key: value for key, value in config.items() if key not in left_out}
    config = downloads.choose(_forgive(places.enter(config, root), root))
    errors = sorted(Strict(root).iter_errors(config), key=_unknown_keys_first)
    if errors:
        raise InputError(f"config: {_line(errors[0], root)}{and_more(errors)}")
    filled = schema.fill(config, root, root)
    if any(text["n_segments"] > STORED for text in filled["corpora"]["text"].values()):
        filled["attention"]["store"] = config.get("attention", {}).get("store", False)
    for chapter in left_out:
        filled.pop(chapter, None)
    for model in filled["models"].values():
        model.setdefault("kind", model_sources.kind_of(model))
    _check_names(filled, root, schemas)
    by_default = schema.fill({}, root, root)
    check_models(filled, schemas, [key for key in config if filled[key] != by_default.get(key)])
    check_needs(filled, schemas)
    _check_references(filled, root)
    own_tasks.enter_labels(filled, root)
    downloads.check(filled, root)
    for node in list(schema.nodes(filled, root, root)):
        part = schema.parent(filled, node)
        if node.schema.get("format") == "data-path" and "fetch" not in part:
            part[node.keys[-1]] = os.path.normpath(os.path.join(filled["data"], node.value))
    return filled


def _forgive(config: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A copy in which chapters may be empty, and take an entry of the study that is the only one.

    So a study with one text need not name it at each chapter that reads one.
    """
    told = dict(config)
    for chapter in [name for name, part in root["properties"].items() if "needs" in part]:
        if chapter not in told or not isinstance(given := told[chapter] or {}, dict):
            continue
        told[chapter] = given
        for key, value in _only_entries(told, root["properties"][chapter]):
            told[chapter] = {key: value} | told[chapter]
    return told


def _only_entries(config: dict[str, Any], part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys that a chapter requires and that name an entry, each with the study's only one."""
    for key in part.get("required", ()):
        entries: Any = config
        for name in part["properties"][key].get("names", "-").split("."):
            entries = entries.get(name, {}) if isinstance(entries, dict) else {}
        if isinstance(entries, dict) and len(entries) == 1:
            yield key, next(iter(entries))


def check_paths(config: dict[str, Any], schemas: Path) -> None:
    """Refuse a local path in a checked config that does not exist, or holds a file with MARKS.

    And a file where the products' folder must be.
    """
    if os.path.lexists("results") and not Path("results").is_dir():
        raise InputError("results: is no folder, below which products are written; move it away")
    root = schema.assemble(schemas)
    nodes = [
        node
        for node in schema.nodes(config, root, root)
        if node.schema.get("format") in ("path", "data-path")
        and "fetch" not in schema.parent(config, node)  # next to it, they lie among what is fetched
    ]
    missing = [node for node in nodes if not Path(node.value).exists()]
    if missing:
        node = missing[0]
        words = f"{node.name}: {node.value}: no such file or directory; correct the path"
        for key in ("data", "licensed"):
            start = config.get(key, ".")
            below = Path(node.value).absolute().is_relative_to(os.path.abspath(start))
            if node.schema["format"] == "data-path" and start != "." and below:
                words += f", or {key}, the directory {start} that it starts from"
        raise InputError(f"config: {words}{and_more(missing)}")
    for node in nodes:
        files = files_below(Path(node.value), deep=node.schema["format"] == "data-path")
        for name in (node.value, *map(str, files)):
            check_marks(name, f"config: {node.name}: ")


def check_marks(path: str, where: str = "") -> None:
    """Refuse a path whose name Snakemake would fill in."""
    if MARKS & set(path):
        raise InputError(
            f"{where}{path}: Snakemake fills in what stands between braces or angle brackets; "
            "rename it without them"
        )


def check_queue(folder: str) -> None:
    """Refuse to start while jobs from `folder`, which make the same products, are in the queue."""
    listed = subprocess.run(QUEUE, capture_output=True, text=True)  # noqa: S603
    if listed.returncode != 0:
        raise InputError(f"SLURM does not answer, try again later: {listed.stderr.strip()}")
    if left := jobs_submitted_from(folder, listed.stdout):
        raise InputError(
            f"{folder}: jobs of an earlier run are still in SLURM's queue; wait for their end "
            f"(squeue --me), or end them: scancel {' '.join(left)}"
        )


def jobs_submitted_from(folder: str, listed: str) -> list[str]:
    """The ids of Snakemake's jobs that were submitted from a folder, of the lines of `QUEUE`."""
    own = re.compile(rf"^([^|]*)\|(?:rule|group)_[^|]*\|{re.escape(folder)}$", re.MULTILINE)
    return own.findall(listed)  # the job that Snakemake itself runs in has another comment


def _check_names(config: dict[str, Any], root: dict[str, Any], schemas: Path) -> None:
    """Raise InputError where the products of two entries would have one path.

    A model's folder stands next to the study's own; corpora and tasks share folders. Some file
    systems ignore case.
    """
    others = {*TAKEN, *schema.chapters(schemas)}
    models = [(name, "a file or folder of results/<study>/") for name in others]
    models += [(name, f"models.{name}") for name in config["models"]]
    entries = [
        (name, f"{node.name}.{name}")
        for node in schema.nodes(config, root, root)
        for name in (node.value if node.schema.get("unique_names") else ())
    ]
    for named in (models, reversed(entries)):  # names of tasks are given, others are chosen
        taken: dict[str, str] = {}
        for name, key in named:
            if (other := taken.setdefault(name.lower(), key)) != key:
                raise InputError(
                    f"config: {key}: this name is taken by {other} (upper and lower case count as "
                    "one); choose another"
                )


def _check_references(config: dict[str, Any], root: dict[str, Any]) -> None:
    for node in schema.nodes(config, root, root):
        part = node.schema.get("names")
        accepted: Any = config
        for key in part.split(".") if part else ():
            accepted = accepted[key]
        # Of a file in a source distribution, the distribution is named.
        named = node.value.partition("/")[0] if part == "sdists" else node.value
        if part and named not in accepted:
            names = ", ".join(sorted(accepted)) or f"none yet, add it to {part}"
            raise InputError(f"config: {node.name}: {named!r} is not in {part}; accepted: {names}")


def _unknown_keys_first(error: ValidationError) -> tuple[bool, int, str]:
    """Unknown keys first: a missing key is often the same typo seen from the other side."""
    key = error.validator == "additionalProperties" or "propertyNames" in error.schema_path
    return (not key, -len(error.path), error.json_path)


def _line(error: ValidationError, root: dict[str, Any]) -> str:
    """The key, what is wrong, and what is accepted."""
    key = schema.dotted([str(part) for part in error.absolute_path], error.instance)
    prefix = f"{key}." if key else ""
    keys, wanted, value = error.schema.get("properties", {}), error.validator_value, error.instance
    path = list(error.absolute_schema_path)
    given = path[path.index("dependentSchemas") + 1] if "dependentSchemas" in path else ""
    refused = f"{key}: {value!r} is not accepted{given and f' with {given}:'}"
    match error.validator:
        case "additionalProperties":
            unknown = min(str(name) for name in value if name not in keys)
            accepted = sorted(places.shown(error.schema, root))
            return f"{prefix}{unknown}: unknown key; accepted: {', '.join(accepted)}"
        case "required":
            missing = next(name for name in wanted if name not in value)
            return f"{prefix}{missing}: missing; add it: {keys[missing]['description']}"
        case "oneOf":
            forms = places.forms(error.schema, root)
            names = [name for option in wanted for name in option.get("required", [])]
            accepted = ", ".join(forms.get(name, name) for name in names)
            return f"{key}: give {'from: ' if forms else ''}exactly one of {accepted}"
        case "dependentRequired":
            given, other = next(
                (a, b) for a in wanted if a in value for b in wanted[a] if b not in value
            )
            fix = f"write from: {schema.FORMS['hub']}" if "hub" in value else f"add {other}"
            return f"{key}: {given} without {other}; {fix}"
        case "enum":
            return f"{refused}; accepted: {', '.join(map(str, wanted))}"
        case "const" | "pattern" | "minItems":
            return f"{refused}; accepted: {error.schema.get('description', wanted)}"
        case "type":
            names = {"object": "a mapping of keys", "array": "a list"}
            several = isinstance(wanted, list)
            accepted = error.schema["description"] if several else names.get(wanted, wanted)
            return f"{key}: {value!r} is of the wrong type; accepted: {accepted}"
        case "contains":
            return f"{key}: {value!r} is without {wanted['const']}; add it"
    return f"{key}: {error.message}"


def present(config: dict[str, Any], schemas: Path) -> list[str]:
    """The chapters that are part of a study whose defaults are filled in."""
    return [chapter for chapter in schema.chapters(schemas) if config.get(chapter)]


def declared_needs(chapter: str, schemas: Path) -> dict[str, list[str]]:
    """What a chapter declares under `needs`."""
    return schema.assemble(schemas)["properties"][chapter].get("needs", {})


def served(config: dict[str, Any], schemas: Path) -> dict[str, list[str]]:
    """The models that each chapter reads, in the study's order; a model may take some alone."""
    return {
        chapter: [
            name
            for name, model in config["models"].items()
            if kinds == "any"
            or (model["kind"] in kinds and chapter in model.get("chapters", [chapter]))
            if not (base and "task" in model)
        ]
        for chapter in schema.chapters(schemas)
        for kinds, base in [(_kinds(chapter, schemas), _base(chapter, schemas))]
    }


def training_share(config: dict[str, Any], name: str) -> float:
    """The share of a text that is kept for training; no windows are where nothing is trained on it.

    Encoders' masked-LM heads are, for gradient importance, and word vectors.
    """
    text, surface = config["corpora"]["text"][name], config.get("surface", {})
    trained = {entry.get("train") for entry in config["corpora"]["vectors"].values()}
    if "gradients" in surface:
        trained.add(surface["corpus"])
    return text["training_share"] if name in trained or text["segments"] == "pairs" else 0


def reads(chapter: str, schemas: Path) -> str:
    """The kinds of models that a chapter reads, for people; empty for one of the whole study."""
    kinds = _kinds(chapter, schemas)
    words = "" if kinds == "any" else " and ".join(f"{kind}s" for kind in kinds)
    return words + (" without task" if _base(chapter, schemas) else "")


def _kinds(chapter: str, schemas: Path) -> str | Sequence[str]:
    return declared_needs(chapter, schemas).get("kinds", KINDS[:1])


def _base(chapter: str, schemas: Path) -> bool:
    return declared_needs(chapter, schemas).get("base", False)


def check_models(config: dict[str, Any], schemas: Path, named: Iterable[str]) -> None:
    """Raise InputError where a model takes a chapter that it cannot, or a chapter has no model.

    Of the chapters `named`: the others are there by default.
    """
    chapters, models = present(config, schemas), served(config, schemas)
    if not models["atlas"] and "translation" not in chapters:
        raise InputError("config: models: none; add one")
    for name, model in config["models"].items():
        by_kind = served({"models": {name: model | {"chapters": chapters}}}, schemas)
        accepted = [chapter for chapter in chapters if by_kind[chapter]]
        for chapter in model.get("chapters", []):
            where = f"config: models.{name}.chapters"
            if chapter not in accepted:
                raise InputError(
                    f"{where}: {chapter!r} is not in the study, or reads no {model['kind']}s"
                    f"{' with task' if 'task' in model else ''}; accepted: {', '.join(accepted)}"
                )
            for other in declared_needs(chapter, schemas).get("chapters", []):
                if name not in models[other]:
                    raise InputError(
                        f"{where}: {chapter} needs {other}; add it or remove {chapter}"
                    )
    for chapter in chapters:
        if chapter in named and not models[chapter] and _kinds(chapter, schemas) != "any":
            _check_model_paths(config)
            raise InputError(
                f"config: {chapter}: reads {reads(chapter, schemas)} only, and no model that is "
                f"one takes it; add one, correct kind or chapters at a model, or remove {chapter}"
            )


def _check_model_paths(config: dict[str, Any]) -> None:
    """Raise InputError for a model of which nothing can be known, as its path does not exist."""
    for name, model in config["models"].items():
        if "path" in model and not Path(model["path"]).exists():
            raise InputError(
                f"config: models.{name}.from: {model['path']}: no such file or directory; correct "
                "the path"
            )


def check_needs(config: dict[str, Any], schemas: Path) -> None:
    """Raise InputError where a chapter of the study lacks another or a condition."""
    conditions = schema.assemble(schemas)["conditions"]
    chapters = present(config, schemas)
    for chapter in chapters:
        needs = declared_needs(chapter, schemas)
        others = [name for name in needs.get("chapters", []) if name not in chapters]
        unmet = [
            f"{conditions[name]['description']}; {conditions[name]['fix']}"
            for name in needs.get("study", [])
            if not Draft202012Validator(conditions[name]["holds"]).is_valid(config)
        ]
        for need in [*(f"{name}; add it" for name in others), *unmet]:
            raise InputError(f"config: {chapter}: needs {need} or remove {chapter}")


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
