"""The two sides of every comparison: the pretrained body and its fine-tuned checkpoint."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.data.cache import Cache
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.head_labels import labels

STAGES = ("pretrained", "fine-tuned")


def both_stages(
    body: Path, tuned: Path, model: Path, card: Path
) -> Iterator[tuple[str, Cache, dict[str, Any]]]:
    """Stage, cache and card of the pretrained `body` and then of the `tuned` checkpoint.

    A cache is closed when the next is asked for. Raises InputError for a cache of another model.
    """
    for stage, path, card_path in zip(STAGES, (body, tuned), (model, card), strict=True):
        stage_card = read_card(card_path)
        with Cache(path, stage_card) as cache:
            yield stage, cache, stage_card


def top_heads(
    frame: pd.DataFrame, groups: Sequence[str], measure: str, others: Sequence[str], n: int = 3
) -> pd.DataFrame:
    """The `n` heads with the largest `measure` in each group, mean over seeds.

    Rows of the groups and heads, with the `measure` among the `others`, columns that stay.
    """
    groups = list(groups)
    keys = [*groups, "layer", "head"]
    mean = frame.groupby(keys, sort=False, as_index=False).mean(numeric_only=True)
    top = mean.dropna(subset=measure).sort_values(measure, ascending=False)
    top = top.groupby(groups, sort=False).head(n)
    ascending = [name != measure for name in (*groups, measure)]
    top = top.sort_values([*groups, measure], ascending=ascending)
    return top.assign(head=labels(top))[[*groups, "head", *others]]
