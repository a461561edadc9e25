"""The shards of a corpus as one attention cache."""

from pathlib import Path

from workflow_scripts.core.data import cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job


def main(shards: list[Path], model: Path, attention: job.Out) -> None:
    """Copy `shards`, of the model of the card `model`, to one cache at `attention`."""
    cache.join(shards, attention, read_card(model))


if __name__ == "__main__":
    job.run(main, globals())
