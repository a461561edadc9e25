"""BERT on ARCT with a cue removed or on the other side."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments.bert import bert_family
from workflow_scripts.arguments.reliance import measure, read_changed
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import read_arct
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    model: Path,
    table: Path,
    cues: Path,
    weights: list[Path],
    reliance: Out,
    setups: list[str],
    settings: dict[str, Any],
    cue: str,
    most: int,
    same: dict[str, str],
    seed: int,
    device: str = "auto",
    files: list[Path] = (),
) -> None:
    """Write the logits on unchanged and changed points, for every seed and kept set-up."""
    frame = read_arct(table)
    its_family = bert_family(read_card(model), settings)
    changed = read_changed(cues, cue, most)
    found = measure(its_family, weights, setups, frame, changed, same, devices.pick(device), seed)
    tables.write(found, reliance)


if __name__ == "__main__":
    job.run(main, globals())
