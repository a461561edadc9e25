"""atlas: what the study found out about every head, as data and as one page."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """`Atlas`, for notebooks; imported when it is asked for, as no rule needs it."""
    if name == "Atlas":
        return import_module("workflow_scripts.atlas.notebook").Atlas
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
