"""What the preflight opens of the arguments: the authors' runs."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments.argument_easy import read_published
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run.findings import NOTE, Finding, Findings

FAMILIES = ("bert", "bov", "bilstm")


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Hold the authors' runs against the study's points, where these were read."""
    arguments = config["arguments"]
    path = arguments["published_runs"].get("path")
    if not path:
        return
    points = found.read.get("tasks.arct")
    if points is None:
        why = "not read before tasks.arct is there"
        found.rows.append(Finding("arguments.published_runs", NOTE, why))
        return
    degenerate = {family: arguments[family]["degenerate_below"] for family in FAMILIES}

    def runs() -> tuple[None, str]:
        return None, f"{len(read_published(Path(path), points, degenerate))} predictions"

    found.look("arguments.published_runs", runs)
