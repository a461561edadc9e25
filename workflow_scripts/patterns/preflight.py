"""What the preflight opens of the classes of maps: the study's own annotations."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run.findings import Findings
from workflow_scripts.patterns.annotated_maps import read_annotations


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Read every file of annotated maps."""
    for number, entry in enumerate(config["patterns"].get("annotations", []), start=1):

        def maps(path: Path = Path(entry["file"])) -> tuple[None, str]:
            return None, f"{len(read_annotations(path))} annotated maps"

        found.look(f"patterns.annotations {number}", maps)
