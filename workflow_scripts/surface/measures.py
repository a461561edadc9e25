"""What the tables of surface patterns hold, and the measures of heads that they give."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from workflow_scripts.core.measures.forms import (
    KEYS,
    OVER_DOCUMENTS,
    PERCENT,
    Form,
    HeadKind,
    Study,
    Table,
    Tables,
    TableSet,
)

PAPER = "clark2019"
DATA = ("text", "Running text")
UNIFORM = {"null": "uniform", "null_title": "uniform attention"}
ENTROPY = Table(
    "surface/entropy.parquet",
    value="entropy",
    n_of="segments",
    keys=("query",),
    **UNIFORM,
    unit="nats",
    paper=PAPER,
    group="Entropy",
)
LARGEST = replace(
    ENTROPY,
    value="largest",
    interval="largest",
    null="",
    null_title=None,
    **PERCENT,
)
POSITION = Table(
    "surface/position.parquet",
    value="attention",
    n_of="segments",
    keys=("target",),
    **PERCENT,
    paper=PAPER,
    group="Position",
)
SPECIAL_TOKENS = replace(
    POSITION,
    file="surface/special_tokens.parquet",
    **UNIFORM,
    group="Special tokens",
)
SAME_WORD = replace(
    POSITION,
    file="surface/same_word.parquet",
    keys=(),
    null="other",
    null_title="other repeated words as far away",
    group="Same word",
    n_of="tokens",
)
ABOVE_OTHERS = replace(
    SAME_WORD,
    value="difference",
    interval="difference",
    null=0,
    unit="points",
    scale="diverging",
)
GRADIENTS = Table(
    "surface/gradients.parquet",
    value="gradient",
    n_of="segments",
    keys=("target",),
    unit="nats",
    decimals=5,
    paper=PAPER,
    group="Gradients",
)
RELATIVE = replace(
    LARGEST,
    value="relative",
    interval="relative",
    **UNIFORM | {"null": 100},
)
QUERIES = {"all": "all tokens", "cls": "[CLS]"}
TOKENS = {"cls": "[CLS]", "sep": "[SEP]", "punctuation": "periods and commas"}
TO_SPECIAL = {
    "first": (
        "Attention to the first token",
        "of the attention of all tokens but the first goes to the first one",
    ),
    **{
        token: (f"Attention to {words}", f"of all tokens' attention goes to {words}")
        for token, words in TOKENS.items()
    },
    "sep_to_sep": (
        "[SEP] to [SEP]",
        "of the attention of [SEP] goes to [SEP], itself included",
    ),
    "other_to_sep": ("Other tokens to [SEP]", "of other tokens' attention goes to [SEP]"),
}
TO_POSITION = {
    "previous": ("Attention to the previous token", "the previous token"),
    "next": ("Attention to the next token", "the next token"),
    "self": ("Attention to the current token", "the token itself"),
}
TO_GRADIENT = {
    target: (f"Gradient importance, {words}", words)
    for target, words in (TOKENS | {"unmasked": "all unmasked tokens"}).items()
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    over = f"Mean over segments of the text {study.corpora.get('surface')}.{study.note('text')}"
    over = f"{over} {OVER_DOCUMENTS}"
    if ENTROPY in found:
        yield from entropy(found[ENTROPY], over)
    head = found[GRADIENTS]["masked_lm_head"].iloc[0] if GRADIENTS in found else ""
    gradient = "How much the masked-LM loss changes with the attention to {}: |dL/d weight|, in "
    gradient += f"nats, with the {head} masked-LM head."
    position = "How much of a token's attention goes to {}."
    if SAME_WORD in found:
        text = f"Over tokens of the text {study.corpora.get('surface')} whose word occurs elsewhere"
        text = f"{text}, of a decoder earlier.{study.note('text')} {OVER_DOCUMENTS}"
        same, other = "other occurrences of its word", "other repeated words at the same distances"
        title, about = "Attention to the same word", "of a token's attention goes to"
        yield SAME_WORD.form(
            "attention.same_word", title, f"How much {about} {same}; baseline: to {other}. {text}"
        )
        yield ABOVE_OTHERS.form(
            "attention.same_word_above",
            f"{title}, above other words",
            f"How much more {about} {same} than to {other}. {text}",
        )
    for table, start, titles, about in (
        (SPECIAL_TOKENS, "attention", TO_SPECIAL, "How much {}."),
        (POSITION, "attention", TO_POSITION, position),
        (GRADIENTS, "gradient", TO_GRADIENT, gradient),
    ):
        if table not in found:
            continue
        frame = found[table]
        null = UNIFORM if "uniform" in frame else {}
        for target, (title, words) in titles.items():
            if target in set(frame["target"]):  # those of encoders and of decoders differ
                yield replace(table, **null).form(
                    f"{start}.{target}",
                    title,
                    f"{about.format(words)} {over}",
                    {"target": target},
                )


def entropy(frame: pd.DataFrame, over: str) -> Iterator[Form]:
    """How broad attention is; `over` states what the means and intervals are over."""
    for query, words in QUERIES.items():
        if query in set(frame["query"]):
            yield ENTROPY.form(
                f"entropy.{query}",
                f"Entropy, {words}",
                f"Entropy of the attention of {words}, in nats: 0 where all attention goes to a "
                f"single token, largest where attention is uniform. {over}",
                {"query": query},
            )
    if RELATIVE.value in frame:
        yield RELATIVE.form(
            "entropy.relative",
            "Entropy, share of the largest possible",
            "Entropy of the attention of a token at position i as a share of log i, which uniform "
            f"attention has; all tokens but the first. {over}",
            {"query": "all"},
        )
    null = {"null": "largest_uniform"}  # of a decoder
    yield replace(LARGEST, **UNIFORM | null if null["null"] in frame else {}).form(
        "largest.all",
        "Largest weight, all tokens",
        f"The largest weight that a token gives to a single token. {over}",
        {"query": "all"},
    )


POSITIONS, SPECIAL = ("self", "previous", "next"), ("cls", "sep")
LEAST_ABOVE = 0.1  # of attention, by which a head of the kind "same word" is above other words
# What a head is, by its columns and a threshold of attention.
HEAD_KINDS = {
    "same word": HeadKind(
        lambda head, _: head.get("same_word_above_low", 0) > LEAST_ABOVE,
        "text",
        "it gives other occurrences of a word over 10 points more than other repeated words at "
        "the same distances (lower end of 95%)",
    ),
    "position": HeadKind(
        lambda head, least: max(head.get(to, 0) for to in POSITIONS) > least,
        "text",
        "most of its attention is on the previous, the next or the current token",
    ),
    "special tokens": HeadKind(
        lambda head, least: sum(head.get(to, 0) for to in SPECIAL) > least,
        "text",
        "most of its attention is on [CLS] and [SEP]",
    ),
}


def columns(found: TableSet, settings: Mapping) -> pd.DataFrame | None:
    """Per head: attention to itself, neighbours and special tokens, and its entropy in nats.

    Then attention to the same word, and the lower end by which it is above other words.
    For a decoder also entropy as a share of the largest possible, `relative`.
    """
    if not all(table in found for table in (POSITION, SPECIAL_TOKENS, ENTROPY)):
        return None
    frames = [found[table] for table in (POSITION, SPECIAL_TOKENS)]
    wide = pd.concat(frames).pivot_table(index=KEYS, columns="target", values="attention")
    broad = found[ENTROPY]
    shown = [name for name in ("entropy", "relative") if name in broad]
    broad = broad[broad["query"] == "all"].set_index(KEYS)[shown]
    wide = wide.join(broad)
    if SAME_WORD in found:
        same = found[SAME_WORD].set_index(KEYS)[["attention", "difference_low"]]
        wide = wide.join(same.set_axis(["same_word", "same_word_above_low"], axis="columns"))
    return wide.reset_index()


def behaviours(found: TableSet) -> pd.DataFrame | None:
    """Per (layer, head) and behaviour: the number that the behaviour's threshold is for.

    That is attention to a target or, of broad attention, the entropy: in nats or, of a decoder, as
    a share of the largest possible.
    """
    wide = columns(found, {})
    if wide is None:
        return None
    broad = "relative" if "relative" in wide else "entropy"
    return wide.set_index(KEYS).rename(columns={broad: "broad"})
