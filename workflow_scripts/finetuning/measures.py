"""What the tables of fine-tuning hold, and the measures of heads that they give."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workflow_scripts.core.measures.forms import (
    OVER_EXAMPLES,
    PRETRAINED,
    Form,
    Study,
    Table,
    Tables,
    identifier,
    run_titles,
    task_title,
)

PAPER = "kovaleva2019"
SIMILARITY = Table(
    "finetuning/<task>.<seed>.similarity.parquet",
    "the cosine similarity of the head's maps before and after fine-tuning",
    value="similarity",
    decimals=3,
    better="low",
    ids=("similarity.<task>.<seed>",),
)
KINDS = Table(
    "finetuning/<task>.<seed>.features.parquet",
    "the share of attention that goes to tokens of a kind, over all examples",
    value="share",
    keys=("kind", "query", "stage"),
    low="share_low",
    high="share_high",
    n=("n", "n_without"),  # the share is over the examples without such a token, too
    null="tokens",
    null_title="uniform attention",
    factor=100,
    unit="%",
    decimals=1,
    ids=("kinds.<task>.<seed>.<kind>",),
)
LINKS = Table(
    "finetuning/<task>.<seed>.links.parquet",
    "the mean attention between linked words that are two or more tokens apart",
    value="attention",
    keys=("link", "far", "stage"),
    factor=100,
    unit="%",
    decimals=1,
    ids=("links.<task>.<seed>.<link>",),
)
SHARED = Table(
    "finetuning/<task>.<seed>.shared.parquet",
    "attention to words that both sentences share, per token, minus that to other words",
    value="excess",
    keys=("measure", "stage"),
    null=0,
    null_title="same as to other words",
    factor=100,
    unit="points",
    scale="diverging",
    ids=("shared.<task>.<seed>.<measure>",),
)
TABLES = (SIMILARITY, KINDS, LINKS, SHARED)
TAGGED = " (silver: as a parser finds them)"
OF_KIND = {
    "noun": "nouns",
    "verb": "verbs",
    "pronoun": "pronouns",
    "subject": "subjects",
    "object": "direct objects",
    "negation": "negation words",
    "cls": "[CLS]",
    "sep": "[SEP]",
    "punctuation": "periods and commas",
}
ALONG_LINK = {
    "verb-subject": "from verbs to their subjects",
    "subject-verb": "from subjects to their verbs",
    "pronoun-noun": "from pronouns to nouns",
    "noun-pronoun": "from nouns to pronouns",
}
TO_SHARED = {
    "copy": "from shared words to their copies in the other sentence",
    "shared": "to words that both sentences share",
}


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    for table, title, run in run_titles(found.each(SIMILARITY)):
        task, seed = table.names["task"], table.names["seed"]
        yield table.form(
            f"similarity.{task}.{seed}",
            f"Similarity after fine-tuning, {title}",
            "Cosine similarity of the head's maps before and after fine-tuning, 1 where they are "
            f"the same. Mean over development examples of {title}.{study.note(task)} "
            f"{OVER_EXAMPLES}",
            paper=PAPER,
            group="Similarity after fine-tuning",
            **run,
        )
    for kind, measures in ((KINDS, kinds), (LINKS, links), (SHARED, shared)):
        for stage in stages(found.each(kind), study):
            yield from measures(found, stage)


@dataclass(frozen=True)
class Stage:
    """A model before or after fine-tuning, in the table of a task and seed.

    `title` and `over` state what its measures are of, `key` is part of their ids, `run` is the task
    and the state that they are measured on.
    """

    table: Table
    name: str  # pretrained or fine-tuned
    key: str
    title: str
    over: str
    run: dict[str, Any]


def stages(tables: Sequence[Table], study: Study) -> Iterator[Stage]:
    """The stages in tables of tasks and seeds: the pretrained model once for each task."""
    seen: set[str] = set()
    for table, title, run in run_titles(tables):
        task = table.names["task"]
        over = f"mean over development examples of {task_title(task)}.{study.note(task)}"
        if task not in seen:
            before = {"task": task, "state": PRETRAINED}
            words = f"{task_title(task)}, pretrained", f"In the pretrained model, {over}"
            yield Stage(table, "pretrained", f"{task}.pretrained", *words, before)
        seen.add(task)
        words = f"{title}, fine-tuned", f"In the model fine-tuned on {title}: {over}"
        yield Stage(table, "fine-tuned", f"{task}.{table.names['seed']}", *words, run)


def kinds(found: Tables, stage: Stage) -> Iterator[Form]:
    """Attention to tokens of a kind, next to their share of the tokens."""
    tokens = found[stage.table].groupby("kind", sort=False)["tokens"].max()
    for kind in tokens.index:
        words = OF_KIND.get(kind, kind)
        yield stage.table.form(
            f"kinds.{stage.key}.{identifier(kind)}",
            f"Attention to {words}, {stage.title}",
            f"How much of all tokens' attention goes to {words}{TAGGED}. {stage.over} "
            f"{OVER_EXAMPLES}",
            {"kind": kind, "query": "all", "stage": stage.name},
            without=not tokens[kind],
            paper=PAPER,
            group="Kinds of tokens",
            **stage.run,
        )


def links(found: Tables, stage: Stage) -> Iterator[Form]:
    """Attention between words that are linked and not neighbours."""
    frame = found[stage.table]
    far = frame[frame["far"]].set_index("link")["n"].groupby(level=0, sort=False).max()
    for link, n in far.items():
        words = ALONG_LINK.get(str(link), str(link))
        yield stage.table.form(
            f"links.{stage.key}.{identifier(str(link))}",
            f"Attention {words}, {stage.title}",
            f"Attention {words}{TAGGED}: the maximum over their tokens, where these are two or "
            f"more apart. {stage.over} {OVER_EXAMPLES}",
            {"link": link, "far": True, "stage": stage.name},
            without=not n,
            paper=PAPER,
            group="Linked words",
            **stage.run,
        )


def shared(found: Tables, stage: Stage) -> Iterator[Form]:
    """Attention to words that both sentences of an input share, above that to other words."""
    counts = found[stage.table].groupby("measure", sort=False)["n"].max()
    for measure, n in counts.items():
        words = TO_SHARED.get(str(measure), str(measure))
        yield stage.table.form(
            f"shared.{stage.key}.{identifier(str(measure))}",
            f"Attention {words}, {stage.title}",
            f"Attention {words}, per token, minus that to other words. {stage.over} "
            f"{OVER_EXAMPLES}",
            {"measure": measure, "stage": stage.name},
            without=not n,
            paper=PAPER,
            group="Shared words",
            **stage.run,
        )
