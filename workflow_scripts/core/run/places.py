"""Where data come from, as a study states it: `from`, with one form for each kind of place.

Behind this door an entry has a key for each form instead, as in the schema. A study may also state
these keys themselves, as earlier versions did.
"""

import re
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.run import schema
from workflow_scripts.core.run.schema import FORMS

WRITTEN = re.compile(r"(?!path:)([a-z]+):\s*(.*)", re.DOTALL)  # else it is a path
HUB = re.compile("(.+)@([0-9a-f]{40})")


def forms(part: dict[str, Any], root: dict[str, Any]) -> dict[str, str]:
    """The forms that `from` accepts in an entry with this schema, as people write them."""
    found, properties = {}, part.get("properties", {})
    for form, written in FORMS.items():
        if form in properties:
            of = schema.resolve(properties[form], root)
            kind = of.get("type", "string")
            if kind == "string" or form == "generate":  # translation.data.train has two files
                numbers = ", ".join(of.get("required", of.get("properties", [])))
                found[form] = f"{{generate: {{{numbers}}}}}" if kind == "object" else written
    return found


def shown(part: dict[str, Any], root: dict[str, Any]) -> list[str]:
    """The keys of an entry with this schema, as people write them."""
    hidden, keys = {*forms(part, root)}, [*part.get("properties", {})]
    return ["from", *(key for key in keys if key not in hidden | {"revision"})] if hidden else keys


def enter(config: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A copy of a config with a key for each form.

    Raises InputError where a form is unknown, not accepted or given twice, a commit is missing, or
    a key is no text.
    """
    config = _copy(config)
    for node in list(schema.nodes(config, root, root)):
        accepted = forms(node.schema, root)
        if accepted and isinstance(node.value, dict) and "from" in node.value:
            _open(node.name, node.value, accepted)
    return config


def _copy(part: Any) -> Any:
    """A copy in which entries that YAML's anchors made one are several; its keys are texts."""
    if isinstance(part, dict):
        for key in part:
            if not isinstance(key, str):
                raise InputError(f"config: {key!r}: a name that YAML reads as no text; quote it")
        return {key: _copy(value) for key, value in part.items()}
    return [_copy(value) for value in part] if isinstance(part, list) else part


def _open(name: str, part: dict[str, Any], accepted: dict[str, str]) -> None:
    """Put what `from` states under the key of its form."""
    stated = part.pop("from")
    for place in stated if isinstance(stated, list) else [stated]:
        form, value = "", place
        if isinstance(place, str):
            place = place.strip()
            written = WRITTEN.fullmatch(place)
            form, value = written.groups() if written else ("path", place)
            form = "" if accepted.get(form, "").startswith("{") else form  # a mapping, not a text
        elif isinstance(place, dict) and [*place] == ["generate"]:
            form, value = "generate", place["generate"]
        if form not in accepted or value == "":
            raise InputError(
                f"config: {name}.from: {place!r} is of no form that is accepted here: "
                f"{', '.join(accepted.values())}; write ./ before a path that looks like a form"
            )
        if form in part:
            raise InputError(f"config: {name}.from: two places of the form {FORMS[form]}; keep one")
        if form == "hub":
            if "revision" in part:
                raise InputError(f"config: {name}.revision: remove it; from has the commit")
            if not (at := HUB.fullmatch(value)):
                raise InputError(
                    f"config: {name}.from: {place!r} is without a commit; write {FORMS['hub']}, a "
                    "commit of 40 hexadecimal digits; a branch such as main is refused, as it moves"
                )
            value, part["revision"] = at.groups()
        part[form] = int(value) if form == "generate" and str(value).isdecimal() else value
