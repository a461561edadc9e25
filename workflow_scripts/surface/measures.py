"""What the tables of surface patterns hold, and the measures of heads that they give."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.forms import OVER_DOCUMENTS, Form, Study, Table
from workflow_scripts.core.measures.tables import Tables

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
TABLES = (POSITION, SPECIAL_TOKENS, ENTROPY, LARGEST, GRADIENTS)
QUERIES = {"all": "all tokens", "cls": "[CLS]"}
TO_SPECIAL = {
    "cls": ("Attention to [CLS]", "of all tokens' attention goes to [CLS]"),
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
            yield from measures(over)
    if GRADIENTS in found:
        yield from gradients(found, over)


def entropy(over: str) -> Iterator[Form]:
    """How broad attention is; `over` states what the means and intervals are over."""
    group = {"paper": PAPER, "group": "Entropy"}
    for query, words in QUERIES.items():
        yield ENTROPY.form(
            f"entropy.{query}",
            f"Entropy, {words}",
            f"Entropy of the attention of {words}, in nats: 0 where all attention goes to a "
            f"single token, largest where attention is uniform. {over}",
            {"query": query},
            **group,
        )
    yield LARGEST.form(
        "largest.all",
        "Largest weight, all tokens",
        f"The largest weight that a token gives to a single token. {over}",
        {"query": "all"},
        **group,
    )


def special_tokens(over: str) -> Iterator[Form]:
    """Attention to [CLS], [SEP] and punctuation."""
    for target, (title, what) in TO_SPECIAL.items():
        yield SPECIAL_TOKENS.form(
            f"attention.{target}",
            title,
            f"How much {what}. {over}",
            {"target": target},
            paper=PAPER,
            group="Special tokens",
        )


def position(over: str) -> Iterator[Form]:
    """Attention to the neighbours and to the token itself."""
    for target, (title, what) in TO_POSITION.items():
        yield POSITION.form(
            f"attention.{target}",
            title,
            f"How much of a token's attention goes to {what}. {over}",
            {"target": target},
            paper=PAPER,
            group="Position",
        )


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
