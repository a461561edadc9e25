"""The two sides of every comparison: the pretrained body and its fine-tuned checkpoint."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card


def both_stages(
    body: Path, tuned: Path, model: Path, card: Path
) -> Iterator[tuple[str, Cache, dict[str, Any]]]:
    """Stage, cache and card of the pretrained `body` and then of the `tuned` checkpoint.

    A cache is closed when the next is asked for. Raises InputError for a cache of another model.
    """
    for stage, path, card_path in (("pretrained", body, model), ("fine-tuned", tuned, card)):
        stage_card = read_card(card_path)
        with Cache(path, stage_card) as cache:
            yield stage, cache, stage_card
