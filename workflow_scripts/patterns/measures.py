"""What the table of classes of maps holds, and its measures of heads (Kovaleva et al., 4.1)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from workflow_scripts.core.measures.forms import (
    KEYS,
    PERCENT,
    PRETRAINED,
    Columns,
    Form,
    Rows,
    Study,
    Table,
    Tables,
    TableSet,
    alike,
    identifier,
    state_of,
    task_title,
    whole,
)
from workflow_scripts.patterns.annotated_maps import CLASSES

SHARES = Table(
    "patterns/shares.parquet",
    value="share",
    n_of="examples",
    keys=("method", "task", "stage", "seed", "class"),
    interval="",
    **PERCENT,
    paper="kovaleva2019",
    group="Classes of maps",
)
CLASS_OF_MOST = replace(SHARES, factor=1, unit="", categories=CLASSES)
NETWORK = {"method": "network"}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """For each task and state the class of most of a head's maps, and each class's share."""
    if SHARES not in found:
        return
    shares = found[SHARES]
    shares = shares[shares["method"] == NETWORK["method"]]
    learnt, stages = (shares[f"annotated_{of}"].iloc[0] for of in ("model", "stage"))
    by = f"Classified by a network trained on annotated maps of {learnt} "
    by += f"({stages.replace(',', ' and ')}).{study.note('maps')}"
    tasks = [
        task_title(task) + (" (generated)" if study.data.get(task) == "generated" else "")
        for task in shares["task"].unique()
    ]
    yield _class(
        "patterns.pretrained",
        "Class of maps, pretrained",
        f"The class of most maps of the pretrained model, over {', '.join(tasks)}. {by}",
        {**NETWORK, "stage": "pretrained"},
    )
    runs = shares[["task", "stage", "seed"]].drop_duplicates()
    for task, stage, seed in runs.itertuples(index=False):
        where = {**NETWORK, "task": task, "stage": stage, "seed": int(seed)}
        tuned = stage != "pretrained"
        several = runs[(runs["task"] == task) & (runs["stage"] == stage)]["seed"].nunique() > 1
        title = f"{task_title(task)}, {stage}" + (f", seed {seed}" if several else "")
        key = f"patterns.{task}.{int(seed) if tuned else 'pretrained'}"
        of = f"{task_title(task)} ({stage}).{study.note(task)} {by}"
        run = {"task": task, "state": state_of(task, int(seed)) if tuned else PRETRAINED}
        about = f"The class of most of the head's maps on development examples of {of}"
        yield _class(key, f"Class of maps, {title}", about, where, **run)
        for name in CLASSES:
            yield SHARES.form(
                f"{key}.{identifier(name)}",
                f"Maps that are {name}, {title}",
                f"Share of the head's maps that are {name}, on development examples of {of}",
                {**where, "class": name},
                **run,
            )


def _class(key: str, title: str, about: str, where: dict[str, Any], **run: Any) -> Form:
    return CLASS_OF_MOST.form(
        key,
        title,
        f"{about} The share of that class stands next to it; of ties, the first class.",
        where,
        compute=partial(most_frequent, rows=CLASS_OF_MOST.rows(**where)),
        derived="the class with the largest share, mean over tasks and seeds",
        **run,
    )


def most_frequent(found: Tables, rows: Rows) -> Columns:
    """For each head the most frequent class, its share as a label, and the number of maps."""
    frame = found.select(rows)
    mean = frame.pivot_table(index=KEYS, columns="class", values="share")[list(CLASSES)]
    mean = mean.round(9)  # equal shares stay equal, whatever the order of the sum
    count = frame[frame["class"] == CLASSES[0]].groupby(KEYS)["n"].sum().reindex(mean.index)
    best = mean.index.to_frame(index=False).assign(
        value=np.argmax(mean.to_numpy(), axis=1), share=mean.to_numpy().max(axis=1)
    )
    best["n"] = count.to_numpy()
    shares = found.per_head(best, "share")
    return {
        "value": whole(found.per_head(best, "value")),
        "label": [None if share is None else f"{100 * share:.0f}%" for share in shares],
        "n": alike(whole(found.per_head(best, "n"))),
    }


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: the most frequent class of its maps after fine-tuning, and that class's share."""
    if SHARES not in found:
        return None
    frame = found[SHARES]
    frame = frame[(frame["method"] == NETWORK["method"]) & (frame["stage"] == "fine-tuned")]
    frame = frame.groupby([*KEYS, "class"], as_index=False)["share"].mean()
    best = frame.sort_values("share", ascending=False, kind="stable").drop_duplicates(KEYS)
    return best.rename(columns={"class": "pattern", "share": "pattern_share"})
