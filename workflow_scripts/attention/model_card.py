"""The model's card, which shows before any long job that its attention can be read."""

from pathlib import Path

from workflow_scripts.core.data.abilities import check_abilities
from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.model import models
from workflow_scripts.core.run import job
from workflow_scripts.core.run.job import Out


def main(
    model: Out, source: dict, name: str, needed: dict | None = None, files: list[Path] = ()
) -> None:
    """Write the card of the model that `source` names (`files`: its files, where local).

    `needed` are the abilities that the model must have, each with the chapters that need it.
    """
    origin = models.Source.from_config(source)
    card = models.describe(models.resolve(origin), name, origin)
    check_abilities(card, needed or {})
    write_card(card, model)


if __name__ == "__main__":
    job.run(main, globals())
