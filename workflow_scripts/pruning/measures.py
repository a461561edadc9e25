"""What the table of heads' importance holds, and the measures of heads that it gives."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.forms import (
    OVER_DOCUMENTS,
    OVER_EXAMPLES,
    Form,
    Study,
    Table,
    Tables,
    run_titles,
)

IMPORTANCE = Table(
    "pruning/<task>.finetuned.<seed>.importance.parquet",
    value="importance",
    n_of="examples",
    keys=("variant",),
    decimals=4,
    better="high",
    paper="michel2019",
    group="Importance",
)
NORMALISED = replace(IMPORTANCE, value="normalised", interval="", decimals=3)
# Of a key-value group, `head` is the key-value head.
NEXT_TOKEN = replace(
    IMPORTANCE,
    file="pruning/next_token.importance.parquet",
    keys=("unit",),
    n_of="segments",
)


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The gradient of the loss by the head's gate, plain and over its layer's norm."""
    where = {"variant": "paper"}
    for table, title, run in run_titles(found.each(IMPORTANCE)):
        task, seed = table.names["task"], table.names["seed"]
        over = f"Mean over training examples of {title}.{study.note(task)}"
        yield table.form(
            f"importance.{task}.{seed}",
            f"Importance, {title}",
            f"|dL/d gate|: how much an example's loss changes with the head's gate. {over} "
            f"{OVER_EXAMPLES}",
            where,
            **run,
        )
        yield replace(NORMALISED, file=table.file).form(
            f"importance.{task}.{seed}.normalised",
            f"Importance in its layer, {title}",
            "Importance divided by the l2 norm of its layer; heads are pruned in this order. "
            f"{over} No interval.",
            where,
            **run,
        )
    yield NEXT_TOKEN.form(
        "importance.nats",
        "Importance, nats per token",
        "|dL/d gate|: how much the mean loss of a segment's next tokens changes with the head's "
        f"gate. Mean over segments of running text.{study.note('text')} {OVER_DOCUMENTS}",
        {"unit": "head"},
    )
