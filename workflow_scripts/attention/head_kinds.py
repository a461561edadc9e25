"""What kinds an encoder's heads are of, by what a study's chapters measured (Kovaleva 5)."""

from pathlib import Path

from workflow_scripts.chapters import collect
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.data.heads import KINDS
from workflow_scripts.core.measures.forms import KEYS, HeadKind, TableSet
from workflow_scripts.core.run import job


def main(model: Path, known: list[Path], kinds: job.Out, threshold: float, fewest: int) -> None:
    """Write a row per head: all its `kinds`, and `stratum`, the first of these.

    `known` are the tables of the chapters that tell kinds; relations with fewer words than `fewest`
    do not count. Heads of the kinds position and special tokens give more than `threshold` of their
    attention there.
    """
    card, found, told = read_card(model), TableSet(known), dict[str, HeadKind]()
    heads = tables.tidy({"layer": range(card["n_layers"]), "head": range(card["n_heads"])})
    for chapter in collect("measures").values():
        if not hasattr(chapter, "HEAD_KINDS"):
            continue
        if (columns := chapter.columns(found, {"fewest": fewest})) is not None:
            heads = heads.merge(columns, on=KEYS, how="left")
            told |= chapter.HEAD_KINDS
    fitting = [
        [kind for kind in KINDS if kind in told and told[kind].fits(row, threshold)] or [KINDS[-1]]
        for _, row in heads.iterrows()
    ]
    heads = heads[KEYS].assign(
        kinds=list(map(", ".join, fitting)), stratum=[first for first, *_ in fitting]
    )
    tables.write(heads, kinds)


if __name__ == "__main__":
    job.run(main, globals())
