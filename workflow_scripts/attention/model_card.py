"""The model's card, which shows before any long job that its attention can be read."""

from pathlib import Path

from workflow_scripts.core.data.cards import (
    check_abilities,
    check_kind,
    converted_directory,
    write_card,
)
from workflow_scripts.core.model import models
from workflow_scripts.core.run import job
from workflow_scripts.core.run.model_sources import must_convert


def main(
    model: job.Out,
    source: dict,
    name: str,
    kind: str = "encoder",
    needed: dict | None = None,
    files: list[Path] = (),  # recorded, so that a changed file is seen
) -> None:
    """Write the card of the model that `source` names (`files`: its files, where local).

    It must be of this `kind`. `needed` are the abilities that it must have, each with the chapters
    that need it.
    """
    converted = must_convert(source)
    directory = converted_directory(model) if converted else models.resolve(source)
    card = models.describe(directory, name, source) | ({"converted": True} if converted else {})
    check_kind(card, kind)
    check_abilities(card, needed or {})
    write_card(card, model)


if __name__ == "__main__":
    job.run(main, globals())
