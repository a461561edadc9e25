"""Models whose files name classes of their own: refused where these are not the library's classes.

`transformers` loads its own class of a known type without asking, whatever the model's code does.
"""

import json
import re
from pathlib import Path
from typing import Any

from transformers import CONFIG_MAPPING
from transformers.models.auto.tokenization_auto import (
    TOKENIZER_MAPPING_NAMES,
    tokenizer_class_from_name,
)

from workflow_scripts.core.errors import InputError

# How the library's names go on after the architecture's, such as Bert.
CLASSES = r"Config|(MT|LMHead)?Model|For[A-Z]\w*"


def refuse(directory: Path) -> None:
    """Raise InputError where auto_map names other classes than those that the library has."""
    config, tokens = directory / "config.json", directory / "tokenizer_config.json"
    model_type = _content(config).get("model_type")
    known = isinstance(model_type, str) and model_type in CONFIG_MAPPING
    tokenizer = _content(tokens).get("tokenizer_class")
    for path in (config, tokens):
        for auto_class, name in _named(_content(path).get("auto_map")):
            if not known:
                why = f"transformers has no model_type {model_type!r}"
            elif auto_class == "AutoTokenizer":
                if _is_tokenizer(name, tokenizer or TOKENIZER_MAPPING_NAMES.get(model_type)):
                    continue
                why = f"no tokenizer of transformers for {model_type} has that name"
            else:
                stem = CONFIG_MAPPING[model_type].__name__.removesuffix("Config")
                if re.fullmatch(f"{stem}({CLASSES})", name):
                    continue
                why = f"{stem}Model of transformers may compute something else"
            raise InputError(
                f"{path}: auto_map asks for code of the model's own, {auto_class}: {name}, which "
                f"is never run; {why}; use a model that transformers has"
            )


def _content(path: Path) -> dict[str, Any]:
    """The content of a config; empty where it cannot be read, refused by what it is needed for."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _named(auto_map: Any) -> list[tuple[str, str]]:
    """Pairs of an auto class and the name of the class that auto_map gives it, without its file."""
    if auto_map is None:
        return []
    if not isinstance(auto_map, dict):
        auto_map = {"AutoTokenizer": auto_map}  # as older tokenizers were saved
    found = []
    for auto_class, classes in auto_map.items():
        both = classes if isinstance(classes, list) else [classes]  # slow and fast
        found += [(auto_class, str(name).rpartition(".")[2]) for name in both if name is not None]
    return found


def _is_tokenizer(name: str, expected: Any) -> bool:
    """Whether this is the library's tokenizer of the expected name, slow or fast."""
    slow = name.removesuffix("Fast")
    classes = (tokenizer_class_from_name(each) for each in (slow, f"{slow}Fast"))
    return slow == str(expected).removesuffix("Fast") and any(classes)
