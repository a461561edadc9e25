"""What the preflight opens of the claims: the study's own files of claims."""

from pathlib import Path
from typing import Any

from workflow_scripts.claims.claim_verdicts import MEASURES
from workflow_scripts.claims.published import read
from workflow_scripts.core.data.network import Network
from workflow_scripts.core.run.findings import Findings


def look(config: dict[str, Any], folder: Path, network: Network, found: Findings) -> None:
    """Read every file of claims."""
    for number, file in enumerate(config["claims"].get("files", []), start=1):

        def claims(path: Path = Path(file)) -> tuple[None, str]:
            return None, f"{len(read(path, MEASURES))} claims"

        found.look(f"claims.files {number}", claims)
