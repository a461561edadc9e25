"""What Kovaleva et al. (2019) measure of a head: maps, frames, and what fine-tuning changes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workflow_scripts.core.measures.forms import (
    OVER_EXAMPLES,
    PRETRAINED,
    SHARE,
    Form,
    Rows,
    Study,
    identifier,
    run_titles,
    seed_of,
    state_of,
    task_of,
    task_title,
)
from workflow_scripts.core.measures.tables import Tables

PAPER = "kovaleva2019"
TAGGED = " (silver: as a parser finds them)"
FRAMES, BEHAVIOUR = "frames/scores.parquet", "tables/kovaleva2019-heads.csv"
DIRECTIONS = {
    "either": "in either direction",
    "from predicate": "from the predicate",
    "to predicate": "to the predicate",
}
KINDS = {
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
LINKS = {
    "verb-subject": "from verbs to their subjects",
    "subject-verb": "from subjects to their verbs",
    "pronoun-noun": "from pronouns to nouns",
    "noun-pronoun": "from nouns to pronouns",
}
SHARED = {
    "copy": "from shared words to their copies in the other sentence",
    "shared": "to words that both sentences share",
}
STRATA = ("syntactic", "frames", "position", "special tokens", "other")
VERDICTS = ("loss", "gain", "equivalent", "cannot tell")


def forms(found: Tables, study: Study) -> Iterator[Form]:
    """The measures of the tables that the study has."""
    if FRAMES in found:
        yield from frames(study)
    for name, title in run_titles(found.matching("finetuning/*.similarity.parquet")).items():
        yield from similarity(name, title, study)
    for kind, measures in (("features", kinds), ("links", links), ("shared", shared)):
        for stage in stages(found.matching(f"finetuning/*.{kind}.parquet"), study):
            yield from measures(found, stage)
    if BEHAVIOUR in found:
        yield from behaviour(found, study)


@dataclass(frozen=True)
class Stage:
    """A model before or after fine-tuning, in the table of a task and seed.

    `title` and `over` say what its measures are of, `key` is part of their ids.
    """

    table: str
    name: str  # pretrained or fine-tuned
    key: str
    title: str
    over: str
    task: str
    state: str

    def place(self, group: str) -> dict[str, Any]:
        """Where its measures belong."""
        return {"paper": PAPER, "group": group, "task": self.task, "state": self.state}


def stages(names: list[str], study: Study) -> Iterator[Stage]:
    """The stages in tables of tasks and seeds: the pretrained model once for each task."""
    seen: set[str] = set()
    for name, title in run_titles(names).items():
        task, seed = task_of(name), seed_of(name)
        over = f"mean over development examples of {task_title(task)}.{study.note(task)}"
        if task not in seen:
            words = f"{task_title(task)}, pretrained", f"In the pretrained model, {over}"
            yield Stage(name, "pretrained", f"{task}.pretrained", *words, task, PRETRAINED)
        seen.add(task)
        words = f"{title}, fine-tuned", f"In the model fine-tuned on {title}: {over}"
        yield Stage(name, "fine-tuned", f"{task}.{seed}", *words, task, state_of(task, seed))


def frames(study: Study) -> Iterator[Form]:
    """Attention along frame links, and above that along unlinked words as far apart."""
    place = {"paper": PAPER, "group": "Frames"}
    over = f"Mean over sentences of the corpus {study.corpora.get('frames')}.{study.note('frames')}"
    beside = {"low": "difference_low", "high": "difference_high", "n": "n_compared"}
    for direction, words in DIRECTIONS.items():
        where, key = {"direction": direction}, identifier(direction)
        yield Form(
            f"frames.{key}.above",
            f"Frame links {words}, above controls",
            f"Attention between a predicate and its core frame elements ({words}), minus attention "
            f"between unlinked words of the same sentence at the same distances. {over} Interval: "
            "95%, bootstrap over documents; p: matched sets, corrected for the number of heads.",
            Rows(FRAMES, "difference", where, 100, {**beside, "p": "p_corrected"}),
            unit="points",
            scale="diverging",
            decimals=1,
            better="high",
            null=0,
            null_title="unlinked words at the same distance",
            **place,
        )
        yield Form(
            f"frames.{key}",
            f"Frame links {words}",
            f"Attention between a predicate and its core frame elements ({words}): the maximum "
            f"over their tokens. {over} Interval: 95%, bootstrap over documents.",
            Rows(FRAMES, "attention", where, 100),
            better="high",
            **SHARE,
            **place,
        )


def similarity(name: str, title: str, study: Study) -> Iterator[Form]:
    """How alike a head's maps are before and after fine-tuning."""
    task, seed = task_of(name), seed_of(name)
    yield Form(
        f"similarity.{task}.{seed}",
        f"Similarity after fine-tuning, {title}",
        "Cosine similarity of the head's maps before and after fine-tuning, 1 where they are the "
        f"same. Mean over development examples of {title}.{study.note(task)} {OVER_EXAMPLES}",
        Rows(name, "similarity"),
        decimals=3,
        better="low",
        paper=PAPER,
        group="Similarity after fine-tuning",
        task=task,
        state=state_of(task, seed),
    )


def kinds(found: Tables, stage: Stage) -> Iterator[Form]:
    """Attention to tokens of a kind, beside their share of the tokens."""
    counted = ("n", "n_without")  # the share is over the examples without such a token, too
    beside = {"low": "share_low", "high": "share_high", "n": counted}
    tokens = found[stage.table].groupby("kind", sort=False)["tokens"].max()
    for kind in tokens.index:
        where = {"kind": kind, "query": "all", "stage": stage.name}
        words = KINDS.get(kind, kind)
        yield Form(
            f"kinds.{stage.key}.{identifier(kind)}",
            f"Attention to {words}, {stage.title}",
            f"How much of all tokens' attention goes to {words}{TAGGED}. {stage.over} "
            f"{OVER_EXAMPLES}",
            Rows(stage.table, "share", where, 100, beside),
            null=Rows(stage.table, "tokens", where, 100),
            null_title="uniform attention",
            without=not tokens[kind],
            **SHARE,
            **stage.place("Kinds of tokens"),
        )


def links(found: Tables, stage: Stage) -> Iterator[Form]:
    """Attention between words that are linked and not neighbours."""
    frame = found[stage.table]
    far = frame[frame["far"]].set_index("link")["n"].groupby(level=0, sort=False).max()
    for link, n in far.items():
        words = LINKS.get(str(link), str(link))
        yield Form(
            f"links.{stage.key}.{identifier(str(link))}",
            f"Attention {words}, {stage.title}",
            f"Attention {words}{TAGGED}: the maximum over their tokens, where these are two or "
            f"more apart. {stage.over} {OVER_EXAMPLES}",
            Rows(
                stage.table,
                "attention",
                {"link": link, "far": True, "stage": stage.name},
                100,
            ),
            without=not n,
            **SHARE,
            **stage.place("Linked words"),
        )


def shared(found: Tables, stage: Stage) -> Iterator[Form]:
    """Attention to words that both sentences of an input share, above that to other words."""
    counts = found[stage.table].groupby("measure", sort=False)["n"].max()
    for measure, n in counts.items():
        words = SHARED.get(str(measure), str(measure))
        yield Form(
            f"shared.{stage.key}.{identifier(str(measure))}",
            f"Attention {words}, {stage.title}",
            f"Attention {words}, per token, minus that to other words. {stage.over} "
            f"{OVER_EXAMPLES}",
            Rows(stage.table, "excess", {"measure": measure, "stage": stage.name}, 100),
            unit="points",
            scale="diverging",
            null=0,
            null_title="no more than to other words",
            without=not n,
            **stage.place("Shared words"),
        )


def behaviour(found: Tables, study: Study) -> Iterator[Form]:
    """What kind of head it is, by all chapters, and what disabling it shows."""
    place = {"paper": PAPER, "group": "Kinds of heads"}
    yield Form(
        "behaviour.stratum",
        "Kind of head, by all chapters",
        "The first that applies: the best head at a relation, above its offset by more than "
        "chance; a head that links frames; most of its attention on one relative position; most on "
        "[CLS] and [SEP]; other. Of the chapters that the study has.",
        Rows(BEHAVIOUR, "stratum", beside={}),
        scale="category",
        decimals=0,
        categories=STRATA,
        **place,
    )
    for column in found[BEHAVIOUR].filter(like="verdict_").columns:
        task = str(column).removeprefix("verdict_")
        runs = found.matching(f"ablation/{task}.*.scores.parquet")
        title = task_title(task)
        yield Form(
            f"verdict.{task}",
            f"What disabling shows, {title}",
            "Disabling the head (uniform attention) is a loss or a gain where the corrected test "
            "says so, equivalent where the score surely changes by less than ablation.equivalence "
            "(two one-sided tests); else one cannot tell. On development examples of "
            f"{title}, mean over seeds.{study.note(task)}",
            Rows(BEHAVIOUR, column, beside={}),
            scale="category",
            decimals=0,
            categories=VERDICTS,
            task=task,
            state=state_of(task, seed_of(runs[0]) if len(runs) == 1 else None),
            **place,
        )
