"""Which key-value heads of a decoder need the whole context, and which its ends alone."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """`apply`, for notebooks; imported when asked for, as no rule needs it."""
    if name == "apply":
        return import_module("workflow_scripts.context.streaming").apply
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
