"""What the tables of fine-tuning hold, and the measures of heads that they give."""

from collections.abc import Iterator, Sequence

from workflow_scripts.core.measures.forms import (
    OVER_EXAMPLES,
    PERCENT,
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
    value="similarity",
    n_of="examples",
    decimals=3,
    better="low",
)
KINDS = Table(
    "finetuning/<task>.<seed>.features.parquet",
    value="share",
    n_of="examples",
    keys=("kind", "query", "stage"),
    interval="share",
    n=("n", "n_without"),  # the share is over the examples without such a token, too
    null="tokens",
    null_title="uniform attention",
    **PERCENT,
)
LINKS = Table(
    "finetuning/<task>.<seed>.links.parquet",
    value="attention",
    n_of="examples",
    keys=("link", "far", "stage"),
    **PERCENT,
)
SHARED = Table(
    "finetuning/<task>.<seed>.shared.parquet",
    value="excess",
    n_of="examples",
    keys=("measure", "stage"),
    null=0,
    null_title="same as to other words",
    factor=100,
    unit="points",
    scale="diverging",
)
TAGGED = " (silver: as a parser finds them)"
TO_KIND = {
    "noun": "to nouns",
    "verb": "to verbs",
    "pronoun": "to pronouns",
    "subject": "to subjects",
    "object": "to direct objects",
    "negation": "to negation words",
    "cls": "to [CLS]",
    "sep": "to [SEP]",
    "punctuation": "to periods and commas",
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
ABOUT_LINK = f"Attention {{}}{TAGGED}: the maximum over their tokens, where these are two or "
ABOUT_LINK += "more apart."
# Of each table: the start of the measures' ids, their group, the column that tells them apart and
# what its values are called, their rows, the column that is 0 without an example, and the words.
MEASURES = (
    (KINDS, "kinds", "Kinds of tokens", "kind", TO_KIND, {"query": "all"}, "tokens",
     f"How much of all tokens' attention goes {{}}{TAGGED}."),
    (LINKS, "links", "Linked words", "link", ALONG_LINK, {"far": True}, "n", ABOUT_LINK),
    (SHARED, "shared", "Shared words", "measure", TO_SHARED, {}, "n",
     "Attention {}, per token, minus that to other words."),
)  # fmt: skip


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
    for kind, start, group, column, words, rows, counted, about in MEASURES:
        for table, stage, key, title, over, run in stages(found.each(kind), study):
            frame = found[table]
            for name, value in rows.items():
                frame = frame[frame[name] == value]
            for name, n in frame.groupby(column, sort=False)[counted].max().items():
                yield table.form(
                    f"{start}.{key}.{identifier(name)}",
                    f"Attention {words[name]}, {title}",
                    f"{about.format(words[name])} {over} {OVER_EXAMPLES}",
                    {column: name, **rows, "stage": stage},
                    without=not n,
                    paper=PAPER,
                    group=group,
                    **run,
                )


def stages(tables: Sequence[Table], study: Study) -> Iterator[tuple]:
    """The stages in tables of tasks and seeds: the pretrained model once for each task.

    Each is its table, its name (pretrained or fine-tuned), a part of its measures' ids, their
    title, what they are over, and the task and state that they are measured on.
    """
    seen: set[str] = set()
    for table, title, run in run_titles(tables):
        task = table.names["task"]
        over = f"mean over development examples of {task_title(task)}.{study.note(task)}"
        if task not in seen:
            before = {"task": task, "state": PRETRAINED}
            words = f"{task_title(task)}, pretrained", f"In the pretrained model, {over}"
            yield table, "pretrained", f"{task}.pretrained", *words, before
        seen.add(task)
        words = f"{title}, fine-tuned", f"In the model fine-tuned on {title}: {over}"
        yield table, "fine-tuned", f"{task}.{table.names['seed']}", *words, run
