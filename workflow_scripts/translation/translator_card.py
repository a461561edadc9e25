"""The pretrained translator's card, which shows before any long job that it can be used."""

from typing import Any

from workflow_scripts.core.data.cards import write_card
from workflow_scripts.core.model import models
from workflow_scripts.core.model.translators import Languages, describe
from workflow_scripts.core.run import job


def main(card: job.Out, source: dict[str, Any], name: str) -> None:
    """Write the card of the translator that `source` names."""
    languages = {key: source[key] for key in Languages.__dataclass_fields__ if key in source}
    origin = {key: source[key] for key in source if key not in languages}
    described = describe(models.resolve(origin), name, Languages(**languages))
    write_card(described | {"source": origin}, card)


if __name__ == "__main__":
    job.run(main, globals())
