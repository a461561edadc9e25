"""The kinds of a model's heads, by all chapters of the study that tell some."""

from pathlib import Path

from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.measures.forms import KEYS
from workflow_scripts.core.measures.head_kinds import with_kinds
from workflow_scripts.core.run import job


def main(model: Path, known: list[Path], kinds: job.Out, threshold: float, fewest: int) -> None:
    """Write a row per head; `known`, `threshold` and `fewest` as for `with_kinds`."""
    card = read_card(model)
    heads = tables.tidy({"layer": range(card["n_layers"]), "head": range(card["n_heads"])})
    found = with_kinds(heads, known, fewest, threshold)
    tables.write(found[[*KEYS, "kinds", "stratum"]], kinds)


if __name__ == "__main__":
    job.run(main, globals())
