"""The model's card: what it is, and that its attention can be read, before any long job."""

from pathlib import Path

from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.model import models
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(model: Out, source: dict, name: str, files: list[Path] = ()) -> None:
    """Write the card of the model that `source` names (`files`: its files, where local)."""
    origin = models.Source.from_config(source)
    directory = models.resolve(origin)
    write_card(models.describe(directory, name, origin), model)


if __name__ == "__main__":
    job.run(main, globals())
