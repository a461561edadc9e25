"""What the tables of decoders' heads hold, and the measures and badges that they give."""

from collections.abc import Iterator
from dataclasses import replace

from workflow_scripts.core.measures.forms import (
    NO_INTERVAL,
    OVER_DOCUMENTS,
    PERCENT,
    Badge,
    Form,
    Study,
    Table,
    Tables,
)

GROUP = {"paper": "olsson2022", "group": "Roles"}
DATA = ("text", "Roles on running text")
RANDOM = Table(
    "battery/roles.parquet",
    value="score",
    n_of="sequences",
    keys=("role",),
    p="p_corrected",
    null="best_other",
    null_title="the head's best other offset",
    better="high",
    **PERCENT,
    **GROUP,
)
NATURAL = replace(
    RANDOM,
    value="natural",
    n_of="segments",
    interval="natural",
    n="n_segments",
    p="natural_p_corrected",
    null="natural_best_other",
    null_title="the head's best wrong token",
)
SINKS = Table(
    "battery/sinks.parquet",
    value="attention",
    n_of="segments",
    keys=("first",),
    null="second",
    null_title="the head's weight on the second token",
    **PERCENT,
    **GROUP,
)
BY_NORM = replace(
    SINKS,
    value="by_norm",
    interval="by_norm",
    null="",
    null_title=None,
)
COPYING = Table(
    "battery/copying.parquet",
    value="top",
    n_of="sequences",
    interval="top",
    p="p_corrected",
    null="chance",
    null_title="one token of the sequence",
    better="high",
    **PERCENT,
    **GROUP,
)
RETRIEVAL = Table(
    "battery/retrieval.parquet",
    value="score",
    n_of="needles",
    p="p_corrected",
    null="others",
    null_title="the answer's other tokens",
    better="high",
    **PERCENT,
    **GROUP,
)
GENERATED = Table(
    "battery/generated_retrieval.parquet", value="score", n_of="needles", **PERCENT, **GROUP
)
EIGENVALUE = replace(
    COPYING,
    value="eigenvalue",
    n_of="",
    **NO_INTERVAL,
    p="",
    null=0,
    null_title="as much copied as turned",
    better=None,
    factor=1,
    unit="",
    decimals=2,
    scale="diverging",
)
FEWEST = 6  # documents: the signs of five flip in 32 ways, so that p is no less than 2 in 32
# The title of a role in the atlas, and its token.
ROLES = {
    "previous": ("Previous token", "the token before the query"),
    "duplicate": ("Duplicate token", "the earlier occurrence of the query's token"),
    "induction": ("Induction", "the token after the earlier occurrence of the query's token"),
}
FIRST = {
    "text": ("the texts' own first token", ""),
    "start": ("a start token in its place", ", start token"),
    "random": ("a random token in its place", ", random token"),
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """Attention to the token of each of ROLES, and the other tests."""
    corpus = f"the text {study.corpora.get('battery')}.{study.note('text')}"
    for role, (title, token) in ROLES.items():
        yield RANDOM.form(
            f"role.{role}",
            title,
            f"Attention to {token}, in the second copy of random tokens. Mean over sequences. "
            "Interval: 95%, bootstrap over sequences; p: sign flips of sequences, against the best "
            "other offset, corrected for all heads and roles.",
            {"role": role},
        )
        yield NATURAL.form(
            f"role.{role}.natural",
            f"{title}, running text",
            f"Attention to {token}, of tokens that occurred once before. Mean over segments of "
            f"{corpus} {OVER_DOCUMENTS} p, of heads with the role on random tokens: sign flips of "
            "documents, against the best wrong token, near the right one or of another query, "
            "corrected for those heads and roles.",
            {"role": role},
        )
    over = f"Mean over texts of {study.corpora.get('battery')}.{study.note('text')}"
    for first, (words, short) in FIRST.items():
        yield SINKS.form(
            f"sink.{first}",
            f"BOS sink{short}",
            f"Mean attention of all queries to {words} (Gu et al. 2024). {over} {OVER_DOCUMENTS}",
            {"first": first},
        )
        yield BY_NORM.form(
            f"sink.by-norm.{first}",
            f"BOS sink, norm-weighted{short}",
            "The share of the norms of the weighted, transformed vectors (Kobayashi et al. 2020) "
            f"that is of {words}. {over} {OVER_DOCUMENTS}",
            {"first": first},
        )
    yield COPYING.form(
        "copying.top",
        "Copying, by behaviour",
        "How often the attended token has the largest logit of the sequence's tokens in the head's "
        "own output, the final norm frozen. Queries of the second copy of random tokens, mean over "
        "sequences. Interval: 95%, bootstrap over sequences; p: sign flips of sequences, of the "
        "attended token's logit against the others', corrected for all heads.",
    )
    yield EIGENVALUE.form(
        "copying.eigenvalue",
        "Copying, by eigenvalues",
        "Sum of the eigenvalues of the head's OV circuit over the sum of their sizes (Elhage et "
        "al. 2021), of weights alone: 1 copies every direction, -1 turns its sign.",
    )
    yield RETRIEVAL.form(
        "retrieval.score",
        "Retrieval",
        "How many tokens of a needle in running text the head copies while they are predicted: its "
        "most attended token is in the needle and is that token (after Wu et al. 2024), the answer "
        "teacher-forced. Mean over needles. Interval: 95%, bootstrap over needles; p: sign flips "
        "of needles, against the answer's other tokens, corrected for all heads.",
    )
    yield GENERATED.form(
        "retrieval.generated",
        "Retrieval, generated",
        "The share of a needle's different tokens that the head copies while the model generates "
        "the answer (after Wu et al. 2024). Mean over needles of which the answer has more than "
        "half of the words (ROUGE-1 recall). Interval: 95%, bootstrap over needles.",
        without=GENERATED in found and not found[GENERATED]["n"].any(),
    )


def badges(found: Tables) -> Iterator[Badge]:
    """The heads with one of ROLES that running text confirms, and those that other tests find."""
    enough = RANDOM in found and (found[RANDOM]["n_documents"] >= FEWEST).any()
    on_text = (
        "on running text it is above that to the best wrong token, near the right one or of "
        "another query, by a paired interval over documents and a corrected p below .05."
        if enough
        else f"running text of fewer than {FEWEST} documents cannot confirm it."
    )
    for role, (title, token) in ROLES.items():
        yield Badge(
            role,
            title,
            f"On random tokens, attention to {token} is above the threshold, and above that to the "
            "head's best other offset with p below .05, corrected for all heads and roles; "
            + on_text,
            RANDOM,
            {"role": role, "confirmed" if enough else "has_role": True},
            measure=f"role.{role}",
        )
    where = {"has_role": True}
    about = (
        "On random tokens the attended token has the largest logit in the head's own output more "
        "often than the threshold, and a larger one than the sequence's other tokens with p below "
        ".05, corrected for all heads."
    )
    yield Badge("copying", "Copying", about, COPYING, where, "copying.top")
    about = (
        "While a needle's tokens are predicted, the most attended token is that token, inside the "
        "needle, at least as often as the threshold, and more often than one of the answer's other "
        "tokens with p below .05, corrected for all heads."
    )
    yield Badge("retrieval", "Retrieval", about, RETRIEVAL, where, "retrieval.score")
