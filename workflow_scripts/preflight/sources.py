"""Every source that a study names, opened by its chapter; a problem does not end the search."""

import copy
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workflow_scripts.chapters import collect
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run.findings import ERROR, NOTE, Finding, Findings

# `look` of each opens what its chapter reads; `fetch`, where there is one, comes before all.
CHAPTERS = collect("preflight")


def look(config: dict[str, Any], network: Network) -> list[Finding]:
    """Open every source of a checked config, whose source distributions are paths."""
    found = Findings()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "copies").mkdir()
        chapters = [module for chapter, module in CHAPTERS.items() if config.get(chapter)]
        moved: dict[str, Path] = {}
        for chapter in chapters:
            if hasattr(chapter, "fetch"):
                moved |= chapter.fetch(config, folder / "fetched", found)
        here = _moved(config, moved)
        for chapter in chapters:
            chapter.look(here, folder / "copies", network, found)
        missing = {unpacked: str(path) for unpacked, path in moved.items() if not path.exists()}
    rows = [_not_read(finding, missing) for finding in found.rows]
    return [_named_back(finding, moved) for finding in rows]


def _moved(part: Any, moved: Mapping[str, Path]) -> Any:
    """A copy of a part of the config with the paths in what was fetched where it is for now."""
    if isinstance(part, dict):
        return {key: _moved(value, moved) for key, value in part.items()}
    if isinstance(part, str):
        for unpacked, target in moved.items():
            if part == unpacked or part.startswith(f"{unpacked}/"):
                return str(target) + part.removeprefix(unpacked)
    return copy.deepcopy(part)


def _not_read(finding: Finding, missing: Mapping[str, str]) -> Finding:
    """The finding; a note where it only repeats that something could not be fetched."""
    for unpacked, path in missing.items():
        if finding.state == ERROR and re.search(rf"{re.escape(path)}(?![\w.-])", finding.why):
            return replace(finding, state=NOTE, why=f"not read, as {unpacked} was not fetched")
    return finding


def _named_back(finding: Finding, moved: Mapping[str, Path]) -> Finding:
    why = finding.why
    for unpacked, target in moved.items():
        why = why.replace(str(target), unpacked)
    return replace(finding, why=why)
