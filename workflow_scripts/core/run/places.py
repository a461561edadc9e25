"""Where data come from, as a study states it: `from`, with one form for each kind of place.

Behind this door an entry has a key for each form instead, as in the schema. A study may also state
these keys themselves, and others of earlier versions; a line then names the new form.
"""

import copy
import re
from typing import Any

import yaml

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.schema import FORMS

GENERATE = "{generate: <numbers>}"  # where these are several
WRITTEN = re.compile("([a-z]+):(.*)", re.DOTALL)
HUB = re.compile("(.+)@([0-9a-f]{40})")
# Keys that earlier versions had.
RENAMED = {
    "ablation.mean": "mean_units",
    "arguments.keep": "keep_weights_of",
    "attention.keep": "keep_caches",
    "battery.tests": "further_measures",
    "mixing.tests": "measures",
}


def forms(part: dict[str, Any], root: dict[str, Any]) -> dict[str, str]:
    """The forms that `from` accepts in an entry with this schema, as people write them."""
    found = {}
    for form, written in FORMS.items():
        value = schema.resolve(part.get("properties", {}).get(form, {"type": "none"}), root)
        if value.get("type", "string") == "string" or (form, value["type"]) == (
            "generate",
            "integer",
        ):
            found[form] = written
        elif (form, value["type"]) == ("generate", "object"):
            found[form] = GENERATE
    return found


def shown(part: dict[str, Any], root: dict[str, Any]) -> list[str]:
    """The keys of an entry with this schema, as people write them."""
    behind = {*forms(part, root)}
    behind |= {"revision"} & {*part.get("properties", {})} if behind else set()
    return [
        *(["from"] if behind else []),
        *(key for key in part["properties"] if key not in behind),
    ]


def enter(config: dict[str, Any], root: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A copy of a config with a key for each form, and a line for each old key.

    Raises InputError where a form is unknown, not accepted or given twice, or a commit is missing.
    """
    config, lines = copy.deepcopy(config), []
    for old, new in RENAMED.items():
        chapter, key = old.split(".")
        part = config.get(chapter)
        if isinstance(part, dict) and key in part and new not in part:
            part[new] = part.pop(key)
            lines.append(f"config: {old}: write {chapter}.{new}")
    for node in list(schema.nodes(config, root, root)):
        accepted = forms(node.schema, root)
        if accepted and isinstance(node.value, dict):
            if old := [form for form in accepted if form in node.value]:
                places = [_written(form, node.value) for form in old]
                new = {"from": places if len(places) > 1 else places[0]}
                text = yaml.safe_dump(new, default_flow_style=True, width=10**6).strip()[1:-1]
                lines.append(f"config: {node.name}.{', '.join(old)}: write {text}")
            if "from" in node.value:
                _open(node.name, node.value, accepted)
    return config, lines


def _open(name: str, part: dict[str, Any], accepted: dict[str, str]) -> None:
    """Put what `from` states under the key of its form."""
    stated = part.pop("from")
    for place in stated if isinstance(stated, list) else [stated]:
        form, value = "path", place
        if isinstance(place, dict) and [*place] == ["generate"]:
            form, value = "generate", place["generate"]
        elif isinstance(place, str) and (written := WRITTEN.fullmatch(place)):
            form, value = written[1].replace("path", "unknown"), written[2]
        if form not in accepted or not (form == "generate" or isinstance(value, str)):
            raise InputError(
                f"config: {name}.from: {place!r} is of no form that is accepted here: "
                f"{', '.join(accepted.values())}; write ./ before a path that looks like a form"
            )
        if form in part:
            raise InputError(f"config: {name}.from: two places of the form {FORMS[form]}; keep one")
        if form == "hub":
            if not (at := HUB.fullmatch(value)):
                raise InputError(
                    f"config: {name}.from: {place!r} is without a commit; write {FORMS['hub']}, a "
                    "commit of 40 hexadecimal digits; a branch such as main is refused, as it moves"
                )
            value, part["revision"] = at.groups()
        part[form] = int(value) if form == "generate" and str(value).isdecimal() else value


def _written(form: str, part: dict[str, Any]) -> Any:
    """What an old key says, as a place of `from`."""
    value = part[form]
    if form == "path":
        return f"./{value}" if WRITTEN.fullmatch(str(value)) else value
    if isinstance(value, dict):
        return {form: value}
    return f"{form}:{value}" + (f"@{part.get('revision', '<commit>')}" if form == "hub" else "")
