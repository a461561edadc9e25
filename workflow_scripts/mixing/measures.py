"""What the tables of norms hold, and the measures of heads that they give."""

from collections.abc import Iterator

from workflow_scripts.core.measures.forms import OVER_DOCUMENTS, PERCENT, Form, Study, Table, Tables

SPECIAL_TOKENS = Table(
    "mixing/special_tokens.parquet",
    value="attention",
    n_of="segments",
    keys=("target",),
    **PERCENT,
    paper="kobayashi2020",
    group="Special tokens",
)
SYNTAX = Table(
    "mixing/scores.parquet",
    value="accuracy",
    n_of="words",
    keys=("direction", "relation"),
    **PERCENT,
    better="high",
)
TO = {
    "cls": "[CLS]",
    "first": "the first token",
    "sep": "[SEP]",
    "punctuation": "periods and commas",
    "sep_to_sep": "[SEP] to [SEP]",
    "other_to_sep": "other tokens to [SEP]",
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The shares of the norms, next to those of the weights in the chapter surface."""
    if SPECIAL_TOKENS not in found:
        return
    over = f"Mean over segments of the text {study.corpora.get('surface')}.{study.note('text')}"
    present = set(found[SPECIAL_TOKENS]["target"])
    for target, words in TO.items():
        if target in present:
            yield SPECIAL_TOKENS.form(
                f"norm.{target}",
                f"{words[0].upper()}{words[1:]}, norm-weighted",
                f"The share of {words} in the norms of what a head reads, ||alpha f(x)|| over "
                f"their sum, for each query (Kobayashi et al. 2020). {over} {OVER_DOCUMENTS}",
                {"target": target},
            )
