"""The word-vector families on ARCT with a cue removed or on the other side."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments.reliance import measure, read_changed
from workflow_scripts.arguments.word_models import family_of
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import read_arct
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    table: Path,
    cues: Path,
    vectors: Path,
    words: Path,
    weights: list[Path],
    reliance: Out,
    family: str,
    setups: list[str],
    settings: dict[str, Any],
    cue: str,
    most: int,
    same: dict[str, str],
    seed: int,
    device: str = "auto",
) -> None:
    """Write the logits on unchanged and changed points, for every seed and kept set-up."""
    frame = read_arct(table)
    its_family = family_of(family, frame, vectors, words, settings)
    changed = read_changed(cues, cue, most)
    found = measure(its_family, weights, setups, frame, changed, same, devices.pick(device), seed)
    tables.write(found, reliance)


if __name__ == "__main__":
    job.run(main, globals())
