"""Linguistic heads of Figure 6 (Clark et al. 2019, section 6), found in sections 4.2 and 4.3.

In the paper these are the heads of Figure 5: the best one for each relation, and for coreference;
here, so that it matches no words, for mentions whose antecedents are other words.
"""

from pathlib import Path

import pandas as pd

from workflow_scripts.chapters import collect
from workflow_scripts.core.data import tables
from workflow_scripts.core.data.heads import head_labels
from workflow_scripts.core.measures.forms import TableSet
from workflow_scripts.core.run import job

COLUMNS = ["behaviour", "layer", "head", "accuracy", "ci_low", "ci_high", "n", "baseline", "marked"]


def main(
    heads: job.Out,
    table: job.Out,
    relations: list,
    fewest: int,
    annotations: dict,
    known: list[Path] = (),
) -> None:
    """Write the best heads of the chapters whose tables are `known`, none where there are none.

    A head is marked where the lower end of its interval is above the baseline. `annotations` states
    of each chapter whether its data are gold, silver or generated.
    """
    found, settings = TableSet(known), {"relations": relations, "fewest": fewest}
    frames = []
    for chapter, module in collect("measures").items():
        if not hasattr(module, "best_heads"):
            continue
        if (rows := module.best_heads(found, settings)) is not None:
            of_decoder = [name for name in ("coverage",) if name in rows]
            marked = rows.assign(marked=rows["ci_low"] > rows["baseline"])[[*COLUMNS, *of_decoder]]
            frames.append(marked.assign(annotation=annotations[chapter]))
    frames = [part for part in frames if len(part)]
    frames = frames or [pd.DataFrame(columns=[*COLUMNS, "annotation"])]
    frame = pd.concat(frames, ignore_index=True)
    tables.write(frame, heads)
    named = frame.assign(head=head_labels(frame)).drop(columns="layer")
    for column in {"accuracy", "ci_low", "ci_high", "baseline", "coverage"} & set(named):
        named[column] = 100 * named[column]
    tables.write_csv(named, table)


if __name__ == "__main__":
    job.run(main, globals())
