"""What Clark et al. (2019) measure of a head on running text: surface patterns, clusters."""

from collections.abc import Iterator

from workflow_scripts.atlas.forms import OVER_DOCUMENTS, SHARE, Form, Rows, Study
from workflow_scripts.atlas.measures import Tables

PAPER = "clark2019"
UNIFORM = "uniform attention"
TO_SPECIAL = {
    "cls": ("Attention to [CLS]", "of all tokens' attention goes to [CLS]"),
    "sep": ("Attention to [SEP]", "of all tokens' attention goes to [SEP]"),
    "punctuation": (
        "Attention to periods and commas",
        "of all tokens' attention goes to periods and commas",
    ),
    "sep_to_sep": ("From [SEP] to [SEP]", "of the attention of [SEP] goes to [SEP], itself too"),
    "other_to_sep": ("From other tokens to [SEP]", "of other tokens' attention goes to [SEP]"),
}
TO_POSITION = {
    "previous": ("Attention to the previous token", "the token before"),
    "next": ("Attention to the next token", "the token after"),
    "self": ("Attention to the current token", "the token itself"),
}
GRADIENT_TO = {
    "cls": "[CLS]",
    "sep": "[SEP]",
    "punctuation": "periods and commas",
    "unmasked": "all unmasked tokens",
}
BEHAVIOURS = ("punctuation", "sep", "cls", "broad", "previous", "next", "other")


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    over = f"Mean over segments of the text {study.corpora.get('surface')}.{study.note('text')}"
    over = f"{over} {OVER_DOCUMENTS}"
    if "surface/entropy.parquet" in found:
        yield from entropy(over)
    if "surface/special_tokens.parquet" in found:
        yield from special_tokens(over)
    if "surface/position.parquet" in found:
        yield from position(over)
    if "surface/gradients.parquet" in found:
        yield from gradients(found, over)
    if "clusters/embedding.parquet" in found:
        yield from clusters(study)


def entropy(over: str) -> Iterator[Form]:
    """How broad attention is; `over` says what the means and intervals are over."""
    place, table = {"paper": PAPER, "group": "Entropy"}, "surface/entropy.parquet"
    for query, words in (("all", "all tokens"), ("cls", "[CLS]")):
        where = {"query": query}
        yield Form(
            f"entropy.{query}",
            f"Entropy, {words}",
            f"Entropy of the attention of {words}, in nats: 0 where a token attends to one token "
            f"alone, largest where it attends to all alike. {over}",
            Rows(table, "entropy", where),
            unit="nats",
            null=Rows(table, "uniform", where),
            null_title=UNIFORM,
            **place,
        )
    beside = {"low": "largest_low", "high": "largest_high", "n": "n"}
    yield Form(
        "largest.all",
        "Largest weight, all tokens",
        f"The largest share of its attention that a token gives to a single token. {over}",
        Rows(table, "largest", {"query": "all"}, 100, beside),
        **SHARE,
        **place,
    )


def special_tokens(over: str) -> Iterator[Form]:
    """Attention to [CLS], [SEP] and punctuation."""
    table = "surface/special_tokens.parquet"
    for target, (title, what) in TO_SPECIAL.items():
        where = {"target": target}
        yield Form(
            f"attention.{target}",
            title,
            f"How much {what}. {over}",
            Rows(table, "attention", where, 100),
            null=Rows(table, "uniform", where, 100),
            null_title=UNIFORM,
            paper=PAPER,
            group="Special tokens",
            **SHARE,
        )


def position(over: str) -> Iterator[Form]:
    """Attention to the neighbours and to the token itself."""
    for target, (title, what) in TO_POSITION.items():
        yield Form(
            f"attention.{target}",
            title,
            f"How much of a token's attention goes to {what}. {over}",
            Rows("surface/position.parquet", "attention", {"target": target}, 100),
            paper=PAPER,
            group="Position",
            **SHARE,
        )


def gradients(found: Tables, over: str) -> Iterator[Form]:
    """Gradient importance, by the token that is attended to."""
    head = found["surface/gradients.parquet"]["masked_lm_head"].iloc[0]
    for target, words in GRADIENT_TO.items():
        yield Form(
            f"gradient.{target}",
            f"Gradient importance, {words}",
            f"How much the masked-LM loss changes with the attention to {words}: "
            f"|dL/d weight|, in nats, with the {head} masked-LM head. {over}",
            Rows("surface/gradients.parquet", "gradient", {"target": target}),
            unit="nats",
            decimals=5,
            paper=PAPER,
            group="Gradients",
        )


def clusters(study: Study) -> Iterator[Form]:
    """What a head looks like in Figure 6, and where it is in the plane."""
    place, table = {"paper": PAPER, "group": "Clusters"}, "clusters/embedding.parquet"
    text = f"On segments of the text {study.corpora.get('clusters')}.{study.note('text')}"
    yield Form(
        "clusters.behaviour",
        "Kind of head in Figure 6",
        "The first kind of behaviour whose threshold (clusters.thresholds) the head exceeds. "
        f"{text}",
        Rows(table, "behaviour", beside={}),
        scale="category",
        decimals=0,
        categories=BEHAVIOURS,
        **place,
    )
    for axis in ("x", "y"):
        yield Form(
            f"clusters.{axis}",
            f"Position in Figure 6, {axis}",
            f"The {axis} coordinate in the plane in which heads with like attention are near each "
            "other: multidimensional scaling of Jensen-Shannon distances. The axis itself has no "
            f"meaning. {text}",
            Rows(table, axis, beside={}),
            scale="diverging",
            decimals=3,
            **place,
        )
