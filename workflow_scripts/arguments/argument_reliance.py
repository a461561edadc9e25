"""A trained family of models on ARCT with a cue removed or moved to the other warrant."""

from pathlib import Path
from typing import Any

from workflow_scripts.arguments.families import open_family
from workflow_scripts.arguments.reliance import changed_points, cues_to_change, measure
from workflow_scripts.arguments.runs import kept_models
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.arct import read_arct
from workflow_scripts.core.model import devices
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    table: Path,
    cues: Path,
    weights: list[Path],
    reliance: Out,
    family: str,
    setups: list[str],
    settings: dict[str, Any],
    cue: str,
    max_cues: int,
    same: dict[str, str],
    seed: int,
    device: str = "auto",
    model: Path | None = None,
    vectors: Path | None = None,
    words: Path | None = None,
    files: list[Path] = (),
) -> None:
    """Write the logits on unchanged and changed points, for every seed and kept set-up."""
    points = read_arct(table)
    opened = open_family(family, settings, points, model, vectors, words)
    measured_cues = tables.read(cues, ("data", "split", "cue", "p", "p_corrected"))
    chosen = cues_to_change(measured_cues, cue, max_cues)
    models = kept_models(opened, weights, setups, devices.pick(device))
    tables.write(measure(opened, models, changed_points(points, chosen, same, seed)), reliance)


if __name__ == "__main__":
    job.run(main, globals())
