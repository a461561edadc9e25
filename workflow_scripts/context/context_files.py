"""The list of a decoder's key-value heads by a score, in the forms of other projects."""

import json
from pathlib import Path

import pandas as pd

from workflow_scripts.context import files
from workflow_scripts.context.files import HeadList
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.cards import read_card
from workflow_scripts.core.run import job


def windows(heads: HeadList, curve: pd.DataFrame) -> dict[str, object]:
    """Keys of a transformers config, as `files.layer_types`, and the loss with these windows.

    The loss is that of `curve`, rows of tables/context-curves.csv, where it was measured with just
    this: a step with as many heads, each layer's all or none, and no sinks.
    """
    streams = heads.streams()
    row = curve[curve["streaming"] == streams.sum()]
    if heads.sinks or (streams.any(1) != streams.all(1)).any() or row.empty:
        return files.layer_types(heads)
    measured = row.iloc[0][["nats", "change", "change_low", "change_high"]]
    return files.layer_types(heads) | {"measured_loss": measured.to_dict()}


def main(
    model: Path, scores: Path, curves: Path, lists: job.Out, score: str, sinks: int, recent: int
) -> None:
    """Write the folder `lists`; the list is by `score`, a column of the table `scores`."""
    card = read_card(model)
    heads = files.ranked(tables.read(scores), score, sinks, recent)
    curve = tables.read_csv(curves).query("order == @score")
    files.write_heads(lists, heads)
    files.write_scores(lists / "heads.json", heads.full, card["n_heads"])
    types = json.dumps(windows(heads, curve), indent=2) + "\n"
    (lists / "layer_types.json").write_text(types, encoding="utf-8")
    text = files.card(card["name"], heads, curve) + f"\nHeads stream in the order of `{score}`.\n"
    (lists / "card.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    job.run(main, globals())
