"""atlas: what the study found out about every head, as data and as one page."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """`Atlas` and `show`, for notebooks; imported when asked for, as no rule needs them."""
    if name in ("Atlas", "show"):
        return getattr(import_module("workflow_scripts.atlas.notebook"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
