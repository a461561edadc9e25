"""Another way to write the same study."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.run import schema

SCHEMAS = Path(__file__).parents[2] / "rules/schemas"


def written_out(config: dict[str, Any]) -> dict[str, Any]:
    """The config with every default written out, and the keys of every entry in another order."""
    root = schema.assemble(SCHEMAS)
    filled = schema.fill(config, root, root)
    for text in filled["corpora"]["text"].values():
        if text["segments"] == "windows":
            del text["min_words"]  # a key of pairs alone
    return _turned(filled, root, root)


def _turned(value: Any, part: dict[str, Any], root: dict[str, Any]) -> Any:
    part = schema.resolve(part, root)
    if isinstance(value, list):
        return [_turned(item, part.get("items", {}), root) for item in value]
    if not isinstance(value, dict):
        return value
    known, others = part.get("properties", {}), part.get("additionalProperties")
    others = others if isinstance(others, dict) else {}
    turned = {key: _turned(value[key], known.get(key, others), root) for key in reversed(value)}
    names = not known or part.get("unique_names")
    return {key: turned[key] for key in value} if names else turned
