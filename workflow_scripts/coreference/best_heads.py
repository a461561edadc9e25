"""The best head for coreference, for tables that join what heads are best at."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.tables import TableSet
from workflow_scripts.coreference.measures import RULES, SCORES


def best(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """The best head for all mentions among all other words; `baseline` matches head words."""
    if SCORES not in found or RULES not in found:
        return None
    scores, rules = found[SCORES], found[RULES]
    known = scores[(scores["candidates"] == "words") & (scores["type"] == "all")]
    matching = rules[(rules["system"] == "head_match") & (rules["type"] == "all")]
    row = known.loc[[known["accuracy"].idxmax()]]
    return row.assign(behaviour="coreference", baseline=matching["accuracy"].iloc[0])
