"""The best head for each relation, for tables that join what heads are best at."""

from collections.abc import Mapping

import pandas as pd

from workflow_scripts.core.measures.tables import TableSet
from workflow_scripts.syntax.measures import OFFSETS, SCORES, baselines


def best(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """The head with the highest accuracy, and as `baseline` the best fixed offset's.

    Of the relations `settings["relations"]`, in their order, with at least `fewest` words.
    """
    if SCORES not in found or OFFSETS not in found:
        return None
    scores, relations = found[SCORES], settings["relations"]
    known = scores[scores["relation"].isin(relations) & (scores["n"] >= settings["fewest"])]
    known = known.dropna(subset=["accuracy"])
    rows = known.loc[known.groupby("relation")["accuracy"].idxmax()]
    rows = rows.assign(behaviour=rows["relation"], baseline=baselines(found, rows))
    return rows.sort_values("behaviour", key=lambda names: names.map(relations.index))
