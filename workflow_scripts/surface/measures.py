"""What the tables of surface patterns hold, and the measures of heads that they give."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from workflow_scripts.core.measures.forms import OVER_DOCUMENTS, Form, Study, Table, Tables

PAPER = "clark2019"
DATA = ("text", "Running text")
UNIFORM = "uniform attention"
ENTROPY = Table(
    "surface/entropy.parquet",
    "the mean entropy of the queries' attention, in nats",
    value="entropy",
    keys=("query",),
    null="uniform",
    null_title=UNIFORM,
    unit="nats",
    ids=("entropy.<query>",),
)
LARGEST = replace(
    ENTROPY,
    about="the mean of the largest weight that a query gives to a single token",
    value="largest",
    low="largest_low",
    high="largest_high",
    null="",
    null_title=None,
    factor=100,
    unit="%",
    decimals=1,
    ids=("largest.all",),
)
POSITION = Table(
    "surface/position.parquet",
    "the mean attention to the previous or next token, or to the token itself",
    value="attention",
    keys=("target",),
    factor=100,
    unit="%",
    decimals=1,
    ids=("attention.<target>",),
)
SPECIAL_TOKENS = replace(
    POSITION,
    file="surface/special_tokens.parquet",
    about="the mean attention to [CLS], [SEP], or periods and commas",
    null="uniform",
    null_title=UNIFORM,
)
GRADIENTS = Table(
    "surface/gradients.parquet",
    "the mean of |dL/d weight| over the queries and the keys of a class of tokens",
    value="gradient",
    keys=("target",),
    unit="nats",
    decimals=5,
    ids=("gradient.<target>",),
)
RELATIVE = replace(
    LARGEST,
    about="of a decoder: entropy as a share of log i, the largest that a token at position i has",
    value="relative",
    low="relative_low",
    high="relative_high",
    null=100,
    null_title=UNIFORM,
    ids=("entropy.relative",),
)
TABLES = (POSITION, SPECIAL_TOKENS, ENTROPY, LARGEST, RELATIVE, GRADIENTS)
QUERIES = {"all": "all tokens", "cls": "[CLS]"}
TO_SPECIAL = {
    "cls": ("Attention to [CLS]", "of all tokens' attention goes to [CLS]"),
    "first": (
        "Attention to the first token",
        "of the attention of all tokens but the first goes to the first one",
    ),
    "sep": ("Attention to [SEP]", "of all tokens' attention goes to [SEP]"),
    "punctuation": (
        "Attention to periods and commas",
        "of all tokens' attention goes to periods and commas",
    ),
    "sep_to_sep": (
        "From [SEP] to [SEP]",
        "of the attention of [SEP] goes to [SEP], itself included",
    ),
    "other_to_sep": ("From other tokens to [SEP]", "of other tokens' attention goes to [SEP]"),
}
TO_POSITION = {
    "previous": ("Attention to the previous token", "the previous token"),
    "next": ("Attention to the next token", "the next token"),
    "self": ("Attention to the current token", "the token itself"),
}
GRADIENT_TO = {
    "cls": "[CLS]",
    "sep": "[SEP]",
    "punctuation": "periods and commas",
    "unmasked": "all unmasked tokens",
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    over = f"Mean over segments of the text {study.corpora.get('surface')}.{study.note('text')}"
    over = f"{over} {OVER_DOCUMENTS}"
    for table, measures in (
        (ENTROPY, entropy),
        (SPECIAL_TOKENS, special_tokens),
        (POSITION, position),
    ):
        if table in found:
            yield from measures(found[table], over)
    if GRADIENTS in found:
        yield from gradients(found, over)


def entropy(frame: pd.DataFrame, over: str) -> Iterator[Form]:
    """How broad attention is; `over` states what the means and intervals are over."""
    group = {"paper": PAPER, "group": "Entropy"}
    for query, words in _known(QUERIES, frame["query"]):
        yield ENTROPY.form(
            f"entropy.{query}",
            f"Entropy, {words}",
            f"Entropy of the attention of {words}, in nats: 0 where all attention goes to a "
            f"single token, largest where attention is uniform. {over}",
            {"query": query},
            **group,
        )
    if RELATIVE.value in frame:
        yield RELATIVE.form(
            "entropy.relative",
            "Entropy, share of the largest possible",
            "Entropy of the attention of a token at position i as a share of log i, which uniform "
            f"attention has; all tokens but the first. {over}",
            {"query": "all"},
            **group,
        )
    null = "largest_uniform"  # of a decoder
    known = {"null": null, "null_title": UNIFORM} if null in frame else {}
    yield replace(LARGEST, **known).form(
        "largest.all",
        "Largest weight, all tokens",
        f"The largest weight that a token gives to a single token. {over}",
        {"query": "all"},
        **group,
    )


def special_tokens(frame: pd.DataFrame, over: str) -> Iterator[Form]:
    """Attention to [CLS], of a decoder to the first token, to [SEP] and punctuation."""
    for target, (title, what) in _known(TO_SPECIAL, frame["target"]):
        yield SPECIAL_TOKENS.form(
            f"attention.{target}",
            title,
            f"How much {what}. {over}",
            {"target": target},
            paper=PAPER,
            group="Special tokens",
        )


def position(frame: pd.DataFrame, over: str) -> Iterator[Form]:
    """Attention to the neighbours and to the token itself."""
    null = {"null": "uniform", "null_title": UNIFORM} if "uniform" in frame else {}
    for target, (title, what) in _known(TO_POSITION, frame["target"]):
        yield replace(POSITION, **null).form(
            f"attention.{target}",
            title,
            f"How much of a token's attention goes to {what}. {over}",
            {"target": target},
            paper=PAPER,
            group="Position",
        )


def _known(words: Mapping[str, Any], found: pd.Series) -> Iterator[tuple[str, Any]]:
    """The entries of `words` that a table has: those of encoders and of decoders differ."""
    present = set(found)
    return ((name, entry) for name, entry in words.items() if name in present)


def gradients(found: Tables, over: str) -> Iterator[Form]:
    """Gradient importance, by the token that is attended to."""
    head = found[GRADIENTS]["masked_lm_head"].iloc[0]
    for target, words in GRADIENT_TO.items():
        yield GRADIENTS.form(
            f"gradient.{target}",
            f"Gradient importance, {words}",
            f"How much the masked-LM loss changes with the attention to {words}: "
            f"|dL/d weight|, in nats, with the {head} masked-LM head. {over}",
            {"target": target},
            paper=PAPER,
            group="Gradients",
        )
