"""Roles of heads, as a chapter declares them and as the atlas shows them: a mark on some heads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from workflow_scripts.core.measures.forms import Table
from workflow_scripts.core.measures.tables import Tables


@dataclass(frozen=True)
class Badge:
    """A role that some heads have: those with a row where every column of `where` has its value.

    A head may have several roles. The chapter's table states which heads have one; the atlas
    applies no rule of its own.
    """

    id: str  # "induction"; unique within a model
    mark: str  # one or two characters, which fit a head's cell: "I"; unique within a model
    title: str  # "Induction"
    about: str  # the rule in words: what was measured on what, against what, how it was corrected
    table: Table
    where: Mapping[str, Any]  # {"role": "induction", "holds": True}
    measure: str | None = None  # the id of the measure with the number, its interval and n


def badge_entry(badge: Badge, found: Tables) -> dict[str, Any]:
    """A badge as the atlas has it: its words, and its heads layer by layer, from 0."""
    rows = found.select(badge.table.rows(**badge.where))
    per_head = found.per_head(rows.drop_duplicates(found.keys), "layer")
    table = PurePosixPath(found.folder, badge.table.file).as_posix()
    words = {name: getattr(badge, name) for name in ("id", "mark", "title", "about", "measure")}
    heads = [head for head, layer in enumerate(per_head) if layer is not None]
    return words | {"source": {"table": table, "where": badge.where}, "heads": heads}
