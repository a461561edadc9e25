"""The captions of printed tables, for their own pages: reStructuredText with Jinja, as Snakemake's.

Snakemake renders a caption for the job that wrote the file, here a job that writes many pages. So a
table's caption reads nothing but `snakemake.config`.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any


def render(path: Path, config: Mapping[str, Any]) -> str:
    """The caption's text for a study; an error where it reads more than the study's config."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701 - the result is reStructuredText, not HTML
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(path.read_text(encoding="utf-8"))
    return template.render(snakemake=SimpleNamespace(config=config))


def to_html(text: str) -> str:
    """A caption as a fragment of HTML. Raises ValueError where it is malformed."""
    from docutils.core import publish_parts
    from docutils.utils import SystemMessage

    settings = {"halt_level": 2, "report_level": 5, "raw_enabled": False}
    settings |= {"file_insertion_enabled": False, "embed_stylesheet": False}
    try:
        return publish_parts(text, writer="html5", settings_overrides=settings)["body"]
    except SystemMessage as error:
        raise ValueError(f"malformed caption: {error}") from error


def digest(paths: Iterable[Path], config: Mapping[str, Any]) -> str:
    """Hex digest of rendered captions, so that pages are written anew where a text changes."""
    texts = "\0".join(render(path, config) for path in paths)
    return hashlib.sha256(texts.encode()).hexdigest()[:16]
