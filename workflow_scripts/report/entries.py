"""What the report lists: one entry for each figure and each printed table, labels and captions.

Rules read this module: it imports what is slow where it is needed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A figure or table of the report, and where it stands there."""

    path: str  # of the figure's SVG or the table's CSV
    title: str
    caption: str  # a file of report/, without its ending
    category: str
    subcategory: str = ""
    of: Mapping[str, str] = field(default_factory=dict)  # model, task, or the corpus it counts
    drawn: str = ""  # the rule that draws the figure

    @property
    def kind(self) -> str:
        """Whether it is a figure or a table."""
        return "table" if self.path.endswith(".csv") else "figure"

    @property
    def name(self) -> str:
        """What claims and links call the product: the file's name without its ending."""
        return self.path.rpartition("/")[2].rpartition(".")[0]


class Entries:
    """All entries of a study in order; each is found without a look at all others."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.models: set[str] = set()
        self._by_file: dict[str, Entry] = {}
        self._kinds: dict[tuple, set[str]] = {}
        for entry in entries:
            self.add(entry)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_file.values())

    def add(self, entry: Entry) -> None:
        """List an entry; the first of a file is kept."""
        self._by_file.setdefault(entry.path, entry)
        self._kinds.setdefault(_thing(entry), set()).add(entry.kind)
        if "model" in entry.of:
            self.models.add(entry.of["model"])

    def get(self, file: str) -> Entry | None:
        """The entry that shows a file, where one does."""
        return self._by_file.get(file)

    def kinds(self, entry: Entry) -> set[str]:
        """Whether there is a figure, a table or both of the thing that an entry shows."""
        return self._kinds.get(_thing(entry), set())


def titles_of_tasks() -> dict[str, str]:
    """The words for the names that tasks have in a study, as papers write them."""
    from workflow_scripts.core.data.tasks import TASKS

    return {name: task.title for name, task in TASKS.items()} | {"arct.points": "ARCT"}


def heading(entry: Entry, words: Mapping[str, str]) -> str:
    """The title with a capital, and what the entry counts, where it does."""
    title = entry.title[:1].upper() + entry.title[1:]
    counted = entry.of.get("counted")
    return f"{words.get(counted, counted)}: {entry.title}" if counted else title


def labels(
    entry: Entry, entries: Entries, words: Mapping[str, str], models: Mapping[str, str]
) -> dict[str, str]:
    """The labels of an entry in the report; `words` for the names of tasks, and for `models`.

    The model is named only where a study has several, or words for it. A table that stands next to
    the figure of the same title, and this figure, state which they are: where a whole list is made
    of such pairs, Snakemake turns the label into a toggle.
    """
    found = {"result": heading(entry, words)}
    if "task" in entry.of:
        found["task"] = words.get(entry.of["task"], entry.of["task"])
    model = entry.of.get("model")
    if model in models or (model and entries.models - {model}):
        found["model"] = models.get(model, model)
    if entries.kinds(entry) - {entry.kind}:
        found["shown as"] = entry.kind
    return found


def _thing(entry: Entry) -> tuple:
    """What the figure and the table of one thing have in common."""
    of = tuple(sorted(entry.of.items()))
    return entry.title, entry.category, entry.subcategory, of


def caption(path: Path, config: Mapping[str, Any], **of_job: Any) -> str:
    """The caption's text as Snakemake renders it; an error where it reads more than is given.

    `of_job` are the wildcards, the params and the rule of a figure's job, as far as it reads them.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701 - the result is reStructuredText, not HTML
        trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    template = environment.from_string(path.read_text(encoding="utf-8"))
    return template.render(snakemake=SimpleNamespace(config=config, **of_job))
