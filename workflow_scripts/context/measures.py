"""What the table of heads' need of the context holds, and the measures that it gives."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.forms import (
    NO_EFFECT,
    OVER_DOCUMENTS,
    Form,
    Study,
    Table,
    Tables,
)

EXACT = Table(
    "context/scores.parquet",
    value="exact",
    n_of="documents",
    interval="exact",
    **NO_EFFECT,
    unit="nats",
    decimals=4,
    harm="high",
    paper="beyond",
    group="Whole context",
)
ESTIMATE = replace(EXACT, value="estimate", interval="estimate", harm="")
# Titles and words of scores that have no sign.
SCORES = {
    "kvzip": (
        "KVzip, mean over tokens",
        "The largest attention to a token while the text is repeated, mean over its tokens.",
    ),
    "kvzip_max": (
        "KVzip, largest of tokens",
        "The largest attention to any token while the text is repeated (Kim et al. 2025).",
    ),
    "outside": (
        "Attention outside sinks and window",
        "The weight on the tokens that a streaming head does not see, mean over queries.",
    ),
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The exact loss and the scores; those of a key-value head stand at all heads that share it."""
    over = (
        "Mean over documents; heads that share keys and values have one number."
        f"{study.note('text')} {OVER_DOCUMENTS}"
    )
    yield EXACT.form(
        "context.exact",
        "Streaming, nats per token",
        "Nats per token of running text where the key-value head sees a text's first tokens and "
        f"the last ones alone, minus those of the intact model. Above 0 is a loss. {over}",
    )
    yield ESTIMATE.form(
        "context.estimate",
        "Streaming, estimate",
        f"What one backward pass estimates of the loss where the head streams. {over}",
    )
    for name, (title, about) in SCORES.items():
        table = replace(
            EXACT, value=name, interval=name, null="", null_title=None, scale="sequential"
        )
        table = replace(table, unit="", decimals=3, harm="")
        yield table.form(f"context.{name.replace('_', '-')}", title, f"{about} {over}")
